import type { Clock } from '../clock.js';
import { AbortError } from './kubernetes-error.js';

/** What `withDeadline` aborts its work with when the time is over. */
export class DeadlineError extends Error {
  override readonly name = 'DeadlineError';

  constructor(readonly ms: number) {
    super(`nothing within ${ms / 1000} s`);
  }
}

/** What work ends with when its signal is aborted: AbortError whatever the reason, but a deadline is told as one. */
export function abortErrorOf(signal: AbortSignal): Error {
  const reason: unknown = signal.reason;
  return reason instanceof DeadlineError || reason instanceof AbortError ? reason : new AbortError(reason);
}

/**
 * Runs `work` with a signal that is aborted when `outer` is or when `ms` have passed.
 * The signal's reason is then an AbortError or a DeadlineError, and `work` must end promptly with it.
 * Leaves neither a timer nor a listener behind (AbortSignal.any keeps both alive as long as the outer signal).
 */
export async function withDeadline<T>(
  clock: Clock,
  ms: number,
  outer: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  if (outer.aborted) throw new AbortError(outer.reason);
  const inner = new AbortController();
  const timer = new AbortController();
  const onAbort = (): void => inner.abort(new AbortError(outer.reason));
  outer.addEventListener('abort', onAbort, { once: true });
  clock.sleep(ms, timer.signal).then(
    () => inner.abort(new DeadlineError(ms)),
    () => undefined,
  );
  try {
    return await work(inner.signal);
  } finally {
    outer.removeEventListener('abort', onAbort);
    timer.abort();
  }
}
