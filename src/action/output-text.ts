import { readFile } from 'node:fs/promises';
import type { Definition } from '../bundle/bundle.js';
import type { TargetClaims } from '../claim/claim-store.js';
import type { Installation } from '../claim/claim.js';
import { lastOutputs } from '../claim/status.js';

/** A parameter's value travels in a Secret, so a larger output cannot be one. */
const LARGEST_SOURCE = 1024 * 1024;

/**
 * The installation's newest output of that name as the text of a parameter (extension io.cnab.parameter-sources, spec 810);
 * base64 for a definition that says so. Undefined where there is none, or where it is too large to be a parameter.
 */
export async function readOutputAsText(
  claims: TargetClaims,
  installation: Installation | undefined,
  name: string,
  definition: Definition,
): Promise<string | undefined> {
  const last =
    installation === undefined ? undefined : lastOutputs(installation).find((output) => output.name === name);
  const stored = last === undefined ? undefined : await claims.output(last.result.id, name);
  if (stored === undefined || stored.size > LARGEST_SOURCE) return undefined;
  const bytes = await readFile(stored.file);
  const isBase64 = typeof definition === 'object' && definition['contentEncoding'] === 'base64';
  return isBase64 ? bytes.toString('base64') : bytes.toString('utf8');
}
