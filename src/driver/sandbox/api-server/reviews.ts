import { badRequest } from './api-error.js';
import type { Faults } from './faults.js';
import { resourceOf, type Verb } from './request-info.js';

export const USER_NAME = 'sandbox';

/**
 * Answers SelfSubjectAccessReview: whether a request like that would be let through. What is not served here (exec)
 * is denied, so that nobody counts on it.
 */
export function accessReview(body: Readonly<Record<string, unknown>>, faults: Faults): unknown {
  const spec = (body['spec'] ?? {}) as { readonly resourceAttributes?: Readonly<Record<string, string>> };
  const asked = spec.resourceAttributes;
  if (!asked) throw badRequest('spec.resourceAttributes: Required value: only resourceAttributes are answered here');
  const { verb = '', group = '', resource = '', subresource = '', namespace, name } = asked;
  const where = { ...(namespace ? { namespace } : {}), ...(name ? { name } : {}) };
  const request = { verb: verb as Verb, group, resource, subresource, ...where };
  const served =
    resourceOf(request) !== undefined && (subresource === '' || `${resource}/${subresource}` === 'pods/log');
  const allowed = served && (faults.allows?.(request) ?? true);
  const metadata = {};
  const apiVersion = 'authorization.k8s.io/v1';
  return { kind: 'SelfSubjectAccessReview', apiVersion, metadata, spec, status: { allowed } };
}

/** GET /version of the release whose behaviour is modelled. */
export const VERSION = {
  major: '1',
  minor: '37',
  gitVersion: 'v1.37.2+sandbox',
  gitCommit: '',
  gitTreeState: '',
  buildDate: '1970-01-01T00:00:00Z',
  goVersion: '',
  compiler: '',
  platform: '',
};
