import { resolve } from 'node:path';
import type { JsonObject } from '../../bundle/bundle.js';
import type { PodPatch } from '../../driver/settings.js';
import { CnabError } from '../../errors.js';

/**
 * `--pod-patch FILE`: a YAML or JSON file that holds a part of a Pod. What it may say is for the driver to judge.
 * Rejects with CnabError `invalid` that names file, line and column.
 */
export async function readPodPatch(file: string | undefined, cwd: string): Promise<{ readonly podPatch?: PodPatch }> {
  if (file === undefined) return {};
  const { MAX_DOCUMENT_BYTES, parseDocument } = await import('../../credential/document.js');
  const { readLimited, SourceProblem } = await import('../../credential/read-limited.js');
  let bytes: Buffer;
  try {
    bytes = await readLimited(resolve(cwd, file), MAX_DOCUMENT_BYTES);
  } catch (error) {
    if (!(error instanceof SourceProblem)) throw error;
    throw new CnabError('invalid', `the pod patch cannot be used: ${error.message}`, { cause: error });
  }
  const { json } = await parseDocument(bytes, `pod patch ${file}`);
  if (typeof json !== 'object' || json === null || Array.isArray(json)) {
    throw new CnabError('invalid', `pod patch ${file}: it must be one object, a part of a Pod`, {
      suggestions: ['like {"spec": {"nodeSelector": {"disk": "ssd"}}}'],
    });
  }
  return { podPatch: { document: json as JsonObject, file } };
}
