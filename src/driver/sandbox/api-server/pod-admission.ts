import { forbidden, notFound } from './api-error.js';
import type { Faults } from './faults.js';
import { podSecurityViolations } from './pod-security.js';
import type { Namespace } from './objects.js';
import type { Pod } from './pod-objects.js';
import type { Draft, ObjectStore } from './object-store.js';

const ENFORCE = 'pod-security.kubernetes.io/enforce';
const WARN = 'pod-security.kubernetes.io/warn';

/**
 * Creates a pod that passes admission: its service account is there, the Pod Security level of its namespace allows it.
 * Throws ApiError 403 or 404 otherwise.
 */
export function createPod(
  store: ObjectStore,
  serviceAccounts: readonly string[],
  faults: Faults,
  draft: Draft<Pod>,
): Pod {
  const { namespace = '', generateName, name } = draft.metadata;
  const found = store.get('namespaces', undefined, namespace);
  if (!found) throw notFound('namespaces', namespace);
  // A controller's pod has no name yet when it is refused.
  const shown = generateName ?? name;
  const account = draft.spec.serviceAccountName ?? 'default';
  if (!serviceAccounts.includes(account)) {
    const problem = `error looking up service account ${namespace}/${account}: serviceaccount "${account}" not found`;
    throw forbidden('pods', shown, problem);
  }
  const level = found.metadata.labels?.[ENFORCE];
  const violations = podSecurityViolations(level, draft.spec);
  if (violations.length > 0) {
    throw forbidden('pods', shown, `violates PodSecurity "${level}:latest": ${violations.join(', ')}`);
  }
  const pod = { ...draft, spec: { ...draft.spec, serviceAccountName: account } };
  const admitted = faults.admit ? (faults.admit('pods', pod) as unknown as Draft<Pod>) : pod;
  return store.create('pods', admitted);
}

/** The Warning header for a Job whose pods the namespace will refuse or warn of. */
export function podSecurityWarning(namespace: Namespace, spec: Pod['spec']): string | undefined {
  const { labels = {} } = namespace.metadata;
  const level = labels[WARN] ?? labels[ENFORCE];
  const violations = podSecurityViolations(level, spec);
  return violations.length === 0 ? undefined : `would violate PodSecurity "${level}:latest": ${violations.join(', ')}`;
}
