import type { Clock } from '../clock.js';
import type { RunView } from './run-view.js';

/** Time-outs are looked at this often; changes wake at once. */
const TICK_MS = 1000;

/**
 * Waits until `look` finds something: after each change of the view, and once a second for what only time brings.
 * Undefined when the signal was aborted first. What `look` finds at once comes before an abort: a verdict that is there is kept.
 */
export async function until<T>(
  view: RunView,
  clock: Clock,
  signal: AbortSignal,
  look: () => T | undefined,
): Promise<T | undefined> {
  for (;;) {
    const found = look();
    if (found !== undefined) return found;
    if (signal.aborted) return undefined;
    await changeOrTick(view, clock, signal);
  }
}

function changeOrTick(view: RunView, clock: Clock, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = new AbortController();
    const wake = (): void => {
      signal.removeEventListener('abort', wake);
      forget();
      timer.abort();
      resolve();
    };
    const forget = view.onChange(wake);
    signal.addEventListener('abort', wake, { once: true });
    clock.sleep(TICK_MS, timer.signal).then(wake, () => undefined);
  });
}
