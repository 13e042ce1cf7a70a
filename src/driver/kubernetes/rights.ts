import { setMaxListeners } from 'node:events';
import { CnabError } from '../../errors.js';
import type { KubernetesApi } from './api.js';
import { checkWith } from './kubectl.js';
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
 * By exec come outputs that are large or sensitive. A WebSocket is opened with GET; since Kubernetes 1.35 its exec needs
 * `create` as well (AuthorizePodWebsocketUpgradeCreatePermission).
 */
const EXEC_RIGHTS: readonly Right[] = [
  { verb: 'get', group: '', resource: 'pods/exec' },
  { verb: 'create', group: '', resource: 'pods/exec' },
];

/** By a patch of its Job a process tells that it is on a run, and lives. */
const PATCH_JOBS: Right = { verb: 'patch', group: 'batch', resource: 'jobs' };

/**
 * Rejects with CnabError `unavailable` that names every right which is lacking, before anything is created. One question
 * for all rules; what they do not show is asked for one by one, because not every authorizer can list its rules.
 * `mayExec`: as far as the cluster says so; always false where `asksForExec` is. `mayPatchJobs`: likewise.
 */
export async function checkRights(
  api: KubernetesApi,
  namespace: string,
  asksForExec: boolean,
  signal: AbortSignal,
): Promise<{ readonly mayExec: boolean; readonly mayPatchJobs: boolean }> {
  const { rules, areAll } = await rulesIn(api, namespace, signal);
  const isUnseen = (right: Right): boolean => !rules.some((rule) => allows(rule, right));
  const unseen = RIGHTS.filter(isUnseen);
  const optional = [...(asksForExec ? EXEC_RIGHTS : []), PATCH_JOBS];
  const unseenOptional = optional.filter(isUnseen);
  const [answers, optionalAnswers] = await forManyListeners(signal, (ofAll) => {
    const answer = (right: Right): Promise<boolean | undefined> => isAllowed(api, namespace, right, ofAll);
    return Promise.all([
      Promise.all(unseen.map(answer)),
      // A run can do without them, so the list is believed where it says that it is whole.
      areAll ? unseenOptional.map(() => false) : Promise.all(unseenOptional.map(answer)),
    ]);
  });
  const denied = unseenOptional.filter((_, index) => optionalAnswers[index] !== true);
  const mayExec = asksForExec && !EXEC_RIGHTS.some((right) => denied.includes(right));
  const mayPatchJobs = !denied.includes(PATCH_JOBS);
  const missing = unseen.filter((_, index) => answers[index] === false);
  if (missing.length === 0) return { mayExec, mayPatchJobs };
  const { connection } = api;
  const { user } = connection;
  const who = user === undefined ? 'this user' : `user "${user}"`;
  const what = missing.map(({ verb, ...right }) => `${verb} ${fullName(right)}`).join(', ');
  throw new CnabError(
    'unavailable',
    `${who} may not ${what} in namespace ${namespace}, and a run needs it, so nothing was run`,
    {
      suggestions: [
        `A Role in namespace ${namespace} must allow it, with these rules:`,
        ...rulesToPaste(missing),
        ...checkWith(connection, namespace, ...askedOf(missing)),
      ],
    },
  );
}

/** As a Role has them: one rule for each resource. */
function rulesToPaste(rights: readonly Right[]): readonly string[] {
  const rules = new Map<string, readonly Right[]>();
  for (const right of rights) {
    const name = fullName(right);
    rules.set(name, [...(rules.get(name) ?? []), right]);
  }
  return [...rules.values()].flatMap(([first, ...others]) => {
    if (first === undefined) return [];
    const verbs = [first, ...others].map(({ verb }) => verb).join(', ');
    return [`  - apiGroups: ['${first.group}']`, `    resources: [${first.resource}]`, `    verbs: [${verbs}]`];
  });
}

/** Of several rights the list is shorter to read than one question for each. */
function askedOf([first, ...others]: readonly Right[]): readonly string[] {
  if (first === undefined) return [];
  return others.length > 0 ? ['--list'] : [`${first.verb} ${fullName(first)}`];
}

/** Ten requests at a time listen to one signal, and Node warns of a leak from the eleventh listener on. */
async function forManyListeners<T>(outer: AbortSignal, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const inner = new AbortController();
  setMaxListeners(0, inner.signal);
  const onAbort = (): void => inner.abort(outer.reason);
  outer.addEventListener('abort', onAbort, { once: true });
  if (outer.aborted) onAbort();
  try {
    return await work(inner.signal);
  } finally {
    outer.removeEventListener('abort', onAbort);
  }
}

/** Empty where the cluster does not answer this. `areAll`: there is no right that they do not show. */
async function rulesIn(
  api: KubernetesApi,
  namespace: string,
  signal: AbortSignal,
): Promise<{ readonly rules: readonly Rule[]; readonly areAll: boolean }> {
  interface Review {
    readonly status?: { readonly resourceRules?: readonly Rule[]; readonly incomplete?: boolean };
  }
  const review = await ask<Review>(api, 'SelfSubjectRulesReview', { namespace }, signal);
  return { rules: review?.status?.resourceRules ?? [], areAll: review?.status?.incomplete === false };
}

/** Undefined where the cluster does not answer this. */
async function isAllowed(
  api: KubernetesApi,
  namespace: string,
  right: Right,
  signal: AbortSignal,
): Promise<boolean | undefined> {
  interface Review {
    readonly status?: { readonly allowed?: boolean };
  }
  const [resource, subresource] = right.resource.split('/');
  const { verb, group } = right;
  const attributes = { namespace, verb, group, resource, ...(subresource === undefined ? {} : { subresource }) };
  const review = await ask<Review>(api, 'SelfSubjectAccessReview', { resourceAttributes: attributes }, signal);
  return review?.status?.allowed;
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
