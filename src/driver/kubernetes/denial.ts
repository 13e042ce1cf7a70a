/**
 * What to do about a refusal, from the words of the API server's admission and authorization
 * (the same words come in a Job's FailedCreate events).
 */
export function suggestionsForDenial(message: string): readonly string[] {
  const rbac = parseForbidden(message);
  if (rbac !== undefined) {
    const where = rbac.namespace === undefined ? '' : ` -n ${rbac.namespace}`;
    const missing = `${rbac.verb} on ${rbac.resource}`;
    return [
      rbac.namespace === undefined
        ? `A ClusterRole must allow: ${missing}.`
        : `A Role in namespace ${rbac.namespace} must allow: ${missing}.`,
      `Check with: kubectl auth can-i ${rbac.verb} ${rbac.resource}${where}`,
    ];
  }
  for (const [pattern, suggestion] of KNOWN) if (pattern.test(message)) return [suggestion];
  return [];
}

const KNOWN: readonly (readonly [RegExp, string])[] = [
  [/exceeded quota/, 'Free some of the quota, or ask for a larger one: kubectl describe resourcequota'],
  [
    /failed quota.*must specify/,
    'The quota wants requests and limits on every container: set them with --pod-patch FILE.',
  ],
  [
    /(maximum|minimum) \S+ usage per|max limit to request ratio/,
    'The LimitRange of the namespace forbids it: kubectl describe limitrange; set resources with --pod-patch FILE.',
  ],
  [
    /violates PodSecurity/,
    'The namespace enforces a Pod Security level that the pod does not meet: use another namespace, or --run-as-user UID.',
  ],
  [
    /because it is being terminated/,
    'The namespace is being deleted: wait until it is gone, or choose another one with --namespace.',
  ],
  [
    /^namespaces "[^"]*" not found/,
    'Create the namespace with --create-namespace, or choose another one with --namespace.',
  ],
  [
    /admission webhook "[^"]*" denied/,
    'A policy of the cluster denied it: ask its administrators, or adapt the pod with --pod-patch FILE.',
  ],
  [/failed calling webhook/, 'A webhook of the cluster does not answer; its administrators must repair or remove it.'],
  [
    /error looking up service account|serviceaccount "[^"]*" not found/,
    'Create the service account, or name another one with --service-account.',
  ],
];

export interface Forbidden {
  readonly user: string;
  readonly verb: string;
  /** With its API group: `jobs.batch`; with its subresource: `pods/log`. */
  readonly resource: string;
  readonly namespace?: string;
}

/** Reads the authorizer's sentence (apiserver, responsewriters.Forbidden); undefined for any other refusal. */
export function parseForbidden(message: string): Forbidden | undefined {
  const match =
    /User "((?:[^"\\]|\\.)*)" cannot (\S+) resource "([^"]+)" in API group "([^"]*)"(?: in the namespace "([^"]*)"| at the cluster scope)?/.exec(
      message,
    );
  if (match === null) return undefined;
  const [, user = '', verb = '', resource = '', group = '', namespace] = match;
  const [kind = '', subresource] = resource.split('/');
  const full = (group === '' ? kind : `${kind}.${group}`) + (subresource === undefined ? '' : `/${subresource}`);
  return { user, verb, resource: full, ...(namespace === undefined ? {} : { namespace }) };
}
