import http from 'node:http';
import https from 'node:https';
import { abortErrorOf } from './deadline.js';
import { isAbort } from './kubernetes-error.js';

export interface HttpRequest {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
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
 * Rejects with AbortError, else with ExchangeError. The caller consumes or destroys the answer's body.
 */
export function send(
  server: string,
  options: https.RequestOptions,
  request: HttpRequest,
): Promise<http.IncomingMessage> {
  const { signal } = request;
  const url = new URL(server);
  const base = url.pathname.replace(/\/+$/, '');
  const transport = url.protocol === 'http:' ? http : https;
  return new Promise((resolve, reject) => {
    let connected = false;
    const parameters: https.RequestOptions = {
      ...options,
      protocol: url.protocol,
      hostname: url.hostname.replace(/^\[|\]$/g, ''),
      port: url.port === '' ? (url.protocol === 'http:' ? 80 : 443) : Number(url.port),
      path: base + request.path,
      method: request.method,
      headers: {
        accept: 'application/json',
        'user-agent': 'cnab-cli',
        ...options.headers,
        ...request.headers,
        ...(request.body === undefined ? {} : { 'content-length': String(request.body.length) }),
      },
    };
    let call: http.ClientRequest;
    try {
      call = transport.request(parameters);
    } catch (error) {
      // TLS material that OpenSSL does not understand.
      reject(new ExchangeError(error, false, false));
      return;
    }
    const fail = (error: unknown, stale: boolean): void => {
      signal.removeEventListener('abort', onAbort);
      reject(isAbort(error) ? (error as Error) : new ExchangeError(error, connected, stale));
    };
    const onAbort = (): void => {
      const reason = abortErrorOf(signal);
      call.destroy(reason);
      // While the agent is still opening a connection (through a proxy), Node holds the 'error' event back.
      fail(reason, false);
    };
    signal.addEventListener('abort', onAbort, { once: true });
    call.once('socket', (socket) => {
      if (call.reusedSocket || (transport === http && !socket.connecting)) connected = true;
      else socket.once(transport === http ? 'connect' : 'secureConnect', () => (connected = true));
    });
    call.once('response', (response) => {
      signal.removeEventListener('abort', onAbort);
      // Keeps middleboxes from forgetting a quiet stream, and finds a dead peer.
      response.socket.setKeepAlive(true, 15_000);
      resolve(response);
    });
    // It may come again after the answer: then the body's own error tells the reader.
    call.on('error', (error: NodeJS.ErrnoException) => {
      fail(error, call.reusedSocket && (error.code === 'ECONNRESET' || error.code === 'EPIPE'));
    });
    call.end(request.body);
  });
}
