import { badRequest } from './api-error.js';
import type { Pod } from './pod-objects.js';

export interface ExecQuery {
  /** Empty where none was named: a real runtime says so after the upgrade, too. */
  readonly command: readonly string[];
  readonly stdout: boolean;
  readonly stderr: boolean;
}

/** Throws ApiError 400 for what only a terminal needs. */
export function execQuery(query: URLSearchParams): ExecQuery {
  const flag = (name: string): boolean => !['', '0', 'f', 'false'].includes((query.get(name) ?? '').toLowerCase());
  for (const name of ['stdin', 'tty']) if (flag(name)) throw badRequest(`an exec with ${name} is not served here`);
  return { command: query.getAll('command'), stdout: flag('stdout'), stderr: flag('stderr') };
}

/** The container that is meant. Throws ApiError 400 when it is none of the pod's, or not the only one. */
export function execContainer({ spec, metadata }: Pod, name: string | null): string {
  const names = [...(spec.initContainers ?? []), ...spec.containers].map((container) => container.name);
  if (name !== null && name !== '') {
    if (names.includes(name)) return name;
    throw badRequest(`container ${name} is not valid for pod ${metadata.name}`);
  }
  const [only, ...more] = spec.containers;
  if (only !== undefined && more.length === 0) return only.name;
  throw badRequest(`a container name must be specified for pod ${metadata.name}, choose one of: [${names.join(' ')}]`);
}
