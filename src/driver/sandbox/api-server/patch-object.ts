import { ApiError, badRequest, conflict, invalid, methodNotAllowed } from './api-error.js';
import type { ObjectStore } from './object-store.js';
import type { Job, KubernetesObject, ResourceName } from './objects.js';

type Json = Readonly<Record<string, unknown>>;

/** What may be changed of a Job here; a real server lets a little more be changed. */
const CHANGEABLE: ReadonlySet<string> = new Set(['annotations', 'labels', 'resourceVersion']);

/**
 * Merges a patch (RFC 7386) into the labels and annotations of a Job. Throws ApiError: 409 where the patch names a resource version
 * that the object no longer has, 422 where it would change anything else.
 */
export function patchObject(store: ObjectStore, resource: ResourceName, object: KubernetesObject, patch: unknown): Job {
  if (resource !== 'jobs') throw methodNotAllowed();
  if (!isObject(patch)) throw badRequest('error decoding patch: the body is no JSON object');
  const { metadata = {}, ...rest } = patch;
  if (!isObject(metadata)) throw badRequest('error decoding patch: metadata is no JSON object');
  const { name, namespace } = object.metadata;
  const fixed = [...Object.keys(rest), ...Object.keys(metadata).filter((key) => !CHANGEABLE.has(key))];
  if (fixed.length > 0) {
    const causes = fixed.map((field) => ({ reason: 'FieldValueInvalid', message: 'field is immutable', field }));
    throw invalid('Job.batch', name, causes);
  }
  const { resourceVersion, ...changes } = metadata;
  const patched = store.update('jobs', namespace, name, (job) => {
    if (resourceVersion !== undefined && resourceVersion !== job.metadata.resourceVersion) throw conflict('jobs', name);
    return { ...job, metadata: merged(job.metadata, changes) as Job['metadata'] };
  });
  if (patched === undefined) throw new ApiError(404, 'NotFound', `jobs.batch "${name}" not found`);
  return patched;
}

function merged(target: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch;
  const result: Record<string, unknown> = { ...(isObject(target) ? target : {}) };
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete result[key];
    else result[key] = merged(result[key], value);
  }
  return result;
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
