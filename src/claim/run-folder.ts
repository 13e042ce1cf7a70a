import { lstat, open, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { member } from '../bundle/own.js';
import { CnabError } from '../errors.js';
import { exists, FILE_MODE, makeFolder, replaceFile, syncFolder } from './atomic-write.js';
import type { RunFolder, RunLeft, RunUse } from './claim-store.js';
import { isMissing, onDisk } from './disk-error.js';
import { DamagedDocument, formatDocument, parseObject } from './documents.js';
import { InUse } from './in-use.js';
import type { Layout } from './layout.js';
import { takeLock, type LockAttempt, type LockContext } from './lock.js';
import { namesIn, readRecord } from './read-file.js';

/** What lies in the folder of a run; undefined where there is none. Rejects with errno errors, `invalid` for a damaged state. */
export async function lookIntoRun(folder: string): Promise<RunLeft | undefined> {
  if (!(await exists(folder))) return undefined;
  const { logFile, stateFile, staging } = placesIn(folder);
  let stagedBytes = 0;
  for (const name of await namesIn(staging)) stagedBytes += await sizeOf(join(staging, name));
  return { state: await readState(stateFile), logFile, logBytes: await sizeOf(logFile), stagedBytes };
}

async function sizeOf(file: string): Promise<number> {
  try {
    const stats = await lstat(file);
    // What a file holds, not how long it is: outputs that arrive in pieces have holes.
    return stats.isFile() ? Math.min(stats.size, stats.blocks * 512) : 0;
  } catch (error) {
    if (isMissing(error)) return 0;
    throw error;
  }
}

function placesIn(folder: string) {
  return { staging: join(folder, 'staging'), logFile: join(folder, 'log'), stateFile: join(folder, 'state.json') };
}

/** One run of one target. */
export interface OwnedRun extends RunUse {
  readonly runId: string;
  readonly targetId: string;
}

/**
 * Locks, and opens or makes, the folder of a run; what an earlier process left in it stays. Rejects with `InUse` while another
 * process has it, and with errno errors.
 */
export async function openRunFolder(run: OwnedRun, layout: Layout, context: LockContext): Promise<RunFolder> {
  const folder = layout.run(run.runId);
  const { staging, logFile, stateFile } = placesIn(folder);
  const release = await lockRun(run, layout, context);
  try {
    const isNew = !(await exists(folder));
    await makeFolder(staging);
    // Made here, so that whoever appends to it need not know the mode.
    await (await open(logFile, 'a', FILE_MODE)).close();
    const whose = { claim: run.runId, installation: run.installation, target: run.targetId };
    return {
      staging,
      logFile,
      isNew,
      keptFor: await keptFor(stateFile),
      saveState: (state) =>
        onDisk('write', stateFile, () => replaceFile(stateFile, formatDocument({ ...whose, ...state }))),
      readState: () => onDisk('read', stateFile, () => readState(stateFile)),
      remove: () => onDisk('remove', folder, () => removeFolder(folder)),
      close: () => onDisk('release', layout.runLock(run.runId), release),
    };
  } catch (error) {
    await release().catch(() => undefined);
    throw error;
  }
}

/** Removes what is kept of a run, where it is kept for this target and no process has it. Rejects with errno errors. */
export async function removeRunFolder(run: OwnedRun, layout: Layout, context: LockContext): Promise<void> {
  const folder = layout.run(run.runId);
  if (!(await exists(folder))) return;
  const lock = await takeRunLock(run, layout, context);
  if (!lock.got) return;
  try {
    const owner = await keptFor(placesIn(folder).stateFile);
    if (owner === undefined || owner.targetId === run.targetId) await removeFolder(folder);
  } finally {
    await lock.release();
  }
}

async function lockRun(run: OwnedRun, layout: Layout, context: LockContext): Promise<() => Promise<void>> {
  const attempt = await takeRunLock(run, layout, context);
  if (attempt.got) return attempt.release;
  const { runId, installation } = run;
  throw new InUse('run', `run ${runId} of "${installation}"`, layout.runLock(runId), attempt);
}

async function takeRunLock({ runId, purpose }: OwnedRun, layout: Layout, context: LockContext): Promise<LockAttempt> {
  await makeFolder(layout.runLocks);
  return await takeLock(layout.runLock(runId), purpose, context);
}

async function removeFolder(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true });
  await syncFolder(dirname(folder));
}

async function keptFor(stateFile: string): Promise<RunFolder['keptFor']> {
  const state = await readState(stateFile).catch((error: unknown) => {
    if (error instanceof CnabError) return undefined;
    throw error;
  });
  const [installation, targetId] = [member(state, 'installation'), member(state, 'target')];
  return typeof installation === 'string' && typeof targetId === 'string' ? { installation, targetId } : undefined;
}

async function readState(file: string): Promise<object | undefined> {
  try {
    const bytes = await readRecord(file);
    return bytes === undefined ? undefined : parseObject(bytes);
  } catch (error) {
    if (!(error instanceof DamagedDocument)) throw error;
    throw new CnabError('invalid', `the state of a run cannot be read: ${file}: ${error.message}`);
  }
}
