import { readYaml, YamlProblem, type Yaml } from '../bundle/yaml.js';
import { CnabError } from '../errors.js';

/** Documents that people write are far smaller; more is a mistake or an attack. */
export const MAX_DOCUMENT_BYTES = 1024 * 1024;

/**
 * Parses YAML, which includes JSON. Rejects with CnabError `invalid` that names `origin` and the line and never quotes
 * the document: for what `readYaml` calls a problem, for bytes that are no UTF-8, and for too many of them.
 */
export async function parseDocument(bytes: Uint8Array, origin: string): Promise<Yaml> {
  if (bytes.length > MAX_DOCUMENT_BYTES) throw invalid(origin, `it is larger than ${MAX_DOCUMENT_BYTES} bytes`);
  try {
    return await readYaml(decode(bytes, origin));
  } catch (error) {
    if (!(error instanceof YamlProblem)) throw error;
    const { message, place } = error;
    throw invalid(place === undefined ? origin : `${origin}:${place.line}:${place.column}`, message);
  }
}

function decode(bytes: Uint8Array, origin: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw invalid(origin, 'it is not UTF-8 text');
  }
}

function invalid(where: string, reason: string): CnabError {
  return new CnabError('invalid', `${where}: ${reason}`);
}
