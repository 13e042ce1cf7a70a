import type http from 'node:http';
import type { KubernetesApi } from './api.js';
import { apiPath } from './api-path.js';
import type { Query } from './api-path.js';
import type { KubernetesError } from './kubernetes-error.js';

export interface LogSource {
  readonly namespace: string;
  readonly pod: string;
  readonly container: string;
}

/** Resolves with a 200, or a 204 while the pod has no node (apiserver, StreamObject without a stream). */
export function openLog(
  api: KubernetesApi,
  source: LogSource,
  signal: AbortSignal,
  query: Query,
): Promise<http.IncomingMessage> {
  const path = apiPath('/api/v1', 'namespaces', source.namespace, 'pods', source.pod, 'log');
  return api.stream(path, { doing: doingOf(source), signal, query: { container: source.container, ...query } });
}

export function doingOf(source: LogSource): string {
  return `read the log of container ${source.container} of pod ${source.pod} in namespace ${source.namespace}`;
}

/**
 * A 400 says that the container has not started (`is waiting to start: PodInitializing`, `trying and failing to pull
 * image`), or that there is none of that name, which time does not heal.
 */
export function isWaiting(error: KubernetesError): boolean {
  if (error.statusCode !== 400) return false;
  return !/is not valid for pod|previous terminated container|container name must be specified/.test(
    error.serverMessage ?? '',
  );
}

/** A kubelet that does not know the pod yet gives a 404 too; the API server's sentence on it names no pod. */
export function isPodGone(error: KubernetesError): boolean {
  if (error.statusCode === 410) return true;
  return error.statusCode === 404 && !/could not find the requested resource/.test(error.serverMessage ?? '');
}
