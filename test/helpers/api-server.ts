import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startApiServer, type ApiServer, type ApiServerOptions } from '../../src/driver/sandbox/api-server/server.js';
import type { ContainerRuntime } from '../../src/driver/sandbox/api-server/container-runtime.js';
import { ApiServerFaults } from './api-server-faults.js';
import { ProcessRuntime } from './api-server-process-runtime.js';

export { ApiServerFaults } from './api-server-faults.js';
export { ProcessRuntime } from './api-server-process-runtime.js';
export { ScriptedRuntime, type ContainerScript, type ContainerWorld } from './api-server-scripted-runtime.js';

export type TestApiServerOptions = Partial<Omit<ApiServerOptions, 'faults' | 'runtime'>> & {
  readonly faults?: ApiServerFaults;
  /** Or what makes it for the server's folder. Absent: containers are plain processes. */
  readonly runtime?: ContainerRuntime | ((folder: string) => Promise<ContainerRuntime>);
};

export interface TestAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The text as JSON, unchecked. */
  json<T = Record<string, unknown>>(): T;
}

/** A running API server with what a test needs beside it. */
export interface TestApiServer extends ApiServer {
  readonly token: string;
  readonly folder: string;
  readonly faults: ApiServerFaults;
  /** Errors that the server calls bugs; `close` throws the first of them. */
  readonly bugs: readonly unknown[];
  /** A kubeconfig (YAML) whose current context `test` points here. */
  kubeconfig(namespace?: string): string;
  request(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<TestAnswer>;
}

/** What a body of ours is sent as. */
export function contentTypeOf(method: string): string {
  return method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
}

/** Starts an API server on a free port, in a temporary folder that `close` removes. */
export async function startTestApiServer(options: TestApiServerOptions = {}): Promise<TestApiServer> {
  const folder = mkdtempSync(join(tmpdir(), 'cnab-api-server-'));
  const token = 'token-of-a-test';
  const faults = options.faults ?? new ApiServerFaults();
  const bugs: unknown[] = [];
  const onBug = (error: unknown): void => void bugs.push(error);
  const { runtime = new ProcessRuntime() } = options;
  const made = typeof runtime === 'function' ? await runtime(folder) : runtime;
  const server = await startApiServer({ token, onBug, ...options, runtime: made, folder, faults });
  const request: TestApiServer['request'] = async (method, path, body, headers = {}) => {
    const response = await fetch(`${server.url}${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': contentTypeOf(method), ...headers },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, text, json: <T>() => JSON.parse(text) as T };
  };
  return {
    ...server,
    token,
    folder,
    faults,
    bugs,
    request,
    kubeconfig: (namespace = 'default') => kubeconfig(server.url, token, namespace),
    close: async () => {
      faults.release();
      await server.close();
      rmSync(folder, { recursive: true, force: true });
      if (bugs.length > 0) throw bugs[0];
    },
  };
}

/** Runs `act` with an API server that is closed afterwards, however it ends. */
export async function withApiServer<T>(
  options: TestApiServerOptions,
  act: (server: TestApiServer) => Promise<T>,
): Promise<T> {
  const server = await startTestApiServer(options);
  try {
    return await act(server);
  } finally {
    await server.close();
  }
}

function kubeconfig(server: string, token: string, namespace: string): string {
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'test', cluster: { server } }],
    users: [{ name: 'test', user: { token } }],
    contexts: [{ name: 'test', context: { cluster: 'test', user: 'test', namespace } }],
    'current-context': 'test',
  });
}
