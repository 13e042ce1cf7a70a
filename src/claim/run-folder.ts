import { open, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { CnabError } from '../errors.js';
import { FILE_MODE, makeFolder, replaceFile, syncFolder } from './atomic-write.js';
import type { RunFolder } from './claim-store.js';
import { onDisk } from './disk-error.js';
import { DamagedDocument, formatDocument, parseObject } from './documents.js';
import { readRecord } from './read-file.js';

/** Opens or makes the folder of a run; what an earlier process left in it stays. Rejects with errno errors. */
export async function openRunFolder(folder: string): Promise<RunFolder> {
  const staging = join(folder, 'staging');
  const logFile = join(folder, 'log');
  const stateFile = join(folder, 'state.json');
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
