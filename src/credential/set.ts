import type { Json, JsonObject } from '../bundle/bundle.js';
import { CnabError } from '../errors.js';
import type { Yaml } from '../bundle/yaml.js';
import { parseDocument } from './document.js';

export type SetKind = 'credential' | 'parameter';

/** Where a value comes from. */
export type Source =
  | { readonly kind: 'value'; readonly value: Json }
  | { readonly kind: 'env'; readonly variable: string }
  /** `$VAR` in it is expanded. */
  | { readonly kind: 'path'; readonly path: string }
  /** Split into words like a shell does, and run without one. */
  | { readonly kind: 'command'; readonly command: string };

export interface SetEntry {
  readonly name: string;
  readonly source: Source;
  /** `FILE:LINE`, for messages. */
  readonly where: string;
}

/** A credential set or parameter set: names and where their values come from. */
export interface SourceSet {
  /** As the document calls itself. */
  readonly name?: string;
  /** No two have the same name. */
  readonly entries: readonly SetEntry[];
}

const KEYS = ['value', 'env', 'path', 'command'] as const;
const LISTS: Readonly<Record<SetKind, string>> = { credential: 'credentials', parameter: 'parameters' };
/** What documents of cnab-go and Porter have beside the list. */
const SET_KEYS = new Set([
  ...['schemaVersion', 'schemaType', 'namespace', 'name', 'created', 'modified', 'labels', 'status'],
  ...Object.values(LISTS),
]);

/**
 * Parses a credential set or a parameter set (YAML or JSON, as cnab-go and Porter write them; other keys are ignored).
 * Rejects with CnabError `invalid` that lists every problem with file and line, and quotes no value.
 */
export async function parseSet(bytes: Uint8Array, kind: SetKind, origin: string): Promise<SourceSet> {
  return readSet(await parseDocument(bytes, origin), kind, origin);
}

/** True for a document that is a set of sources rather than a map of values. */
export function isSetDocument(json: Json | undefined, kind: SetKind): boolean {
  if (!isObject(json) || !Array.isArray(json[LISTS[kind]])) return false;
  const entries = json[LISTS[kind]] as readonly Json[];
  return (
    Object.keys(json).every((key) => SET_KEYS.has(key)) && entries.every((entry) => isObject(entry) && 'name' in entry)
  );
}

/** As `parseSet`, of a document that is parsed already. Throws CnabError. */
export function readSet(document: Yaml, kind: SetKind, origin: string): SourceSet {
  const { json } = document;
  const list = LISTS[kind];
  if (!isObject(json)) throw new CnabError('invalid', `${origin} is no ${kind} set: it has no "${list}"`);
  if (json[list] === undefined)
    throw new CnabError('invalid', `${origin} is no ${kind} set: it has no "${list}"`, hint(json, kind));
  const raw = json[list] ?? [];
  if (!Array.isArray(raw)) throw new CnabError('invalid', `${origin}: "${list}" is not a list`);

  const problems: string[] = [];
  const entries = new Map<string, SetEntry>();
  for (const [at, item] of (raw as readonly Json[]).entries()) {
    const line = document.lineOf(item);
    const where = line === undefined ? origin : `${origin}:${line}`;
    const name = isObject(item) ? item['name'] : undefined;
    if (!isObject(item) || typeof name !== 'string' || name === '') {
      problems.push(`${where}: entry ${at + 1} has no "name"`);
      continue;
    }
    const source = readSource(item['source'], kind);
    if (typeof source === 'string') problems.push(`${where}: ${kind} "${name}": ${source}`);
    else if (entries.has(name))
      problems.push(`${where}: ${kind} "${name}" is there twice, first at ${entries.get(name)?.where}`);
    else entries.set(name, { name, source, where });
  }
  if (problems.length > 0)
    throw new CnabError('invalid', `the ${kind} set ${origin} is not valid:`, { details: problems });
  return { ...(typeof json['name'] === 'string' ? { name: json['name'] } : {}), entries: [...entries.values()] };
}

function hint(json: JsonObject, kind: SetKind): { readonly suggestions: readonly string[] } {
  const other: SetKind = kind === 'credential' ? 'parameter' : 'credential';
  if (!isSetDocument(json, other)) return { suggestions: [] };
  return { suggestions: [`it is a ${other} set: name it with ${other === 'credential' ? '-c' : '--params'}`] };
}

/** A source, or what is wrong with it, without its value. */
function readSource(raw: Json | undefined, kind: SetKind): Source | string {
  if (!isObject(raw)) return `it has no "source" with one of ${KEYS.join(', ')}`;
  const given = Object.entries(raw).map(([key, value]) => ({ key: key.toLowerCase(), value }));
  const [first, ...rest] = given;
  if (first === undefined) return `its source is empty: give it one of ${KEYS.join(', ')}`;
  if (rest.length > 0) return `it has several sources (${given.map(({ key }) => key).join(', ')}): keep one`;
  const { key, value } = first;
  if (key === 'secret') {
    return 'a "secret" source needs a secret store plugin of Porter, which cnab does not have: use env, path or command';
  }
  if (key === 'value') return readValue(value, kind);
  if (key !== 'env' && key !== 'path' && key !== 'command') {
    return `its source "${key}" is not known: use one of ${KEYS.join(', ')}`;
  }
  if (typeof value !== 'string' || value.trim() === '') return `its ${key} is not text`;
  if (key === 'env') return { kind: 'env', variable: value };
  return key === 'path' ? { kind: 'path', path: value } : { kind: 'command', command: value };
}

/** A number here would already have lost its leading zeros; text is what a credential is. */
function readValue(value: Json, kind: SetKind): Source | string {
  if (kind === 'credential' && typeof value !== 'string') return 'its value is not text: put it in quotes';
  return { kind: 'value', value };
}

function isObject(json: Json | undefined): json is JsonObject {
  return typeof json === 'object' && json !== null && !Array.isArray(json);
}
