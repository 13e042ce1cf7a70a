import { apiPath } from './api-path.js';

const core = (namespace: string, ...rest: readonly string[]): string =>
  apiPath('/api/v1', 'namespaces', namespace, ...rest);

/** Paths of the few resources that a run needs. The README's Role names the same ones. */
export const resource = {
  jobs: (namespace: string): string => apiPath('/apis/batch/v1', 'namespaces', namespace, 'jobs'),
  job: (namespace: string, name: string): string => apiPath('/apis/batch/v1', 'namespaces', namespace, 'jobs', name),
  secrets: (namespace: string): string => core(namespace, 'secrets'),
  secret: (namespace: string, name: string): string => core(namespace, 'secrets', name),
  pods: (namespace: string): string => core(namespace, 'pods'),
  pod: (namespace: string, name: string): string => core(namespace, 'pods', name),
  events: (namespace: string): string => core(namespace, 'events'),
  configMap: (namespace: string, name: string): string => core(namespace, 'configmaps', name),
  namespace: (name: string): string => apiPath('/api/v1', 'namespaces', name),
  namespaces: (): string => '/api/v1/namespaces',
} as const;

/** One Job, and no later one of the same name. */
export interface JobReference {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}
