import { expand } from './expansion.js';
import type { Container, EnvVar, KeySelector, Pod } from './pod-objects.js';
import type { PodSources } from './volume-payload.js';

/** A container that cannot be made from its spec; the status says `CreateContainerConfigError` and this sentence. */
export class ContainerConfigError extends Error {
  override readonly name = 'ContainerConfigError';
}

export interface ContainerEnvironment {
  readonly env: readonly { readonly name: string; readonly value: string }[];
  readonly command: readonly string[];
  readonly args: readonly string[];
}

/**
 * The environment and the command of a container. `value` expands `$(NAME)` of variables above it; values from
 * elsewhere are taken as they are, but can be referred to. Bytes of a Secret that are not UTF-8 arrive as U+FFFD, as
 * they do with a real kubelet.
 * Throws ContainerConfigError when a Secret or a key is missing and not optional.
 */
export function containerEnvironment(container: Container, sources: PodSources): ContainerEnvironment {
  const values = new Map<string, string>();
  for (const variable of container.env ?? []) {
    const value = valueOf(variable, values, sources);
    if (value !== undefined) values.set(variable.name, value);
  }
  return {
    env: [...values].map(([name, value]) => ({ name, value })),
    command: (container.command ?? []).map((text) => expand(text, values)),
    args: (container.args ?? []).map((text) => expand(text, values)),
  };
}

function valueOf(
  { value, valueFrom }: EnvVar,
  before: ReadonlyMap<string, string>,
  sources: PodSources,
): string | undefined {
  if (valueFrom?.secretKeyRef) {
    const data = keyOf('Secret', valueFrom.secretKeyRef, sources);
    return data === undefined ? undefined : Buffer.from(data, 'base64').toString('utf8');
  }
  if (valueFrom?.configMapKeyRef) return keyOf('ConfigMap', valueFrom.configMapKeyRef, sources);
  if (valueFrom?.fieldRef) return sources.field(valueFrom.fieldRef.fieldPath);
  return expand(value ?? '', before);
}

function keyOf(
  kind: 'Secret' | 'ConfigMap',
  { name, key, optional }: KeySelector,
  sources: PodSources,
): string | undefined {
  const object = kind === 'Secret' ? sources.secret(name) : sources.configMap(name);
  if (!object) {
    if (optional) return undefined;
    throw new ContainerConfigError(`${kind.toLowerCase()} "${name}" not found`);
  }
  const data = Object.hasOwn(object.data ?? {}, key) ? object.data?.[key] : undefined;
  if (data === undefined && !optional) {
    throw new ContainerConfigError(`couldn't find key ${key} in ${kind} ${object.metadata.namespace}/${name}`);
  }
  return data;
}

/** The value of a `fieldRef`; '' for a field that is not there. */
export function fieldValue(pod: Pod, path: string): string {
  const quoted = /^metadata\.(labels|annotations)\['(.*)'\]$/s.exec(path);
  if (quoted) return pod.metadata[quoted[1] as 'labels' | 'annotations']?.[quoted[2] ?? ''] ?? '';
  const known: Record<string, string | undefined> = {
    'metadata.name': pod.metadata.name,
    'metadata.namespace': pod.metadata.namespace,
    'metadata.uid': pod.metadata.uid,
    'spec.nodeName': pod.spec.nodeName,
    'spec.serviceAccountName': pod.spec.serviceAccountName,
    'status.hostIP': '127.0.0.1',
    'status.podIP': '127.0.0.1',
  };
  return known[path] ?? '';
}
