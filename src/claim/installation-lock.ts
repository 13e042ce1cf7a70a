import { makeFolder } from './atomic-write.js';
import type { InstallationLock } from './claim-store.js';
import { onDisk } from './disk-error.js';
import { InUse } from './in-use.js';
import type { Layout, TargetLayout } from './layout.js';
import { takeLock, type LockContext } from './lock.js';
import { sweepInstallation, sweepOutputs, sweepRuns } from './sweep.js';
import type { Target } from './target.js';

/**
 * Locks one installation of one target. Rejects with CnabError `busy`, which names the owner's process, machine,
 * purpose and time; where nobody can tell from here whether the owner lives, it says how to remove the lock.
 */
export async function lockInstallation(
  target: Target,
  layouts: Layout,
  installation: string,
  purpose: string,
  context: LockContext,
): Promise<InstallationLock> {
  const layout = layouts.on(target.id);
  const path = layout.lock(installation);
  const attempt = await onDisk('lock', path, async () => {
    await makeFolder(layout.locks);
    return await takeLock(path, purpose, context);
  });
  if (!attempt.got) throw new InUse('installation', `"${installation}" on ${target.label}`, path, attempt);
  // What a killed process left half written is nobody's now.
  if (attempt.tookOver) await sweep(layouts, layout, installation, context).catch(() => undefined);
  return { release: () => onDisk('release', path, attempt.release) };
}

async function sweep(layouts: Layout, layout: TargetLayout, installation: string, context: LockContext): Promise<void> {
  const now = context.clock.now();
  await sweepInstallation(layout, installation, now);
  await sweepOutputs(layout, now);
  await sweepRuns(layouts, context);
}
