import type { V1Job, V1PodSpec, V1Secret } from '@kubernetes/client-node';
import { CnabError } from '../../errors.js';
import { inputFileName, inputPartName } from '../../frame/sidecar.js';
import type { RunInputs } from '../driver.js';
import type { KubernetesApi } from './api.js';
import { recordKey, recordParts } from './inputs.js';
import { isNotFound } from './kubernetes-error.js';
import { INVOCATION_CONTAINER, secretName } from './names.js';
import { resource, type JobReference } from './resources.js';
import { FILES_VOLUME } from './sidecar.js';

/** More Secrets than the largest inputs and the largest record need. */
const MOST_SECRETS = 100;

/**
 * What a run was given, from its Secrets, which carry names that follow from the Job's: a Job that somebody changed cannot
 * make us read others. Rejects with KubernetesError, and with CnabError `not-found` where a Secret is gone.
 */
export async function readInputs(api: KubernetesApi, job: V1Job, signal: AbortSignal): Promise<RunInputs> {
  const { namespace = '', name = '', uid = '' } = job.metadata ?? {};
  const spec = job.spec?.template?.spec;
  const entries = await readEntries(api, { namespace, name, uid }, spec, signal);
  const record = recordOf(entries);
  if (record === undefined) throw gone(`the record of job ${name} in namespace ${namespace} is not whole`);
  return { record, environment: environmentOf(spec, entries), files: filesOf(spec, entries) };
}

type Entries = ReadonlyMap<string, Uint8Array>;

/** One Secret after the other, until all that are named, and the whole record, are there. */
async function readEntries(
  api: KubernetesApi,
  job: JobReference,
  spec: V1PodSpec | undefined,
  signal: AbortSignal,
): Promise<Entries> {
  const entries = new Map<string, Uint8Array>();
  const named = ownSecretsOf(spec, job.name);
  const isNeeded = (index: number): boolean =>
    index === 0 || recordOf(entries) === undefined || named.includes(secretName(job.name, index));
  for (let index = 0; index < MOST_SECRETS; index += 1) {
    if (!isNeeded(index)) continue;
    for (const [key, bytes] of await readSecret(api, job, secretName(job.name, index), signal)) entries.set(key, bytes);
  }
  return entries;
}

async function readSecret(
  api: KubernetesApi,
  job: JobReference,
  name: string,
  signal: AbortSignal,
): Promise<[string, Uint8Array][]> {
  const { namespace } = job;
  try {
    const doing = `read secret ${name} in namespace ${namespace}`;
    const secret = await api.get<V1Secret>(resource.secret(namespace, name), { doing, signal });
    if (secret.metadata?.ownerReferences?.some(({ uid }) => uid === job.uid) !== true) {
      throw gone(`secret ${name} in namespace ${namespace} does not belong to job ${job.name}`);
    }
    return Object.entries(secret.data ?? {}).map(([key, text]) => [key, Buffer.from(text, 'base64')]);
  } catch (error) {
    if (isNotFound(error)) throw gone(`secret ${name} of job ${job.name} is not in namespace ${namespace}`);
    throw error;
  }
}

function gone(message: string): CnabError {
  return new CnabError('not-found', message);
}

/** Those of the Job's own Secrets that its pod uses; what a pod patch names is the affair of whoever wrote it. */
export function ownSecretsOf(spec: V1PodSpec | undefined, job: string): readonly string[] {
  const used = secretsOf(spec);
  return Array.from({ length: MOST_SECRETS }, (_, index) => secretName(job, index)).filter((name) => used.has(name));
}

function secretsOf(spec: V1PodSpec | undefined): ReadonlySet<string> {
  const variables = spec?.containers.flatMap(({ env = [] }) =>
    env.map(({ valueFrom }) => valueFrom?.secretKeyRef?.name),
  );
  const volumes = spec?.volumes?.flatMap(({ projected }) => projected?.sources?.map(({ secret }) => secret?.name));
  return new Set([...(variables ?? []), ...(volumes ?? [])].filter((name) => name !== undefined));
}

function recordOf(entries: Entries): Uint8Array | undefined {
  const count = recordParts(entries.keys());
  if (count === undefined) return undefined;
  const parts = Array.from({ length: count }, (_, part) => entries.get(recordKey(part, count)));
  return parts.includes(undefined) ? undefined : Buffer.concat(parts.filter((part) => part !== undefined));
}

function environmentOf(spec: V1PodSpec | undefined, entries: Entries): ReadonlyMap<string, Uint8Array> {
  const { env = [] } = spec?.containers.find(({ name }) => name === INVOCATION_CONTAINER) ?? {};
  const pairs = env.flatMap(({ name, valueFrom }): [string, Uint8Array][] => {
    const value = entries.get(valueFrom?.secretKeyRef?.key ?? '');
    return value === undefined ? [] : [[name, value]];
  });
  return new Map(pairs);
}

function filesOf(spec: V1PodSpec | undefined, entries: Entries): ReadonlyMap<string, Uint8Array> {
  const { volumeMounts = [] } = spec?.containers.find(({ name }) => name === INVOCATION_CONTAINER) ?? {};
  const mounted = new Map(
    volumeMounts.flatMap(({ name, subPath, mountPath }) =>
      name === FILES_VOLUME && subPath !== undefined ? [[subPath, mountPath] as const] : [],
    ),
  );
  const files = new Map<string, Uint8Array>();
  for (let index = 0; index < mounted.size; index += 1) {
    const path = mounted.get(inputFileName(index));
    const parts: Uint8Array[] = [];
    for (let part = 0; ; part += 1) {
      const bytes = entries.get(inputPartName(index, part));
      if (bytes === undefined) break;
      parts.push(bytes);
    }
    if (path !== undefined) files.set(path, Buffer.concat(parts));
  }
  return files;
}
