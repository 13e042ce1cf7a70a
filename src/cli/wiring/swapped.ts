import { NotInstalled } from '../../action/refuse.js';
import { shellWord } from '../../bundle/shell-word.js';
import type { ClaimStore } from '../../claim/claim-store.js';

/**
 * Duffle and Porter disagree about the order of NAME and ACTION: where the name is not known but the action is an
 * installation, the error says so. Any other error comes back as it is.
 */
export async function swappedHint(
  error: unknown,
  given: { readonly name: string; readonly action: string },
  store: ClaimStore,
): Promise<unknown> {
  if (!(error instanceof NotInstalled)) return error;
  const targets = await store.targetsOf(given.action).catch(() => []);
  if (targets.length === 0) return error;
  return new NotInstalled(error.message, {
    details: error.details,
    suggestions: [
      `did you mean: cnab invoke ${shellWord(given.action)} ${shellWord(given.name)}`,
      ...error.suggestions,
    ],
    cause: error,
  });
}
