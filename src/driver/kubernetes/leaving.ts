import { endReasonOf } from './result.js';

/** A signal that only somebody who leaves aborts: a stop needs the cluster, and the cluster a signal that lives. */
export function leaving(signal: AbortSignal): AbortSignal {
  const leave = new AbortController();
  const look = (): void => {
    if (endReasonOf(signal) === undefined) leave.abort(signal.reason);
  };
  if (signal.aborted) look();
  else signal.addEventListener('abort', look, { once: true });
  return leave.signal;
}
