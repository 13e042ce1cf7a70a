import type http from 'node:http';
import type https from 'node:https';
import type { ClientOptions, WebSocket } from 'ws';
import type { KubernetesApi } from './api.js';
import { readBody } from './answer.js';
import { abortErrorOf, withDeadline } from './deadline.js';
import { isAbort, KubernetesError, statusError, toKubernetesError } from './kubernetes-error.js';
import { oneLine } from './network-error.js';

/**
 * The API server takes v5 for a stream that it must translate for the kubelet (SPDY); a v4 stream it passes through as it is,
 * which measured 1.4 times as fast. Nothing of what v5 adds (closing stdin) is needed here.
 */
const PROTOCOLS = ['v4.channel.k8s.io', 'v5.channel.k8s.io'] as const;
const HANDSHAKE_MS = 30_000;
/** kubelets send 32 KiB at most. What is larger ends the stream before it takes memory. */
const MAX_MESSAGE_BYTES = 1024 ** 2;
const ERROR_BODY_BYTES = 64 * 1024;
const ADVICE = 'Let what stands in between pass WebSocket upgrades, or have outputs come by the log: --outputs-via log';

export interface UpgradeRequest {
  /** Absolute path with query, already encoded. */
  readonly path: string;
  /** For messages, an infinitive. */
  readonly doing: string;
  readonly signal: AbortSignal;
}

/**
 * Opens a WebSocket of an exec over the API's own connection: its TLS, credentials, proxy. It comes paused, with a listener
 * for errors. Once more after a 401, with fresh credentials.
 * Rejects with KubernetesError (`statusCode`: what came in the place of 101), CnabError for credentials, AbortError.
 */
export async function openExecSocket(api: KubernetesApi, request: UpgradeRequest): Promise<WebSocket> {
  const open = (protocol: string): Promise<WebSocket> => upgrade(api, request, protocol);
  const [first, second] = PROTOCOLS;
  try {
    return await open(first);
  } catch (error) {
    if (!(error instanceof KubernetesError)) throw error;
    if (error.statusCode === 401) {
      api.connection.refresh();
      return await open(first);
    }
    if (!(error instanceof ProtocolError)) throw error;
    return await open(second);
  }
}

/** Whoever answered wants another protocol, or none at all. */
class ProtocolError extends KubernetesError {}

async function upgrade(api: KubernetesApi, request: UpgradeRequest, protocol: string): Promise<WebSocket> {
  const { connection, clock } = api;
  const { doing, signal } = request;
  try {
    // Outside of the time for the server: somebody may be logging in with a credential plugin.
    const auth = await connection.requestOptions(signal);
    // Loaded with the first exec: most runs have none.
    const { WebSocket } = await import('ws');
    return await withDeadline(clock, HANDSHAKE_MS, signal, (inner) => {
      const socket = new WebSocket(connection.server + request.path, protocol, socketOptions(auth));
      return handshake(socket, inner, async (response) => {
        const body = await readBody(response, ERROR_BODY_BYTES, inner, 'cut');
        return refusedUpgrade(api, request, response, body);
      });
    });
  } catch (error) {
    throw translated(api, error, doing);
  }
}

function socketOptions(auth: https.RequestOptions): ClientOptions {
  return {
    // Handed on to https.request as they are; the types of `checkServerIdentity` are of an older Node.
    ...(auth as unknown as ClientOptions),
    headers: { 'user-agent': 'cnab-cli', ...(auth.headers as Record<string, string>) },
    // Random bytes: nothing to gain, and a bomb to fear.
    perMessageDeflate: false,
    skipUTF8Validation: true,
    maxPayload: MAX_MESSAGE_BYTES,
  };
}

function handshake(
  socket: WebSocket,
  signal: AbortSignal,
  refused: (response: http.IncomingMessage) => Promise<Error>,
): Promise<WebSocket> {
  return new Promise((resolve, reject) => {
    const settle = (end: () => void): void => {
      signal.removeEventListener('abort', onAbort);
      end();
    };
    const fail = (error: Error): void => settle(() => reject(error));
    const onAbort = (): void => {
      fail(abortErrorOf(signal));
      socket.terminate();
    };
    // Stays: an error may come at any time, and one without a listener would end the process.
    socket.on('error', fail);
    socket.once('open', () => {
      // What comes at once waits until somebody listens.
      socket.pause();
      settle(() => resolve(socket));
    });
    socket.once('unexpected-response', (_request, response) => {
      refused(response)
        .then(fail, fail)
        .finally(() => socket.terminate());
    });
    signal.addEventListener('abort', onAbort, { once: true });
    if (signal.aborted) onAbort();
  });
}

function refusedUpgrade(
  { connection, clock }: KubernetesApi,
  { doing }: UpgradeRequest,
  { statusCode = 0, headers }: http.IncomingMessage,
  body: Buffer,
): KubernetesError {
  const error = statusError({ statusCode, headers, body }, doing, connection, clock.now());
  const { code, message, suggestions, transient, serverMessage, retryAfterMs } = error;
  const lostUpgrade = statusCode === 400 && /upgrade request/i.test(serverMessage ?? '');
  if (statusCode < 300 || lostUpgrade) {
    return new KubernetesError('unavailable', `cannot ${doing}: ${blocked(connection.server, statusCode)}`, {
      statusCode,
      suggestions: [ADVICE],
    });
  }
  // The API server answers in JSON; but where it, or a kubelet, refuses the protocol there is no body at all.
  if (/json/.test(headers['content-type'] ?? '')) return error;
  const ErrorClass = statusCode === 400 || statusCode === 403 ? ProtocolError : KubernetesError;
  return new ErrorClass(code, message, {
    statusCode,
    transient,
    suggestions: [...suggestions, ADVICE],
    ...(serverMessage === undefined ? {} : { serverMessage }),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  });
}

function blocked(server: string, statusCode: number): string {
  return `the upgrade to a WebSocket did not reach ${server} (the answer was ${statusCode} where 101 was due)`;
}

function translated({ connection }: KubernetesApi, error: unknown, doing: string): unknown {
  const known = toKubernetesError(error, doing, connection);
  if (known instanceof KubernetesError || isAbort(known) || !(error instanceof Error)) return known;
  if (!isHandshakeError(error)) return known;
  const said = oneLine(error.message).slice(0, 300);
  return new ProtocolError(
    'unavailable',
    `cannot ${doing}: what answers at ${connection.server} is no exec (${said})`,
    {
      suggestions: [ADVICE],
      cause: error,
    },
  );
}

/** ws makes plain errors of a handshake that went wrong, and of frames that cannot be (`WS_ERR_…`). */
function isHandshakeError(error: Error): boolean {
  const code = 'code' in error ? String(error.code) : '';
  return (
    code.startsWith('WS_ERR_') || (code === '' && /^(?:Invalid|Server sent|Opening handshake)/.test(error.message))
  );
}
