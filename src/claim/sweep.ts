import { rm, stat, unlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { makeFolder, TEMP_PREFIX } from './atomic-write.js';
import { decodeFileName } from './file-name.js';
import { DOCUMENT, documentStem, isDocumentName, type Layout, type TargetLayout } from './layout.js';
import { takeLock, type LockContext } from './lock.js';
import { namesIn } from './read-file.js';

/** Younger temporary files in folders that several processes write to may belong to one that is still writing. */
const OLD_MS = 24 * 60 * 60 * 1000;

/** Removes what killed processes left of their writes. Call it under the installation's lock. Rejects with errno errors. */
export async function sweepInstallation(layout: TargetLayout, installation: string, now: number): Promise<void> {
  const claims = layout.claims(installation);
  await removeTemps(claims, () => true);
  for (const name of (await namesIn(claims)).filter(isDocumentName)) {
    const claimId = decodeFileName(documentStem(name));
    if (claimId !== undefined) await removeTemps(layout.results(claimId), () => true);
  }
  for (const shared of [layout.locks, layout.folder, dirname(dirname(layout.folder))]) {
    await removeTemps(shared, (modified) => now - modified > OLD_MS);
  }
}

/**
 * Removes files of outputs that no result speaks of: their process was killed before it wrote one, and what was staged is
 * still there. Younger ones may belong to a process that is about to. Rejects with errno errors.
 */
export async function sweepOutputs(layout: TargetLayout, now: number): Promise<void> {
  const folders = await namesIn(layout.allOutputs);
  if (folders.length === 0) return;
  const known = new Set<string>();
  for (const claim of await namesIn(layout.allResults)) {
    for (const name of await namesIn(join(layout.allResults, claim))) known.add(documentStem(name));
  }
  for (const name of folders.filter((folder) => !known.has(folder))) {
    const folder = join(layout.allOutputs, name);
    if (now - (await stat(folder)).mtimeMs > OLD_MS) await rm(folder, { recursive: true, force: true });
  }
}

/**
 * Removes the folders of runs that no record speaks of any more: of stateless ones whose process was killed, and of removed
 * installations. Younger ones may belong to a run that goes on, and so does one that a process has. Rejects with errno errors.
 */
export async function sweepRuns(layout: Layout, context: LockContext): Promise<void> {
  const now = context.clock.now();
  await sweepRunLocks(layout, context, now);
  const names = await namesIn(layout.runs);
  if (names.length === 0) return;
  const known = new Set<string>();
  for (const target of await namesIn(layout.targets)) {
    const claims = join(layout.targets, target, 'claims');
    for (const installation of await namesIn(claims)) {
      for (const name of await namesIn(join(claims, installation))) known.add(documentStem(name));
    }
  }
  for (const name of names.filter((run) => !known.has(run))) {
    const folder = join(layout.runs, name);
    if (now - (await newestIn(folder)) <= OLD_MS) continue;
    await makeFolder(layout.runLocks);
    await withoutOwner(join(layout.runLocks, name + DOCUMENT), context, () =>
      rm(folder, { recursive: true, force: true }),
    );
  }
}

/** Locks of runs whose process was killed and of which nothing else is left. */
async function sweepRunLocks(layout: Layout, context: LockContext, now: number): Promise<void> {
  const runs = new Set(await namesIn(layout.runs));
  await removeTemps(layout.runLocks, (modified) => now - modified > OLD_MS);
  for (const name of (await namesIn(layout.runLocks)).filter(isDocumentName)) {
    if (!runs.has(documentStem(name)))
      await withoutOwner(join(layout.runLocks, name), context, () => Promise.resolve());
  }
}

/** Does it, and removes the lock, where no live process has it. */
async function withoutOwner(lock: string, context: LockContext, act: () => Promise<void>): Promise<void> {
  const attempt = await takeLock(lock, 'sweep', context);
  if (!attempt.got) return;
  try {
    await act();
  } finally {
    await attempt.release();
  }
}

async function newestIn(folder: string): Promise<number> {
  const times = [(await stat(folder)).mtimeMs];
  for (const name of await namesIn(folder)) times.push((await stat(join(folder, name))).mtimeMs);
  return Math.max(...times);
}

async function removeTemps(folder: string, isOld: (modified: number) => boolean): Promise<void> {
  for (const name of await namesIn(folder)) {
    if (!name.startsWith(TEMP_PREFIX)) continue;
    const path = join(folder, name);
    const { mtimeMs } = await stat(path);
    if (isOld(mtimeMs)) await unlink(path);
  }
}
