import { createHash, timingSafeEqual } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { systemClock, type Clock } from '../../clock.js';
import { messageOf } from '../../../errors.js';
import { answer } from './api.js';
import { ApiError, methodNotAllowed, unauthorized } from './api-error.js';
import { Cluster, type ClusterOptions } from './cluster.js';
import type { ContainerRuntime } from './container-runtime.js';
import type { Faults } from './faults.js';
import { DEFAULT_KUBELET_SETTINGS, type KubeletSettings } from './kubelet-settings.js';
import { requestInfo } from './request-info.js';
import { responseBody } from './response-body.js';
import { VERSION } from './reviews.js';

export interface ApiServerOptions {
  readonly runtime: ContainerRuntime;
  /** Bearer token that every request must carry. */
  readonly token: string;
  /** Where the pods' volumes and logs go; made with mode 0700, emptied by `close`. */
  readonly folder: string;
  /** For Secrets and memory-backed volumes: a folder on a tmpfs. Absent: in `folder`. */
  readonly memoryFolder?: string;
  readonly clock?: Clock;
  readonly faults?: Faults;
  /** Namespaces that are there from the start. Absent: `default`. */
  readonly namespaces?: ClusterOptions['namespaces'];
  /** Names of the service accounts that every namespace has. Absent: `default`. */
  readonly serviceAccounts?: readonly string[];
  readonly kubelet?: Partial<KubeletSettings>;
  /** Fields of GET /version to answer differently. */
  readonly version?: Readonly<Record<string, string>>;
  /** 0 or absent: a free one. */
  readonly port?: number;
  /** Hears of errors that no rule explains: bugs, of the runtime or of this. */
  readonly onBug?: (error: unknown) => void;
}

export interface ApiServer {
  /** `http://127.0.0.1:<port>`. */
  readonly url: string;
  readonly cluster: Cluster;
  /** Resolves when there is no Job and no pod (any more). */
  idle(): Promise<void>;
  /** Breaks all connections, kills what runs, and resolves when nothing does. Idempotent. */
  close(): Promise<void>;
}

/** A little more than load balancers wait, so that it is the client that closes an idle connection. */
const KEEP_ALIVE_MS = 90_000;

/** Starts the API server on the loopback interface. Rejects when the port is taken or the folder cannot be made. */
export async function startApiServer(options: ApiServerOptions): Promise<ApiServer> {
  const { folder, clock = systemClock, faults = {}, onBug = () => undefined } = options;
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const cluster = new Cluster({
    clock,
    faults,
    onBug,
    folder,
    runtime: options.runtime,
    memoryFolder: options.memoryFolder ?? join(folder, 'memory'),
    kubelet: { ...DEFAULT_KUBELET_SETTINGS, ...options.kubelet },
    namespaces: options.namespaces ?? [{ name: 'default' }],
    serviceAccounts: options.serviceAccounts ?? ['default'],
  });
  const isToken = tokenCheck(options.token);
  const version = { ...VERSION, ...options.version };
  const server = createServer((request, response) => {
    void serve(cluster, version, isToken, request, response).catch((error: unknown) => {
      // A client that went away in the middle is nobody's fault.
      if (request.socket.destroyed) return;
      if (!(error instanceof ApiError)) onBug(error);
      sendError(response, error);
    });
  });
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  server.headersTimeout = KEEP_ALIVE_MS + 5000;
  await listen(server, options.port ?? 0);
  const { port } = server.address() as AddressInfo;
  let closing: Promise<void> | undefined;
  const close = async (): Promise<void> => {
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    server.closeAllConnections();
    await Promise.all([closed, cluster.close()]);
  };
  return {
    url: `http://127.0.0.1:${port}`,
    cluster,
    idle: () => cluster.idle(),
    close: () => (closing ??= close()),
  };
}

function listen(server: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', () => {
      server.off('error', reject);
      resolve();
    });
  });
}

/** Compares digests, which have one length, in constant time. */
function tokenCheck(token: string): (header: string | undefined) => boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  const wanted = digest(`Bearer ${token}`);
  return (header) => timingSafeEqual(digest(header ?? ''), wanted);
}

async function serve(
  cluster: Cluster,
  version: unknown,
  isToken: (header: string | undefined) => boolean,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  // A client that goes away in the middle is no error of ours.
  response.on('error', () => undefined);
  request.on('error', () => undefined);
  if (!isToken(request.headers.authorization)) throw unauthorized();
  const info = requestInfo(request.method ?? '', request.url ?? '/');
  if (!info) throw methodNotAllowed();
  const intercepted = await cluster.faults.intercept?.(info);
  if (intercepted === 'reset') {
    request.socket.resetAndDestroy();
    return;
  }
  if (intercepted) {
    sendJson(response, intercepted.status, intercepted.body, [], intercepted.headers);
    return;
  }
  const result = await answer(cluster, version, info, request);
  const plain = responseBody(response);
  if (result === 'no such path') {
    response.writeHead(404, { 'content-type': 'text/plain; charset=utf-8' }).end('404 page not found\n');
  } else if (result === 'nothing') {
    response.writeHead(204).end();
  } else if ('stream' in result) {
    response.writeHead(200, { 'content-type': result.contentType });
    response.flushHeaders();
    await result.stream(cluster.faults.body?.(info, plain) ?? plain);
  } else {
    sendJson(response, result.status, result.body, result.warnings ?? []);
  }
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
