import { createHash, timingSafeEqual } from 'node:crypto';
import { ServerResponse, type IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { messageOf } from '../../../errors.js';
import { answer, type Answer } from './api.js';
import { ApiError, badRequest, methodNotAllowed, unauthorized } from './api-error.js';
import type { Cluster } from './cluster.js';
import { acceptExec } from './exec-channels.js';
import { requestInfo, type RequestInfo } from './request-info.js';
import { responseBody } from './response-body.js';

export interface FrontOptions {
  readonly cluster: Cluster;
  readonly token: string;
  /** Answer to GET /version. */
  readonly version: unknown;
  readonly onBug: (error: unknown) => void;
}

/** A connection that its client wants to speak another protocol over. */
interface Upgrade {
  readonly socket: Duplex;
  readonly head: Buffer;
}

/** The HTTP side of the API server: who asks, what is answered, and what becomes of errors. */
export class Front {
  readonly #isToken: (header: string | undefined) => boolean;
  /** Connections that the HTTP server has let go of. */
  readonly #upgraded = new Set<Duplex>();

  constructor(private readonly options: FrontOptions) {
    this.#isToken = tokenCheck(options.token);
  }

  request(request: IncomingMessage, response: ServerResponse): void {
    this.#serve(request, response);
  }

  /** For a request with an Upgrade header. What does not become an exec is answered as any other. */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    this.#upgraded.add(socket);
    socket.on('close', () => this.#upgraded.delete(socket));
    socket.on('error', () => undefined);
    const response = new ServerResponse(request);
    response.shouldKeepAlive = false;
    // Of a server on TCP it is always one.
    response.assignSocket(socket as Socket);
    response.on('finish', () => socket.end());
    this.#serve(request, response, { socket, head });
  }

  close(): void {
    for (const socket of this.#upgraded) socket.destroy();
  }

  #serve(request: IncomingMessage, response: ServerResponse, upgrade?: Upgrade): void {
    const { onBug, cluster } = this.options;
    response.setHeader('date', new Date(cluster.clock.now()).toUTCString());
    // A client that goes away in the middle is no error of ours.
    response.on('error', () => undefined);
    request.on('error', () => undefined);
    void this.#answered(request, response, upgrade).catch((error: unknown) => {
      if (request.socket.destroyed) return;
      if (!(error instanceof ApiError)) onBug(error);
      sendError(response, error);
    });
  }

  async #answered(request: IncomingMessage, response: ServerResponse, upgrade?: Upgrade): Promise<void> {
    const { cluster, version } = this.options;
    if (!this.#isToken(request.headers.authorization)) throw unauthorized();
    const info = requestInfo(request.method ?? '', request.url ?? '/');
    if (!info) throw methodNotAllowed();
    const intercepted = await cluster.faults.intercept?.(info);
    if (intercepted === 'reset') {
      request.socket.resetAndDestroy();
    } else if (intercepted && typeof intercepted.body === 'string') {
      response.writeHead(intercepted.status, intercepted.headers).end(intercepted.body);
    } else if (intercepted) {
      sendJson(response, intercepted.status, intercepted.body, [], intercepted.headers);
    } else {
      await this.#send(request, response, await answer(cluster, version, info, request), info, upgrade);
    }
  }

  async #send(
    request: IncomingMessage,
    response: ServerResponse,
    result: Answer,
    info: RequestInfo,
    upgrade?: Upgrade,
  ): Promise<void> {
    const { faults } = this.options.cluster;
    if (result === 'nothing') {
      response.writeHead(204).end();
    } else if ('exec' in result) {
      if (!upgrade) throw badRequest('Upgrade request required');
      response.detachSocket(upgrade.socket as Socket);
      const answersPings = faults.answersPings?.(info) ?? true;
      const channels = await acceptExec({ request, ...upgrade, answersPings });
      await result.exec(faults.exec?.(info, channels) ?? channels).catch((error: unknown) => {
        this.options.onBug(error);
        channels.reset();
      });
    } else if ('stream' in result) {
      const plain = responseBody(response);
      response.writeHead(200, { 'content-type': result.contentType });
      response.flushHeaders();
      await result.stream(faults.body?.(info, plain) ?? plain);
    } else if ('text' in result) {
      const type = result.text === '' ? {} : { 'content-type': 'text/plain; charset=utf-8' };
      response.writeHead(result.status, type).end(result.text);
    } else {
      sendJson(response, result.status, result.body, result.warnings ?? []);
    }
  }
}

/** Compares digests, which have one length, in constant time. */
function tokenCheck(token: string): (header: string | undefined) => boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  const wanted = digest(`Bearer ${token}`);
  return (header) => timingSafeEqual(digest(header ?? ''), wanted);
}
function sendJson(
  response: ServerResponse,
  status: number,
  body: unknown,
  warnings: readonly string[],
  headers: Readonly<Record<string, string>> = {},
): void {
  const text = JSON.stringify(body) + '\n';
  if (warnings.length > 0) {
    response.setHeader(
      'warning',
      warnings.map((warning) => `299 - ${JSON.stringify(warning)}`),
    );
  }
  response.writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-cache, private', ...headers });
  response.end(text);
}

function sendError(response: ServerResponse, error: unknown): void {
  const known = error instanceof ApiError ? error : new ApiError(500, 'InternalError', messageOf(error));
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const retry = known.details?.retryAfterSeconds;
  const headers = retry === undefined ? {} : { 'retry-after': String(retry) };
  sendJson(response, known.code, known.status, [], headers);
}
