import http from 'node:http';
import https from 'node:https';
import type { Connection } from './connection.js';
import { isAbort } from './kubernetes-error.js';

export interface HttpRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Absolute path with query, already encoded. */
  readonly path: string;
  readonly body?: Uint8Array;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
}

/** Why a request got no answer, and whether the server may have seen it. */
export class ExchangeError extends Error {
  override readonly name = 'ExchangeError';

  constructor(
    override readonly cause: unknown,
    /** False: no connection was made, so nothing was sent. */
    readonly sent: boolean,
    /** A kept-alive socket that the server had closed meanwhile: worth one more try at once. */
    readonly stale: boolean,
  ) {
    super(cause instanceof Error ? cause.message : String(cause), { cause });
  }
}

/**
 * One HTTP request up to the answer's headers, whatever the status. Redirects are not followed.
 * Rejects with AbortError, with CnabError when there are no credentials, else with ExchangeError.
 * The caller consumes or destroys the answer's body.
 */
export async function send(connection: Connection, request: HttpRequest): Promise<http.IncomingMessage> {
  const options = await connection.requestOptions(request.signal);
  request.signal.throwIfAborted();
  return exchange(connection.server, options, request);
}

function exchange(server: string, options: https.RequestOptions, request: HttpRequest): Promise<http.IncomingMessage> {
  const { signal } = request;
  const url = new URL(server);
  const base = url.pathname.replace(/\/+$/, '');
  const transport = url.protocol === 'http:' ? http : https;
  return new Promise((resolve, reject) => {
    let connected = false;
    const call = transport.request({
      ...options,
      protocol: url.protocol,
      hostname: url.hostname.replace(/^\[|\]$/g, ''),
      port: url.port === '' ? (url.protocol === 'http:' ? 80 : 443) : Number(url.port),
      path: base + request.path,
      method: request.method,
      headers: {
        accept: 'application/json',
        ...options.headers,
        ...request.headers,
        ...(request.body === undefined ? {} : { 'content-length': String(request.body.length) }),
      },
    });
    const onAbort = (): void => {
      call.destroy(signal.reason as Error);
    };
    const settle = (): void => signal.removeEventListener('abort', onAbort);
    signal.addEventListener('abort', onAbort, { once: true });
    call.once('socket', (socket) => {
      const event = transport === http ? 'connect' : 'secureConnect';
      if (call.reusedSocket || !socket.connecting) connected = true;
      else socket.once(event, () => (connected = true));
    });
    call.once('response', (response) => {
      settle();
      // Keeps middleboxes from forgetting a quiet stream, and finds a dead peer.
      response.socket.setKeepAlive(true, 15_000);
      resolve(response);
    });
    // 'error' may come again after the answer: then the body's own error tells the reader.
    call.on('error', (error: NodeJS.ErrnoException) => {
      settle();
      if (isAbort(signal.reason)) {
        reject(error);
        return;
      }
      const stale = call.reusedSocket && (error.code === 'ECONNRESET' || error.code === 'EPIPE');
      reject(new ExchangeError(error, connected, stale));
    });
    call.end(request.body);
  });
}
