/**
 * What kind of end an error stands for. `src/cli/exit-codes.ts` gives each kind its exit code;
 * scripts may rely on both, so a kind is never renamed.
 */
export const ERROR_CODES = [
  'bundle-failed',
  'invalid',
  'unavailable',
  'timed-out',
  'outputs-incomplete',
  'not-found',
  'busy',
  'contact-lost',
  'wrong-state',
  'interrupted',
  'still-running',
] as const;

export type ErrorCode = (typeof ERROR_CODES)[number];

export interface CnabErrorOptions {
  /** What to do next: each entry is one line, preferably a command to paste. */
  readonly suggestions?: readonly string[];
  /** Further lines that belong to the message (one problem each), in the order to print them. */
  readonly details?: readonly string[];
  readonly cause?: unknown;
}

/**
 * An end that the user can act on. Everything else that is thrown is a bug of ours.
 *
 * `message` is one sentence: what happened and what it was about, without the value of a credential
 * or of a sensitive parameter. Foreign errors are translated once, at the border, and keep the
 * server's own words.
 */
export class CnabError extends Error {
  override readonly name = 'CnabError';
  readonly code: ErrorCode;
  readonly suggestions: readonly string[];
  readonly details: readonly string[];

  constructor(code: ErrorCode, message: string, options: CnabErrorOptions = {}) {
    super(message, options.cause === undefined ? {} : { cause: options.cause });
    this.code = code;
    this.suggestions = options.suggestions ?? [];
    this.details = options.details ?? [];
  }
}

/** The text of anything that was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
