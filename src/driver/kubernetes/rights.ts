import { CnabError } from '../../errors.js';
import type { KubernetesApi } from './api.js';
import { suggestionsForDenial } from './denial.js';
import { KubernetesError } from './kubernetes-error.js';

interface AccessReview {
  readonly status?: { readonly allowed?: boolean; readonly reason?: string };
}

/**
 * Asks for the one right whose lack would show only after the bundle has run: without the pods' logs there are no outputs.
 * All others are refused by themselves before anything runs. Rejects with CnabError `unavailable` when it is lacking.
 */
export async function checkRights(api: KubernetesApi, namespace: string, signal: AbortSignal): Promise<void> {
  const body = {
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SelfSubjectAccessReview',
    spec: { resourceAttributes: { namespace, verb: 'get', resource: 'pods', subresource: 'log' } },
  };
  let review: AccessReview;
  try {
    const path = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews';
    review = (await api.create<AccessReview>(path, body, { doing: 'ask for the right to read logs', signal })).object;
  } catch (error) {
    // A cluster that does not answer this question is not asked again; the reading itself will tell.
    if (error instanceof KubernetesError && !error.transient) return;
    throw error;
  }
  if (review.status?.allowed !== false) return;
  // In the authorizer's own words, which the suggestions are made from.
  const denial = `User "${api.connection.user ?? ''}" cannot get resource "pods/log" in API group "" in the namespace "${namespace}"`;
  throw new CnabError(
    'unavailable',
    `the logs of pods in namespace ${namespace} may not be read, and outputs come that way, so nothing was run`,
    { suggestions: suggestionsForDenial(denial) },
  );
}
