import type { Clock } from '../clock.js';
import { abortErrorOf } from './deadline.js';

/** Waits for `work`, but not longer than the signal: rejects with its `abortErrorOf` then, whatever becomes of `work`. */
export async function untilAborted<T>(signal: AbortSignal, work: T | Promise<T>): Promise<T> {
  if (!(work instanceof Promise)) return work;
  let onAbort = (): void => undefined;
  const aborted = new Promise<never>((_resolve, reject) => {
    onAbort = () => reject(abortErrorOf(signal));
  });
  signal.addEventListener('abort', onAbort, { once: true });
  if (signal.aborted) onAbort();
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

/** Sleeps for `ms`, or until one of the signals is aborted; never rejects. */
export async function wakeableSleep(clock: Clock, ms: number, ...signals: readonly AbortSignal[]): Promise<void> {
  const awake = new AbortController();
  const wake = (): void => awake.abort();
  for (const signal of signals) signal.addEventListener('abort', wake, { once: true });
  if (signals.some((signal) => signal.aborted)) wake();
  try {
    await clock.sleep(ms, awake.signal);
  } catch {
    // Woken.
  } finally {
    for (const signal of signals) signal.removeEventListener('abort', wake);
  }
}
