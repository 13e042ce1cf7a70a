import { RESOURCES, type ResourceName } from './objects.js';

export type Verb = 'get' | 'list' | 'watch' | 'create' | 'patch' | 'delete' | 'deletecollection';

/** What a request is about, as an authorizer sees it. */
export interface RequestInfo {
  readonly verb: Verb;
  /** '' for the core group. */
  readonly group: string;
  /** Plural; also of kinds that are only asked, like `selfsubjectaccessreviews`. '' for paths outside the API. */
  readonly resource: string;
  /** `log`; '' when there is none. */
  readonly subresource: string;
  readonly namespace?: string;
  readonly name?: string;
  readonly path: string;
  readonly query: URLSearchParams;
}

/** Undefined for a method that no resource has. Segments are decoded; a malformed one makes the path unknown. */
export function requestInfo(method: string, target: string): RequestInfo | undefined {
  if (!target.startsWith('/')) return undefined;
  const url = new URL(`http://localhost${target}`);
  const query = url.searchParams;
  const parts = decoded(url.pathname);
  const path = url.pathname;
  const unknown = { group: '', resource: '', subresource: '', path, query };
  const [root, ...rest] = parts;
  const at = root === 'api' ? rest.slice(1) : root === 'apis' ? rest.slice(2) : undefined;
  const version = root === 'api' ? rest[0] : rest[1];
  if (at === undefined || version !== 'v1' || at.length === 0) {
    return method === 'GET' || method === 'HEAD' ? { verb: 'get', ...unknown } : undefined;
  }
  const group = root === 'api' ? '' : (rest[0] ?? '');
  const scoped = at[0] === 'namespaces' && at.length > 2;
  const [resource = '', name, subresource = ''] = scoped ? at.slice(2) : at;
  const namespace = scoped ? at[1] : undefined;
  const verb = verbOf(method, name !== undefined, query.get('watch'));
  if (!verb) return undefined;
  const where = { ...(namespace === undefined ? {} : { namespace }), ...(name === undefined ? {} : { name }) };
  return { verb, group, resource, subresource, ...where, path, query };
}

function decoded(path: string): string[] {
  try {
    return path.split('/').slice(1).map(decodeURIComponent);
  } catch {
    return [];
  }
}

function verbOf(method: string, named: boolean, watch: string | null): Verb | undefined {
  switch (method) {
    case 'GET':
    case 'HEAD':
      if (named) return 'get';
      return watch !== null && watch !== '0' && watch !== 'false' ? 'watch' : 'list';
    case 'POST':
      return 'create';
    case 'PATCH':
      return named ? 'patch' : undefined;
    case 'DELETE':
      return named ? 'delete' : 'deletecollection';
    default:
      return undefined;
  }
}

/** The stored kind that a request is about, if it is one. */
export function resourceOf(info: Pick<RequestInfo, 'group' | 'resource'>): ResourceName | undefined {
  const known = Object.hasOwn(RESOURCES, info.resource) ? RESOURCES[info.resource as ResourceName] : undefined;
  return known?.group === info.group ? known.name : undefined;
}
