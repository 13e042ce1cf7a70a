import type { RequestInfo } from '../../src/driver/sandbox/api-server/request-info.js';

/** Which requests; what is absent matches all. `resource` as in RBAC: `pods/log`. */
export interface RequestMatch {
  readonly verb?: RequestInfo['verb'];
  readonly resource?: string;
  readonly namespace?: string;
  readonly name?: string;
  /** Value of the query's `container`. */
  readonly container?: string;
  readonly follow?: boolean;
  /** How many requests; absent: all. */
  readonly times?: number;
  /** How many matching requests pass unharmed before. */
  readonly skip?: number;
}

/** What is to happen to the requests that match. */
export interface Rule<T> {
  readonly match: RequestMatch;
  readonly fault: T;
  seen: number;
}

/** The fault of the first rule that matches and is not used up. */
export function take<T>(rules: Rule<T>[], request: RequestInfo): T | undefined {
  for (const rule of rules) {
    if (!matches(rule.match, request)) continue;
    rule.seen += 1;
    const { skip = 0, times = Infinity } = rule.match;
    if (rule.seen > skip && rule.seen <= skip + times) return rule.fault;
  }
  return undefined;
}

export function matches(
  match: RequestMatch,
  request: Omit<RequestInfo, 'path' | 'query'> & { query?: URLSearchParams },
): boolean {
  const { verb, resource, namespace, name, container, follow } = match;
  const asked = request.subresource === '' ? request.resource : `${request.resource}/${request.subresource}`;
  return (
    (verb === undefined || verb === request.verb) &&
    (resource === undefined || resource === asked) &&
    (namespace === undefined || namespace === request.namespace) &&
    (name === undefined || name === request.name) &&
    (container === undefined || container === request.query?.get('container')) &&
    (follow === undefined || follow === ['1', 'true'].includes(request.query?.get('follow') ?? ''))
  );
}
