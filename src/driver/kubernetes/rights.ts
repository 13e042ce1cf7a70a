import { CnabError } from '../../errors.js';
import type { KubernetesApi } from './api.js';
import { KubernetesError } from './kubernetes-error.js';

/** A right in the namespace of a run, as RBAC has it. */
export interface Right {
  readonly verb: string;
  /** API group; empty for the core one. */
  readonly group: string;
  /** With its subresource: `pods/log`. */
  readonly resource: string;
}

/**
 * What a run cannot do without; the README's Role has these, and `list` on events and `get` on the namespace, which only
 * make it tell more. Some are needed only when the bundle has run, or when it is stopped: too late to be refused.
 */
export const RIGHTS: readonly Right[] = [
  { verb: 'create', group: 'batch', resource: 'jobs' },
  { verb: 'get', group: 'batch', resource: 'jobs' },
  { verb: 'delete', group: 'batch', resource: 'jobs' },
  { verb: 'create', group: '', resource: 'secrets' },
  { verb: 'list', group: '', resource: 'pods' },
  { verb: 'watch', group: '', resource: 'pods' },
  { verb: 'delete', group: '', resource: 'pods' },
  { verb: 'get', group: '', resource: 'pods/log' },
];

const REVIEWS = '/apis/authorization.k8s.io/v1';

interface Rule {
  readonly verbs?: readonly string[];
  readonly apiGroups?: readonly string[];
  readonly resources?: readonly string[];
  readonly resourceNames?: readonly string[];
}

/**
 * Rejects with CnabError `unavailable` that names every right which is lacking, before anything is created. One question
 * for all rules; what they do not show is asked for one by one, because not every authorizer can list its rules.
 */
export async function checkRights(api: KubernetesApi, namespace: string, signal: AbortSignal): Promise<void> {
  const rules = await rulesIn(api, namespace, signal);
  const unseen = RIGHTS.filter((right) => !rules.some((rule) => allows(rule, right)));
  const denied = await Promise.all(unseen.map((right) => isDenied(api, namespace, right, signal)));
  const missing = unseen.filter((_, index) => denied[index] === true);
  if (missing.length === 0) return;
  const { user } = api.connection;
  const who = user === undefined ? 'this user' : `user "${user}"`;
  const what = missing.map(({ verb, ...right }) => `${verb} ${fullName(right)}`).join(', ');
  throw new CnabError(
    'unavailable',
    `${who} may not ${what} in namespace ${namespace}, and a run needs it, so nothing was run`,
    {
      suggestions: missing.flatMap(({ verb, ...right }) => [
        `A Role in namespace ${namespace} must allow: ${verb} on ${fullName(right)}.`,
        `Check with: kubectl auth can-i ${verb} ${fullName(right)} -n ${namespace}`,
      ]),
    },
  );
}

/** Empty where the cluster does not answer this. */
async function rulesIn(api: KubernetesApi, namespace: string, signal: AbortSignal): Promise<readonly Rule[]> {
  interface Review {
    readonly status?: { readonly resourceRules?: readonly Rule[] };
  }
  const spec = { namespace };
  const review = await ask<Review>(api, 'SelfSubjectRulesReview', spec, signal);
  return review?.status?.resourceRules ?? [];
}

async function isDenied(api: KubernetesApi, namespace: string, right: Right, signal: AbortSignal): Promise<boolean> {
  interface Review {
    readonly status?: { readonly allowed?: boolean };
  }
  const [resource, subresource] = right.resource.split('/');
  const { verb, group } = right;
  const attributes = { namespace, verb, group, resource, ...(subresource === undefined ? {} : { subresource }) };
  const review = await ask<Review>(api, 'SelfSubjectAccessReview', { resourceAttributes: attributes }, signal);
  return review?.status?.allowed === false;
}

/** A cluster that does not answer such a question is not asked again; the request itself will tell. */
async function ask<T>(
  api: KubernetesApi,
  kind: 'SelfSubjectRulesReview' | 'SelfSubjectAccessReview',
  spec: object,
  signal: AbortSignal,
): Promise<T | undefined> {
  const body = { apiVersion: 'authorization.k8s.io/v1', kind, spec };
  try {
    const path = `${REVIEWS}/${kind.toLowerCase()}s`;
    return (await api.create<T>(path, body, { doing: 'ask for the rights that a run needs', signal })).object;
  } catch (error) {
    if (error instanceof KubernetesError && !error.transient) return undefined;
    throw error;
  }
}

/** As RBAC's authorizer reads a rule (k8s.io/component-helpers, `RuleAllows`); one for single names does not count. */
function allows({ verbs = [], apiGroups = [], resources = [], resourceNames = [] }: Rule, right: Right): boolean {
  const [, subresource] = right.resource.split('/');
  const names = ['*', right.resource, ...(subresource === undefined ? [] : [`*/${subresource}`])];
  return (
    resourceNames.length === 0 &&
    ['*', right.verb].some((verb) => verbs.includes(verb)) &&
    ['*', right.group].some((group) => apiGroups.includes(group)) &&
    names.some((name) => resources.includes(name))
  );
}

/** As kubectl takes it: `jobs.batch`, `pods/log`. */
function fullName({ group, resource }: Omit<Right, 'verb'>): string {
  return group === '' ? resource : `${resource}.${group}`;
}
