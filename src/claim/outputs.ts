import { lstat, rename, rm, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { CnabError } from '../errors.js';
import { exists, makeFolder, moveFile, syncFolder } from './atomic-write.js';
import type { NewOutput, StoredOutput } from './claim-store.js';
import { isMissing } from './disk-error.js';
import { outputCandidates, outputFileNames, type TargetLayout } from './layout.js';

/**
 * Moves staged files to their places; durable when it resolves. Nothing counts before the result document is written,
 * so a second attempt after a failed one may find some already moved: those are kept. Rejects with errno errors.
 */
export async function storeOutputs(
  layout: TargetLayout,
  resultId: string,
  outputs: readonly NewOutput[],
): Promise<void> {
  if (outputs.length === 0) return;
  const folder = layout.outputs(resultId);
  await makeFolder(folder);
  const fileNames = outputFileNames(
    resultId,
    outputs.map(({ name }) => name),
  );
  for (const { name, file } of outputs) {
    const place = join(folder, fileNames.get(name) ?? '');
    try {
      await moveFile(file, place);
    } catch (error) {
      if (!isMissing(error) || !(await exists(place))) throw error;
    }
  }
  await syncFolder(folder);
}

/** Puts the files back where they were staged, for an error that leaves them there; what cannot go back stays. */
export async function returnOutputs(
  layout: TargetLayout,
  resultId: string,
  outputs: readonly NewOutput[],
): Promise<void> {
  const folder = layout.outputs(resultId);
  const fileNames = outputFileNames(
    resultId,
    outputs.map(({ name }) => name),
  );
  for (const { name, file } of outputs) {
    if (await exists(file).catch(() => true)) continue;
    await rename(join(folder, fileNames.get(name) ?? ''), file).catch(() => undefined);
  }
  await rmdir(folder).catch(() => undefined);
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
