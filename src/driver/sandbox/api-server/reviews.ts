import { ApiError, badRequest } from './api-error.js';
import { mayAccess, rulesIn } from './authorization.js';
import type { Faults } from './faults.js';
import type { Verb } from './request-info.js';

const GROUP = 'authorization.k8s.io';
type Given = Readonly<Record<string, unknown>>;

/** Answers the two reviews of one's own rights; undefined for others. Throws ApiError 400 or 422. */
export function review(resource: string, body: Given, faults: Faults): unknown {
  const spec = (body['spec'] ?? {}) as Given;
  const apiVersion = `${GROUP}/v1`;
  const metadata = {};
  if (resource === 'selfsubjectaccessreviews') {
    return {
      kind: 'SelfSubjectAccessReview',
      apiVersion,
      metadata,
      spec,
      status: { allowed: isAllowed(spec, faults) },
    };
  }
  if (resource !== 'selfsubjectrulesreviews') return undefined;
  const { namespace } = spec;
  if (typeof namespace !== 'string' || namespace === '') throw badRequest('no namespace on request');
  const status = { resourceRules: rulesIn(namespace, faults), nonResourceRules: [], incomplete: false };
  // A real server gives the spec back empty.
  return { kind: 'SelfSubjectRulesReview', apiVersion, metadata, spec: {}, status: { ...status, ...faults.rules?.() } };
}

function isAllowed(spec: Given, faults: Faults): boolean {
  const asked = spec['resourceAttributes'] as Readonly<Record<string, string>> | undefined;
  if (spec['nonResourceAttributes'] !== undefined && asked === undefined) return true;
  if (asked === undefined) {
    const message = 'Invalid value: null: exactly one of nonResourceAttributes or resourceAttributes must be specified';
    const details = { group: GROUP, causes: [{ reason: 'FieldValueInvalid', message, field: 'spec' }] };
    throw new ApiError(422, 'Invalid', `.${GROUP} "" is invalid: spec: ${message}`, details);
  }
  const { verb = '', group = '', resource = '', subresource = '', namespace, name } = asked;
  const where = { ...(namespace ? { namespace } : {}), ...(name ? { name } : {}) };
  return mayAccess({ verb: verb as Verb, group, resource, subresource, ...where }, faults);
}
