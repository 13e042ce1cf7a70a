import { shellWord } from '../bundle/shell-word.js';
import { CnabError } from '../errors.js';
import { makeFolder } from './atomic-write.js';
import type { InstallationLock } from './claim-store.js';
import { onDisk } from './disk-error.js';
import type { Layout, TargetLayout } from './layout.js';
import { takeLock, type LockAttempt, type LockContext } from './lock.js';
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
  if (!attempt.got) throw busy(installation, target, path, attempt);
  // What a killed process left half written is nobody's now.
  if (attempt.tookOver) await sweep(layouts, layout, installation, context.clock.now()).catch(() => undefined);
  return { release: () => onDisk('release', path, attempt.release) };
}

async function sweep(layouts: Layout, layout: TargetLayout, installation: string, now: number): Promise<void> {
  await sweepInstallation(layout, installation, now);
  await sweepOutputs(layout, now);
  await sweepRuns(layouts, now);
}

function busy(
  installation: string,
  target: Target,
  path: string,
  { owner, facts }: LockAttempt & { readonly got: false },
): CnabError {
  const what = `"${installation}" on ${target.label} is in use`;
  if (owner === undefined) {
    return new CnabError('busy', `${what}: its lock keeps changing hands`, { suggestions: ['try again'] });
  }
  const { pid, host, purpose, since } = owner;
  const judged =
    owner.bootId === facts.bootId &&
    owner.pidNamespace === facts.pidNamespace &&
    (owner.bootId !== undefined || host === facts.host);
  return new CnabError('busy', `${what}: ${purpose} by process ${pid} on ${host}, since ${since}`, {
    suggestions: judged
      ? ['wait until it ends, or stop that process']
      : [`if that process is gone (it cannot be seen from ${facts.host}), remove its lock: rm ${shellWord(path)}`],
  });
}
