import { readFile } from 'node:fs/promises';
import type { TargetClaims } from '../claim/claim-store.js';
import type { Installation } from '../claim/claim.js';
import { outputHistory } from '../claim/status.js';
import { MAX_PARAMETER_BYTES } from '../credential/parameter-sources.js';
import { CnabError } from '../errors.js';

/** An output that becomes a parameter's value (extension io.cnab.parameter-sources, spec 810). */
export interface SourceOutput {
  readonly bytes: Uint8Array;
  /** By the bundle that produced it. */
  readonly sensitive: boolean;
}

/**
 * The installation's newest output of that name whose file is still there. Undefined where there is none.
 * Rejects with CnabError `invalid`, the end of a sentence, where it is too large for a parameter.
 */
export async function readSourceOutput(
  claims: TargetClaims,
  installation: Installation | undefined,
  name: string,
): Promise<SourceOutput | undefined> {
  for (const { result, sensitive } of installation === undefined ? [] : outputHistory(installation, name)) {
    const stored = await claims.output(result.id, name);
    if (stored === undefined) continue;
    if (stored.size > MAX_PARAMETER_BYTES) {
      throw new CnabError('invalid', `is larger than ${MAX_PARAMETER_BYTES} bytes, the most that a parameter may have`);
    }
    return { bytes: await readFile(stored.file), sensitive };
  }
  return undefined;
}
