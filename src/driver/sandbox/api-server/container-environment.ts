import { expand } from './expansion.js';
import type { Container, EnvVar, KeySelector } from './pod-objects.js';
import type { FindSecret } from './volume-payload.js';

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
 * Secrets are taken as they are, but can be referred to. Bytes of a Secret that are not UTF-8 arrive as U+FFFD, as
 * they do with a real kubelet.
 * Throws ContainerConfigError when a Secret or a key is missing and not optional.
 */
export function containerEnvironment(container: Container, secret: FindSecret): ContainerEnvironment {
  const values = new Map<string, string>();
  for (const variable of container.env ?? []) {
    const value = valueOf(variable, values, secret);
    if (value !== undefined) values.set(variable.name, value);
  }
  return {
    env: [...values].map(([name, value]) => ({ name, value })),
    command: (container.command ?? []).map((text) => expand(text, values)),
    args: (container.args ?? []).map((text) => expand(text, values)),
  };
}

function valueOf(
  { name, value, valueFrom }: EnvVar,
  before: ReadonlyMap<string, string>,
  secret: FindSecret,
): string | undefined {
  if (valueFrom === undefined) return expand(value ?? '', before);
  if (valueFrom.secretKeyRef) return secretValue(valueFrom.secretKeyRef, secret);
  const kind = Object.keys(valueFrom).join(', ');
  throw new ContainerConfigError(`a source of this kind is not supported here, for variable ${name}: ${kind}`);
}

function secretValue({ name, key, optional }: KeySelector, secret: FindSecret): string | undefined {
  const found = secret(name);
  if (!found) {
    if (optional) return undefined;
    throw new ContainerConfigError(`secret "${name}" not found`);
  }
  const data = Object.hasOwn(found.data ?? {}, key) ? found.data?.[key] : undefined;
  if (data !== undefined) return Buffer.from(data, 'base64').toString('utf8');
  if (optional) return undefined;
  throw new ContainerConfigError(`couldn't find key ${key} in Secret ${found.metadata.namespace}/${name}`);
}
