import type { Json, JsonObject } from '../../bundle/bundle.js';

/** How a kind's lists are merged: by `patchStrategy` and `patchMergeKey` in k8s.io/api. What is not named here is atomic. */
export interface MergeSchema {
  /** Lists of objects, by the member that tells their items apart. */
  readonly lists?: Readonly<Record<string, { readonly key: string; readonly items?: MergeSchema }>>;
  /** Lists of plain values that are merged as sets. */
  readonly sets?: readonly string[];
  readonly objects?: Readonly<Record<string, MergeSchema>>;
}

/** A patch that cannot be applied; `path` is the place in it: `spec.containers[0]`. */
export class MergeError extends Error {
  override readonly name = 'MergeError';

  constructor(
    readonly path: string,
    problem: string,
  ) {
    super(`${path} ${problem}`);
  }
}

const PATCH = '$patch';
const RETAIN_KEYS = '$retainKeys';
const DELETE_FROM = '$deleteFromPrimitiveList/';

/**
 * Kubernetes' strategic merge patch: objects member by member, `null` deletes, lists of objects by their key where the
 * schema has one, every other list as a whole; `$patch: delete|replace|merge`, `$retainKeys` and
 * `$deleteFromPrimitiveList/NAME` as `kubectl patch` knows them. Pure: neither argument is changed. Throws MergeError.
 */
export function strategicMerge(original: JsonObject, patch: JsonObject, schema: MergeSchema, path = ''): JsonObject {
  const directive = directiveOf(patch, path);
  if (directive === 'delete') return {};
  const merged = new Map<string, Json>(directive === 'replace' ? [] : Object.entries(original));
  for (const [name, value] of Object.entries(patch)) {
    const place = path === '' ? name : `${path}.${name}`;
    if (name === PATCH || name === RETAIN_KEYS) continue;
    if (name.startsWith(DELETE_FROM)) removeValues(merged, name.slice(DELETE_FROM.length), value, place);
    else if (name.startsWith('$')) throw new MergeError(place, 'is a directive that is not known here');
    else if (value === null) merged.delete(name);
    else merged.set(name, mergeMember(merged.get(name), value, schema, name, place));
  }
  retainKeys(merged, patch[RETAIN_KEYS], path);
  return Object.fromEntries(merged);
}

function mergeMember(original: Json | undefined, patch: Json, schema: MergeSchema, name: string, path: string): Json {
  const list = own(schema.lists, name);
  if (list !== undefined) {
    const items = original ?? [];
    if (!isList(patch)) throw new MergeError(path, 'must be a list');
    return mergeList(isList(items) ? items : [], patch, list, path);
  }
  if (schema.sets?.includes(name) === true && isList(patch)) {
    const values = isList(original) ? original : [];
    return [...values, ...patch.filter((value) => !values.includes(value))];
  }
  if (!isObject(patch)) return patch;
  return strategicMerge(isObject(original) ? original : {}, patch, own(schema.objects, name) ?? {}, path);
}

function mergeList(
  original: readonly Json[],
  patch: readonly Json[],
  { key, items = {} }: { readonly key: string; readonly items?: MergeSchema },
  path: string,
): readonly Json[] {
  const parts = patch.map((part, index) => {
    const place = `${path}[${index}]`;
    if (!isObject(part)) throw new MergeError(place, 'must be an object');
    return { part, place, directive: directiveOf(part, place) };
  });
  let merged: readonly Json[] = parts.some(({ directive }) => directive === 'replace') ? [] : original;
  for (const { part, place, directive } of parts) {
    const value = part[key];
    if (directive === 'replace') {
      if (Object.keys(part).length === 1) continue;
      // `kubectl patch` takes it for the whole list too, and drops the rest of the item without a word.
      throw new MergeError(
        place,
        `has ${PATCH}: replace beside other members: it speaks of the whole list, as an item of its own`,
      );
    }
    if (value === undefined || value === null || typeof value === 'object') {
      throw new MergeError(place, `has no ${JSON.stringify(key)}, by which the items of this list are told apart`);
    }
    const isNamed = (item: Json): boolean => isObject(item) && item[key] === value;
    if (directive === 'delete') merged = merged.filter((item) => !isNamed(item));
    else if (!merged.some(isNamed)) merged = [...merged, strategicMerge({}, part, items, place)];
    else
      merged = merged.map((item) =>
        isObject(item) && isNamed(item) ? strategicMerge(item, part, items, place) : item,
      );
  }
  return merged;
}

function directiveOf(patch: JsonObject, path: string): 'merge' | 'replace' | 'delete' {
  const directive = patch[PATCH] ?? 'merge';
  if (directive === 'merge' || directive === 'replace' || directive === 'delete') return directive;
  throw new MergeError(path === '' ? PATCH : `${path}.${PATCH}`, 'must be merge, replace or delete');
}

function retainKeys(merged: Map<string, Json>, retained: Json | undefined, path: string): void {
  if (retained === undefined) return;
  if (!isList(retained)) throw new MergeError(path === '' ? RETAIN_KEYS : `${path}.${RETAIN_KEYS}`, 'must be a list');
  for (const name of [...merged.keys()]) if (!retained.includes(name)) merged.delete(name);
}

function removeValues(merged: Map<string, Json>, name: string, values: Json, path: string): void {
  if (!isList(values)) throw new MergeError(path, 'must be a list');
  const list = merged.get(name);
  if (isList(list))
    merged.set(
      name,
      list.filter((value) => !values.includes(value)),
    );
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isList(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value);
}

/** A patch may hold any name, `constructor` too. */
function own<T>(record: Readonly<Record<string, T>> | undefined, name: string): T | undefined {
  return record !== undefined && Object.hasOwn(record, name) ? record[name] : undefined;
}
