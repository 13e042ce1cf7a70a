import type { Clock } from '../clock.js';
import { CredentialError, KubernetesError } from './kubernetes-error.js';

/** Whether a call that failed so may be made again. */
export type RetryRule = (error: unknown) => boolean;

/** Reads and deletions: whatever time may heal. */
export const RETRY_IDEMPOTENT: RetryRule = (error) =>
  error instanceof KubernetesError && error.transient && !(error instanceof CredentialError);

/**
 * Writes: where the server cannot have acted (no connection), or asks to try again
 * (429, or 5xx with Retry-After; client-go's rest/with_retry.go does the same for every verb).
 */
export const RETRY_UNSENT: RetryRule = (error) => {
  if (!(error instanceof KubernetesError) || !RETRY_IDEMPOTENT(error) || error.maybeApplied) return false;
  return error.statusCode === undefined || error.statusCode === 429 || error.retryAfterMs !== undefined;
};

const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 10_000;
const LONGEST_RETRY_AFTER_MS = 30_000;

/**
 * Pause before attempt `failures + 1`, in milliseconds: doubled each time, at most 10 s, less up to half at random so
 * that many clients do not come back at once. What the server asked for (up to 30 s) is never undercut.
 */
export function pauseMs(failures: number, random: () => number, retryAfterMs = 0): number {
  const full = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** Math.min(failures - 1, 10));
  const jittered = Math.round(full * (1 - random() / 2));
  return Math.max(jittered, Math.min(retryAfterMs, LONGEST_RETRY_AFTER_MS));
}

export interface RetryOptions {
  readonly clock: Clock;
  readonly random: () => number;
  readonly signal: AbortSignal;
  readonly rule: RetryRule;
  /** All in all. */
  readonly attempts: number;
}

/** Calls `work` until it succeeds, its error is final by the rule, or the attempts are used up; rejects with the last error. */
export async function retrying<T>(options: RetryOptions, work: () => Promise<T>): Promise<T> {
  for (let failures = 1; ; failures++) {
    try {
      return await work();
    } catch (error) {
      if (failures >= options.attempts || !options.rule(error)) throw error;
      const after = error instanceof KubernetesError ? error.retryAfterMs : undefined;
      await options.clock.sleep(pauseMs(failures, options.random, after), options.signal);
    }
  }
}
