import type { ServerResponse } from 'node:http';

/** The body of a streamed answer. */
export interface ResponseBody {
  /** Resolves when there is room for more; false once the client is gone. */
  write(chunk: Uint8Array): Promise<boolean>;
  /** A clean end: the last chunk of a chunked answer. */
  end(): void;
  /** Breaks the connection, so that the client sees a reset. */
  reset(): void;
  /** Aborted when the client is gone or the answer is over. */
  readonly closed: AbortSignal;
}

export function responseBody(response: ServerResponse): ResponseBody {
  const closed = new AbortController();
  response.once('close', () => closed.abort());
  return {
    closed: closed.signal,
    write: async (chunk) => {
      if (closed.signal.aborted) return false;
      if (response.write(chunk)) return true;
      await new Promise<void>((resolve) => {
        const done = (): void => {
          response.off('drain', done);
          response.off('close', done);
          resolve();
        };
        response.once('drain', done);
        response.once('close', done);
      });
      return !closed.signal.aborted;
    },
    end: () => void response.end(),
    reset: () => {
      closed.abort();
      response.socket?.resetAndDestroy();
    },
  };
}
