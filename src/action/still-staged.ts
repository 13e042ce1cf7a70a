import type { RunFolder } from '../claim/claim-store.js';
import type { Target } from '../claim/target.js';
import { CnabError } from '../errors.js';
import { takeUpCommand } from './unfinished.js';

interface Recorded {
  readonly installation: string;
  readonly target: Target;
}

/**
 * Whatever the disk's trouble was called: once the driver has begun it is no longer "nothing ran, try again". `recorded`:
 * where the record lies that the run can be completed in. An error that is no CnabError comes back as it is.
 */
export function stillStaged(error: unknown, folder: RunFolder, recorded?: Recorded): unknown {
  if (!(error instanceof CnabError)) return error;
  return new CnabError('contact-lost', error.message, {
    cause: error,
    details: error.details,
    suggestions: [
      `What the run brought is kept in ${folder.staging}, its log in ${folder.logFile}.`,
      ...(recorded === undefined
        ? []
        : [
            `When that is put right, complete its record: ${takeUpCommand('resume', recorded.installation, recorded.target)}`,
          ]),
      ...error.suggestions,
    ],
  });
}
