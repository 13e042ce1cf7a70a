import { lstat, rename, rm, rmdir, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { CnabError } from '../errors.js';
import { exists, linkFile, makeFolder, syncFolder } from './atomic-write.js';
import type { NewOutput, StoredOutput } from './claim-store.js';
import { isMissing } from './disk-error.js';
import { outputCandidates, outputFileNames, type TargetLayout } from './layout.js';

/**
 * Gives staged files their places in the record; durable when it resolves. They keep their staged names: a process that is
 * killed before the result document is written must find them again. Only a disk without hard links has them moved, unless
 * `keep` asks for copies; a second attempt after a failed one then finds some moved already. Rejects with errno errors.
 */
export async function storeOutputs(
  layout: TargetLayout,
  resultId: string,
  outputs: readonly NewOutput[],
  keep: boolean,
): Promise<void> {
  if (outputs.length === 0) return;
  const folder = layout.outputs(resultId);
  await makeFolder(folder);
  for (const { file, place } of placesOf(layout, resultId, outputs)) {
    try {
      await linkFile(file, place, keep);
    } catch (error) {
      if (!isMissing(error) || !(await exists(place))) throw error;
    }
  }
  await syncFolder(folder);
}

/** Leaves the files under their staged names alone, for an error that leaves them there; what cannot go back stays. */
export async function returnOutputs(
  layout: TargetLayout,
  resultId: string,
  outputs: readonly NewOutput[],
): Promise<void> {
  for (const { file, place } of placesOf(layout, resultId, outputs)) {
    const isStaged = await exists(file).catch(() => true);
    await (isStaged ? unlink(place) : rename(place, file)).catch(() => undefined);
  }
  await rmdir(layout.outputs(resultId)).catch(() => undefined);
}

function placesOf(layout: TargetLayout, resultId: string, outputs: readonly NewOutput[]) {
  const names = outputs.map(({ name }) => name);
  const fileNames = outputFileNames(resultId, names);
  const folder = layout.outputs(resultId);
  return outputs.map(({ name, file }) => ({ file, place: join(folder, fileNames.get(name) ?? '') }));
}

/** Undefined where there is no file. Rejects with CnabError `invalid` where it is no regular file. */
export async function findOutput(
  layout: TargetLayout,
  resultId: string,
  name: string,
): Promise<StoredOutput | undefined> {
  for (const candidate of outputCandidates(resultId, name)) {
    const file = join(layout.outputs(resultId), candidate);
    try {
      const stats = await lstat(file);
      if (!stats.isFile()) throw new CnabError('invalid', `the output ${file} is not a regular file`);
      return { name, file, size: stats.size, resultId };
    } catch (error) {
      if (!isMissing(error)) throw error;
    }
  }
  return undefined;
}

export async function removeOutputs(layout: TargetLayout, resultId: string): Promise<void> {
  await rm(layout.outputs(resultId), { recursive: true, force: true });
}
