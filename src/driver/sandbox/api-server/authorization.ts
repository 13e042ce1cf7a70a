import { forbidden } from './api-error.js';
import type { Faults } from './faults.js';
import { RESOURCES, type ResourceName } from './objects.js';
import type { RequestInfo } from './request-info.js';

/** The one user: whoever has the token. */
export const USER_NAME = 'sandbox';

export type Access = Pick<RequestInfo, 'verb' | 'group' | 'resource' | 'subresource' | 'namespace' | 'name'>;

const VERBS = ['get', 'list', 'watch', 'create', 'delete'] as const;
/** Who is on a run stands in an annotation of its Job; nothing else can be changed. */
const isPatchable = (resource: string): boolean => resource === 'jobs';
/** All that is served, as RBAC names it: `pods`, `pods/log`. */
const SERVED: readonly { readonly group: string; readonly resource: string }[] = [
  ...Object.values(RESOURCES).map(({ group, name }) => ({ group, resource: name })),
  { group: '', resource: 'pods/log' },
  { group: '', resource: 'pods/exec' },
];

/** What the user may do in a namespace, as RBAC's rules. What is not served is in none, so that nobody counts on it. */
export function rulesIn(namespace: string, faults: Faults): readonly Rule[] {
  const rules = SERVED.map(({ group, resource: full }) => {
    const [resource = '', subresource = ''] = full.split('/');
    const may = (verb: Access['verb']): boolean =>
      faults.allows?.({ verb, group, resource, subresource, namespace }) ?? true;
    const verbs = isPatchable(full) ? [...VERBS, 'patch' as const] : VERBS;
    return { verbs: verbs.filter(may), apiGroups: [group], resources: [full] };
  });
  return rules.filter(({ verbs }) => verbs.length > 0);
}

interface Rule {
  readonly verbs: readonly string[];
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
}

/** Whether a request like that would be let through. */
export function mayAccess(asked: Access, faults: Faults): boolean {
  const full = asked.subresource === '' ? asked.resource : `${asked.resource}/${asked.subresource}`;
  const isServed =
    SERVED.some(({ group, resource }) => group === asked.group && resource === full) &&
    (VERBS.some((verb) => verb === asked.verb) || (asked.verb === 'patch' && isPatchable(full)));
  return isServed && (faults.allows?.(asked) ?? true);
}

/** Throws ApiError 403. An exec needs two rights: a WebSocket begins with GET, and since 1.35 it must be allowed to create, too. */
export function authorize(faults: Faults, info: RequestInfo): void {
  if (info.resource === '') return;
  const { verb, group, resource, subresource, namespace, name = '' } = info;
  if (!(faults.allows?.(info) ?? true)) {
    const what = subresource === '' ? resource : `${resource}/${subresource}`;
    const where = namespace === undefined ? 'at the cluster scope' : `in the namespace "${namespace}"`;
    const problem = `User "${USER_NAME}" cannot ${verb} resource "${what}" in API group "${group}" ${where}`;
    throw forbidden(resource as ResourceName, name, problem);
  }
  const isExec = resource === 'pods' && subresource === 'exec' && verb === 'get';
  // This check has no words of its own, in a real server either.
  if (isExec && !(faults.allows?.({ ...info, verb: 'create' }) ?? true)) throw forbidden('pods', name, '');
}
