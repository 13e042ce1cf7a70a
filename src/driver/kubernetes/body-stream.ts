import type http from 'node:http';
import type { Clock } from '../clock.js';
import { abortErrorOf, DeadlineError } from './deadline.js';

export interface BodyStreamOptions {
  readonly clock: Clock;
  /** Ends the reading with its reason, or with an AbortError when that is no Error. */
  readonly signal: AbortSignal;
  /** Longest wait for a chunk, in milliseconds; asked again at each look. Infinity: no limit. */
  readonly idleMs: () => number;
  /** How often the limit is looked at while there is none yet. */
  readonly lookMs?: number;
}

/**
 * The chunks of an answer as they come. Only the waiting for a chunk counts as silence, not the time that the
 * consumer takes. Throws DeadlineError after too long a silence, the signal's reason, or the socket's error when the
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
    for (;;) {
      const limit = options.idleMs();
      const waited = waitingSince === undefined ? 0 : clock.now() - waitingSince;
      if (waited >= limit) {
        response.destroy(new DeadlineError(limit));
        return;
      }
      await clock.sleep(Math.min(limit - waited, options.lookMs ?? 60_000), over.signal);
    }
  };
  signal.addEventListener('abort', onAbort, { once: true });
  watchdog().catch(() => undefined);
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
