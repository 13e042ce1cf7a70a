import { lstat, open, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { CnabError } from '../errors.js';
import { exists, FILE_MODE, makeFolder, replaceFile, syncFolder } from './atomic-write.js';
import type { RunFolder, RunLeft } from './claim-store.js';
import { isMissing, onDisk } from './disk-error.js';
import { DamagedDocument, formatDocument, parseObject } from './documents.js';
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

/** Opens or makes the folder of a run; what an earlier process left in it stays. Rejects with errno errors. */
export async function openRunFolder(folder: string): Promise<RunFolder> {
  const { staging, logFile, stateFile } = placesIn(folder);
  await makeFolder(staging);
  // Made here, so that whoever appends to it need not know the mode.
  await (await open(logFile, 'a', FILE_MODE)).close();
  return {
    staging,
    logFile,
    saveState: (state) => onDisk('write', stateFile, () => replaceFile(stateFile, formatDocument(state))),
    readState: () => onDisk('read', stateFile, () => readState(stateFile)),
    remove: () =>
      onDisk('remove', folder, async () => {
        await rm(folder, { recursive: true, force: true });
        await syncFolder(dirname(folder));
      }),
  };
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
