import type http from 'node:http';
import type { Clock } from '../clock.js';
import { abortErrorOf, DeadlineError } from './deadline.js';
import { wakeableSleep } from './wait.js';

export interface BodyStreamOptions {
  readonly clock: Clock;
  /** Ends the reading, with an AbortError. */
  readonly signal: AbortSignal;
  /** Longest wait for a chunk, in milliseconds; default: none. */
  readonly idleMs?: number;
  /** Another limit from the moment that a signal is aborted. */
  readonly then?: { readonly signal: AbortSignal; readonly idleMs: number };
}

/**
 * The chunks of an answer as they come. Only the waiting for a chunk counts as silence, not the time that the
 * consumer takes. Throws DeadlineError after too long a silence, AbortError, or the socket's error when the
 * answer breaks off. The socket is destroyed when the reading is left before the end.
 */
export async function* chunksOf(
  response: http.IncomingMessage,
  options: BodyStreamOptions,
): AsyncGenerator<Buffer, void, void> {
  const { clock, signal } = options;
  const over = new AbortController();
  const onAbort = (): void => {
    response.destroy(abortErrorOf(signal));
  };
  let waitingSince: number | undefined;
  const watchdog = async (): Promise<void> => {
    const { then } = options;
    while (!over.signal.aborted) {
      const changed = then?.signal.aborted === true;
      const limit = (changed ? then?.idleMs : options.idleMs) ?? Infinity;
      const waited = waitingSince === undefined ? 0 : clock.now() - waitingSince;
      if (waited >= limit) {
        response.destroy(new DeadlineError(limit));
        return;
      }
      // An endless timer does not exist; a day's one does.
      const ms = Math.min(limit - waited, 24 * 3600_000);
      await wakeableSleep(clock, ms, over.signal, ...(then === undefined || changed ? [] : [then.signal]));
    }
  };
  signal.addEventListener('abort', onAbort, { once: true });
  const watching = watchdog();
  try {
    if (signal.aborted) throw abortErrorOf(signal);
    waitingSince = clock.now();
    for await (const chunk of response as AsyncIterable<Buffer>) {
      waitingSince = undefined;
      yield chunk;
      waitingSince = clock.now();
    }
  } finally {
    signal.removeEventListener('abort', onAbort);
    over.abort();
    await watching;
    if (!response.readableEnded) response.destroy();
  }
}

/** Splits chunks into lines without their newline; a last one without a newline is dropped, as it may be half. */
export async function* linesOf(chunks: AsyncIterable<Buffer>, maxBytes: number): AsyncGenerator<string, void, void> {
  let rest: Buffer[] = [];
  let size = 0;
  for await (const chunk of chunks) {
    let from = 0;
    for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, from)) {
      yield Buffer.concat([...rest, chunk.subarray(from, at)]).toString('utf8');
      rest = [];
      size = 0;
      from = at + 1;
    }
    if (from === chunk.length) continue;
    rest.push(chunk.subarray(from));
    size += chunk.length - from;
    if (size > maxBytes) throw new RangeError(`a line is longer than ${maxBytes} bytes`);
  }
}
