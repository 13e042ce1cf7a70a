import type { Clock } from '../../clock.js';
import { deleteObject } from './deletion.js';
import type { KubernetesObject, OwnerReference, ResourceName } from './objects.js';
import type { Change, ObjectStore } from './object-store.js';
import type { Pod } from './pod-objects.js';

/** What can be owned, and what can own. */
const DEPENDENTS = ['pods', 'secrets', 'jobs'] as const;
const OWNERS: Readonly<Record<string, ResourceName>> = { Job: 'jobs', Pod: 'pods', Secret: 'secrets' };

/**
 * Takes away what has no owner any more, carries out foreground and orphan deletions, and lets objects go whose time and
 * finalizers are over. Returns how to end it.
 */
export function collectGarbage(store: ObjectStore, clock: Clock): () => void {
  return store.listen((change) => {
    const { object, resource, type } = change;
    if (type === 'DELETED') {
      for (const [kind, dependent] of dependentsOf(store, object)) {
        if (!hasOwner(store, dependent)) remove(store, clock, kind, dependent);
      }
      releaseForegroundOwners(store, object);
      return;
    }
    const { finalizers = [], deletionTimestamp, deletionGracePeriodSeconds = 0, namespace, name } = object.metadata;
    if (deletionTimestamp !== undefined) {
      if (finalizers.includes('orphan')) orphan(store, change);
      else if (finalizers.includes('foregroundDeletion')) deleteInForeground(store, clock, object);
      if (resource === 'pods') failUnscheduled(store, object as Pod);
      if (finalizers.length === 0 && deletionGracePeriodSeconds === 0) {
        removeSame(store, change);
      }
    }
    const owned = (object.metadata.ownerReferences ?? []).length > 0;
    if (type === 'ADDED' && owned && !hasOwner(store, object)) {
      const current = store.get(resource, namespace, name);
      if (current) remove(store, clock, resource, current);
    }
  });
}

/** The pod GC's part: a deleted pod that no node will ever speak for. */
function failUnscheduled(store: ObjectStore, { spec, status, metadata }: Pod): void {
  if (spec.nodeName !== undefined || status.phase !== 'Pending') return;
  store.update('pods', metadata.namespace, metadata.name, (pod) =>
    pod.metadata.uid === metadata.uid ? { ...pod, status: { ...pod.status, phase: 'Failed' } } : pod,
  );
}

function removeSame(store: ObjectStore, { resource, object }: Change): void {
  const { namespace, name, uid } = object.metadata;
  if (store.get(resource, namespace, name)?.metadata.uid === uid) store.remove(resource, namespace, name);
}

function dependentsOf(store: ObjectStore, owner: KubernetesObject): [ResourceName, KubernetesObject][] {
  const { uid, namespace } = owner.metadata;
  return DEPENDENTS.flatMap((resource) =>
    store
      .list(resource, namespace)
      .filter((object: KubernetesObject) => object.metadata.ownerReferences?.some((reference) => reference.uid === uid))
      .map((object: KubernetesObject): [ResourceName, KubernetesObject] => [resource, object]),
  );
}

function hasOwner(store: ObjectStore, object: KubernetesObject): boolean {
  return (object.metadata.ownerReferences ?? []).some(({ kind, name, uid }) => {
    const resource = OWNERS[kind];
    // The owner may be of a kind that is not known here.
    return resource === undefined || store.get(resource, object.metadata.namespace, name)?.metadata.uid === uid;
  });
}

function remove(store: ObjectStore, clock: Clock, resource: ResourceName, object: KubernetesObject): void {
  if (object.metadata.deletionTimestamp !== undefined) return;
  deleteObject(store, clock, resource, object as never, { propagationPolicy: 'Background' });
}

function orphan(store: ObjectStore, { resource, object: owner }: Change): void {
  for (const [kind, dependent] of dependentsOf(store, owner)) {
    store.update(kind, dependent.metadata.namespace, dependent.metadata.name, (current) => {
      const ownerReferences = current.metadata.ownerReferences?.filter(
        (reference) => reference.uid !== owner.metadata.uid,
      );
      return { ...current, metadata: { ...current.metadata, ownerReferences: ownerReferences ?? [] } };
    });
  }
  dropFinalizer(store, resource, owner, 'orphan');
}

function deleteInForeground(store: ObjectStore, clock: Clock, owner: KubernetesObject): void {
  const blocking = dependentsOf(store, owner).filter(([, dependent]) => blocks(dependent, owner));
  for (const [kind, dependent] of blocking) remove(store, clock, kind, dependent);
  if (blocking.length === 0) dropFinalizer(store, OWNERS[owner.kind], owner, 'foregroundDeletion');
}

function releaseForegroundOwners(store: ObjectStore, gone: KubernetesObject): void {
  for (const reference of gone.metadata.ownerReferences ?? []) {
    const resource = OWNERS[reference.kind];
    const owner = resource && store.get(resource, gone.metadata.namespace, reference.name);
    if (!owner?.metadata.finalizers?.includes('foregroundDeletion')) continue;
    const waits = dependentsOf(store, owner).some(([, dependent]) => blocks(dependent, owner));
    if (!waits) dropFinalizer(store, resource, owner, 'foregroundDeletion');
  }
}

function blocks(dependent: KubernetesObject, owner: KubernetesObject): boolean {
  const same = (reference: OwnerReference): boolean =>
    reference.uid === owner.metadata.uid && reference.blockOwnerDeletion === true;
  return dependent.metadata.ownerReferences?.some(same) ?? false;
}

function dropFinalizer(
  store: ObjectStore,
  resource: ResourceName | undefined,
  object: KubernetesObject,
  finalizer: string,
): void {
  if (!resource) return;
  const { namespace, name } = object.metadata;
  const now = store.get(resource, namespace, name);
  if (now?.metadata.uid !== object.metadata.uid || !now.metadata.finalizers?.includes(finalizer)) return;
  if (now.metadata.finalizers.length === 1) store.remove(resource, namespace, name);
  else store.update(resource, namespace, name, (current) => withoutFinalizer(current, finalizer));
}

/** The same object when it has no such finalizer. */
export function withoutFinalizer<T extends KubernetesObject>(object: T, finalizer: string): T {
  const { finalizers } = object.metadata;
  if (!finalizers?.includes(finalizer)) return object;
  const { finalizers: _, ...metadata } = object.metadata;
  const rest = finalizers.filter((name) => name !== finalizer);
  return { ...object, metadata: rest.length === 0 ? metadata : { ...metadata, finalizers: rest } };
}
