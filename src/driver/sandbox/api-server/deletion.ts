import type { Clock } from '../../clock.js';
import { ApiError, ORPHANS_WARNING } from './api-error.js';
import { RESOURCES, timestamp, type KubernetesObject, type ResourceName, type Resources } from './objects.js';
import type { Pod } from './pod-objects.js';
import type { ObjectStore } from './object-store.js';

export interface DeleteOptions {
  readonly gracePeriodSeconds?: number;
  readonly propagationPolicy?: 'Background' | 'Foreground' | 'Orphan';
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string };
}

export interface Deleted {
  /** The object as it is now, or a Status when it is gone. */
  readonly body: unknown;
  readonly warning?: string;
}

/**
 * Deletes an object as the API server does: a pod gets its grace period, a Job the finalizer of its policy, the rest goes
 * at once. Throws ApiError 409 when a precondition does not hold.
 */
export function deleteObject<K extends ResourceName>(
  store: ObjectStore,
  clock: Clock,
  resource: K,
  object: Resources[K],
  options: DeleteOptions,
): Deleted {
  checkPreconditions(resource, object, options);
  const { namespace, name } = object.metadata;
  if (resource === 'pods') {
    const grace = podGrace(object as Pod, options);
    return { body: store.update('pods', namespace, name, (pod) => marked(pod, clock.now(), grace)) };
  }
  // `batch/v1` orphans by default, for old times' sake (jobStrategy.DefaultGarbageCollectionPolicy).
  const policy = options.propagationPolicy ?? (resource === 'jobs' ? 'Orphan' : 'Background');
  const warn = resource === 'jobs' && options.propagationPolicy === undefined;
  const warning = warn ? { warning: ORPHANS_WARNING } : {};
  if (policy !== 'Background') {
    const finalizer = policy === 'Orphan' ? 'orphan' : 'foregroundDeletion';
    const body = store.update(resource, namespace, name, (current) => {
      const { finalizers = [] } = current.metadata;
      const next = marked(current, clock.now(), 0);
      return { ...next, metadata: { ...next.metadata, finalizers: [...new Set([...finalizers, finalizer])] } };
    });
    return { body, ...warning };
  }
  if ((object.metadata.finalizers ?? []).length > 0) {
    return { body: store.update(resource, namespace, name, (current) => marked(current, clock.now(), 0)) };
  }
  store.remove(resource, namespace, name);
  const { group } = RESOURCES[resource];
  const details = { name, ...(group === '' ? {} : { group }), kind: resource, uid: object.metadata.uid };
  return { body: { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', details } };
}

function podGrace(pod: Pod, options: DeleteOptions): number {
  const { gracePeriodSeconds } = options;
  if (gracePeriodSeconds !== undefined && gracePeriodSeconds < 0) return 1;
  if (pod.spec.nodeName === undefined) return 0;
  if (pod.status.phase === 'Succeeded' || pod.status.phase === 'Failed') return 0;
  return gracePeriodSeconds ?? pod.spec.terminationGracePeriodSeconds ?? 30;
}

/** With a time of deletion. One that is being deleted can only get less time. */
function marked<T extends KubernetesObject>(object: T, now: number, graceSeconds: number): T {
  const { deletionGracePeriodSeconds: before, deletionTimestamp, generation } = object.metadata;
  if (deletionTimestamp !== undefined && (before ?? 0) <= graceSeconds) return object;
  const next = deletionTimestamp === undefined && generation !== undefined ? { generation: generation + 1 } : {};
  return {
    ...object,
    metadata: {
      ...object.metadata,
      ...next,
      deletionTimestamp: timestamp(now + graceSeconds * 1000),
      deletionGracePeriodSeconds: graceSeconds,
    },
  };
}

function checkPreconditions(resource: ResourceName, object: KubernetesObject, options: DeleteOptions): void {
  const { uid, resourceVersion } = options.preconditions ?? {};
  const { kind, group } = RESOURCES[resource];
  const { name } = object.metadata;
  const differs = (what: string, wanted: string, found: string): never => {
    const problem = `the ${what} in the precondition (${wanted}) does not match the ${what} in record (${found})`;
    const subject = group === '' ? kind : `${kind}.${group}`;
    throw new ApiError(
      409,
      'Conflict',
      `Operation cannot be fulfilled on ${subject} "${name}": ${problem}. The object might have been deleted and then recreated`,
      { name, ...(group === '' ? {} : { group }), kind },
    );
  };
  if (uid !== undefined && uid !== object.metadata.uid) differs('UID', uid, object.metadata.uid);
  if (resourceVersion !== undefined && resourceVersion !== object.metadata.resourceVersion) {
    differs('ResourceVersion', resourceVersion, object.metadata.resourceVersion);
  }
}
