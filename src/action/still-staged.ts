import { shellWord } from '../bundle/shell-word.js';
import type { RunFolder } from '../claim/claim-store.js';
import { CnabError } from '../errors.js';

/**
 * Whatever the disk's trouble was called: once the driver has begun it is no longer "nothing ran, try again". `installation`:
 * whose record the run can be completed in. An error that is no CnabError comes back as it is.
 */
export function stillStaged(error: unknown, folder: RunFolder, installation?: string): unknown {
  if (!(error instanceof CnabError)) return error;
  return new CnabError('contact-lost', error.message, {
    cause: error,
    details: error.details,
    suggestions: [
      `What the run brought is kept in ${folder.staging}, its log in ${folder.logFile}.`,
      ...(installation === undefined
        ? []
        : [`When that is put right, complete its record: cnab resume ${shellWord(installation)}`]),
      ...error.suggestions,
    ],
  });
}
