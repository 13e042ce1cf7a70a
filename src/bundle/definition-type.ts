import type { Definition, Json, JsonObject } from './bundle.js';
import { own } from './own.js';

const MOST_REFERENCES = 8;

/**
 * The types that a definition declares, in its order; empty when it declares none, which allows all. A `$ref` inside the
 * definition is followed, as it stands in draft 7 for the whole schema.
 */
export function definitionTypes(definition: Definition): readonly string[] {
  let current: Json = definition;
  for (let step = 0; step < MOST_REFERENCES; step++) {
    if (!isObject(current)) return [];
    const reference: Json | undefined = own(current, '$ref');
    if (reference === undefined) {
      const type = own(current, 'type');
      const types: readonly Json[] = isList(type) ? type : [type ?? null];
      return types.filter((name): name is string => typeof name === 'string');
    }
    if (typeof reference !== 'string' || !reference.startsWith('#')) return [];
    current = resolve(definition, reference.slice(1)) ?? true;
  }
  return [];
}

/** The declared types joined by `|`; empty when untyped. */
export function definitionType(definition: Definition): string {
  return definitionTypes(definition).join('|');
}

/** True when the text of the values is base64 (`contentEncoding: base64`). */
export function isBase64Definition(definition: Definition): boolean {
  return typeof definition === 'object' && own(definition, 'contentEncoding') === 'base64';
}

/** True when the JSON value is of one of the types; no types allow all. Integral numbers are integers (draft 7). */
export function hasType(value: Json, types: readonly string[]): boolean {
  return types.length === 0 || types.some((type) => typesOf(value).includes(type));
}

function typesOf(value: Json): readonly string[] {
  if (value === null) return ['null'];
  if (Array.isArray(value)) return ['array'];
  if (typeof value === 'number') return Number.isInteger(value) ? ['integer', 'number'] : ['number'];
  return [typeof value];
}

function resolve(root: Json, pointer: string): Json | undefined {
  let current: Json | undefined = root;
  for (const raw of pointer.split('/').slice(1)) {
    if (current === null || typeof current !== 'object') return undefined;
    const key = unescape(raw);
    current = isList(current) ? current[Number(key)] : own(current, key);
  }
  return current;
}

function unescape(raw: string): string {
  let text = raw;
  try {
    text = decodeURIComponent(raw);
  } catch {
    // Not percent-encoded after all.
  }
  return text.replaceAll('~1', '/').replaceAll('~0', '~');
}

function isObject(value: Json): value is JsonObject {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}

function isList(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value);
}
