import { randomUUID } from 'node:crypto';
import { badRequest, methodNotAllowed, notFound } from './api-error.js';
import type { Cluster } from './cluster.js';
import { jobDraft, namespaceDraft, secretDraft, withName } from './defaults.js';
import { RESOURCES, type KubernetesObject, type ObjectMeta, type ResourceName } from './objects.js';
import { podSecurityWarning } from './pod-admission.js';
import { decode } from './decode.js';
import { validate } from './validation.js';
import type { RequestInfo } from './request-info.js';

const NEGATIVE_GRACE =
  'spec.template.spec.terminationGracePeriodSeconds: must be >= 0; negative values are invalid and will be treated as 1';

export interface Created {
  readonly body: unknown;
  readonly warnings: readonly string[];
}

/** Decodes, checks, completes and stores an object. Throws ApiError 400, 403, 404, 409 or 422. */
export function createObject(cluster: Cluster, resource: ResourceName, info: RequestInfo, body: unknown): Created {
  // Pods are the Job controller's to make here.
  if (resource === 'events' || resource === 'pods' || resource === 'configmaps') throw methodNotAllowed();
  const { object, warnings } = decode(resource, body, info.query.get('fieldValidation'));
  const metadata = (object['metadata'] ?? {}) as Partial<ObjectMeta>;
  const { namespace } = info;
  if (namespace !== undefined && metadata.namespace !== undefined && metadata.namespace !== namespace) {
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request');
  }
  const found = namespace === undefined ? undefined : cluster.store.get('namespaces', undefined, namespace);
  if (RESOURCES[resource].namespaced && !found) throw notFound('namespaces', namespace ?? '');
  const named = withName(object);
  const admitted = cluster.faults.admit?.(resource, named) ?? named;
  validate(resource, admitted);
  const extra: string[] = [];
  let created: KubernetesObject;
  const { store } = cluster;
  if (resource === 'namespaces') {
    created = store.create('namespaces', namespaceDraft(admitted));
  } else if (resource === 'secrets') {
    created = store.create('secrets', secretDraft(admitted, namespace ?? ''));
  } else {
    const draft = jobDraft(admitted, namespace ?? '', randomUUID());
    const grace = draft.spec.template.spec.terminationGracePeriodSeconds ?? 0;
    if (grace < 0) extra.push(NEGATIVE_GRACE);
    const warning = found && podSecurityWarning(found, draft.spec.template.spec);
    if (warning !== undefined) extra.push(warning);
    created = store.create('jobs', draft);
  }
  return { body: created, warnings: [...warnings, ...extra] };
}
