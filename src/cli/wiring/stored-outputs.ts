import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import type { TargetClaims } from '../../claim/claim-store.js';
import { LOGS_OUTPUT, type ClaimRecord } from '../../claim/claim.js';
import { onDisk } from '../../claim/disk-error.js';
import { outputsOf, type ProducedOutput } from '../../claim/status.js';
import { CnabError } from '../../errors.js';
import { copyOutputs, isWithheld, type OutputsFolder } from './outputs-folder.js';

/**
 * Copies what is stored of a run that has ended, as the process that brought it to its end would have, and all that can be
 * had. Resolves with CnabError `outputs-incomplete` where that is not all.
 */
export async function copyStored(
  claims: TargetClaims,
  record: ClaimRecord,
  folder: OutputsFolder,
  say: (line: string) => void,
): Promise<CnabError | undefined> {
  const { id, action } = record.claim;
  const lacking: string[] = [];
  const files: { name: string; file: string; sensitive: boolean }[] = [];
  for (const output of outputsOf(record).filter(({ name }) => name !== LOGS_OUTPUT)) {
    const { name, sensitive } = output;
    try {
      // Of those that stay where they are the name is all that is wanted.
      const file = isWithheld(output, folder) ? '' : await wholeFile(claims, output);
      files.push({ name, file, sensitive });
    } catch (error) {
      if (!(error instanceof CnabError)) throw error;
      lacking.push(error.message);
    }
  }
  try {
    await copyOutputs(folder, say)(files);
  } catch (error) {
    if (!(error instanceof CnabError)) throw error;
    return error;
  }
  if (lacking.length === 0) return undefined;
  const message = `not all outputs of ${action} (run ${id}) could be put into ${folder.folder}`;
  return new CnabError('outputs-incomplete', message, { details: lacking });
}

/** Rejects with CnabError where it is gone, cannot be read, or is not what was recorded. */
async function wholeFile(claims: TargetClaims, { name, result, metadata }: ProducedOutput): Promise<string> {
  const what = `output ${JSON.stringify(name)}`;
  return await onDisk('read', what, async () => {
    const stored = await claims.output(result.id, name);
    if (stored === undefined) throw new CnabError('not-found', `the file of ${what} is gone`);
    const { contentDigest = '' } = metadata;
    if (!/^sha256:[0-9a-f]{64}$/.test(contentDigest)) return stored.file;
    const hash = createHash('sha256');
    for await (const chunk of createReadStream(stored.file) as AsyncIterable<Buffer>) hash.update(chunk);
    if (`sha256:${hash.digest('hex')}` === contentDigest) return stored.file;
    throw new CnabError(
      'outputs-incomplete',
      `the stored ${what} is damaged: its bytes do not have the recorded digest`,
    );
  });
}
