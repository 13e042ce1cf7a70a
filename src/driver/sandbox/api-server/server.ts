import { mkdirSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { systemClock, type Clock } from '../../clock.js';
import { Cluster, type ClusterOptions } from './cluster.js';
import type { ContainerRuntime } from './container-runtime.js';
import type { Faults } from './faults.js';
import { DEFAULT_KUBELET_SETTINGS, type KubeletSettings } from './kubelet-settings.js';
import { Front } from './front.js';
import { VERSION } from './version.js';

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
  const front = new Front({ cluster, onBug, token: options.token, version: { ...VERSION, ...options.version } });
  const server = createServer((request, response) => front.request(request, response));
  server.on('upgrade', (request, socket, head) => front.upgrade(request, socket, head));
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  server.headersTimeout = KEEP_ALIVE_MS + 5000;
  await listen(server, options.port ?? 0);
  const { port } = server.address() as AddressInfo;
  let closing: Promise<void> | undefined;
  const close = async (): Promise<void> => {
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    server.closeAllConnections();
    front.close();
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
