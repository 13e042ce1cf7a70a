import { constants } from 'node:fs';
import { open, readdir } from 'node:fs/promises';
import { isMissing } from './disk-error.js';
import { DamagedDocument, MAX_DOCUMENT_BYTES } from './documents.js';

/** Reads that go on at once; more would only queue in the thread pool and hold open files. */
const PARALLEL = 16;

/** A record's bytes; undefined where the file is gone. Throws DamagedDocument for what is no regular file, or too large. */
export async function readRecord(path: string): Promise<Buffer | undefined> {
  let file;
  try {
    // Without O_NONBLOCK a FIFO under a record's name would block for ever.
    file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
  try {
    const { size } = await regular(file);
    if (size > MAX_DOCUMENT_BYTES) throw new DamagedDocument(`it is larger than ${MAX_DOCUMENT_BYTES} bytes`);
    return await file.readFile();
  } finally {
    await file.close();
  }
}

async function regular(file: Awaited<ReturnType<typeof open>>) {
  const stats = await file.stat();
  if (!stats.isFile()) throw new DamagedDocument('it is not a regular file');
  return stats;
}

/** Names in a folder, sorted; empty where there is no such folder. */
export async function namesIn(folder: string): Promise<readonly string[]> {
  try {
    return (await readdir(folder)).sort();
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}

/** `Promise.all` over `items`, a few at a time; results in the order of the items. */
export async function mapSome<T, R>(items: readonly T[], map: (item: T) => Promise<R>): Promise<readonly R[]> {
  const results: R[] = [];
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let at = next++; at < items.length; at = next++) results[at] = await map(items[at] as T);
  };
  await Promise.all(Array.from({ length: Math.min(PARALLEL, items.length) }, worker));
  return results;
}
