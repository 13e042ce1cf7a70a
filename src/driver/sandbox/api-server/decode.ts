import { badRequest } from './api-error.js';
import { RESOURCES } from './objects.js';
import { SCHEMAS, type CreatedName, type Schema } from './schema.js';

export interface Decoded {
  readonly object: Readonly<Record<string, unknown>>;
  readonly warnings: readonly string[];
}

/**
 * Decodes the body of a create request: wrong types are refused, unknown fields dropped with a warning (refused with
 * `fieldValidation=Strict`), null is as good as absent. Throws ApiError 400.
 */
export function decode(resource: CreatedName, body: unknown, fieldValidation: string | null): Decoded {
  const { kind, apiVersion } = RESOURCES[resource];
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw badRequest(`the object provided is unrecognized (must be of type ${kind}): couldn't get version/kind`);
  }
  const given = body as Readonly<Record<string, unknown>>;
  const refuse = (problem: string): never => {
    throw badRequest(`${kind} in version "v1" cannot be handled as a ${kind}: ${problem}`);
  };
  const named = given['kind'];
  if (named !== undefined && named !== kind) {
    const shown = typeof named === 'string' ? named : 'unknown';
    throw badRequest(
      `${shown} in version "v1" cannot be handled as a ${kind}: converting (v1.${shown}) to (${kind}): unknown conversion`,
    );
  }
  const version = given['apiVersion'];
  if (version !== undefined && version !== apiVersion) {
    const shown = typeof version === 'string' ? version : 'unknown';
    throw badRequest(
      `${kind} in version "${shown.split('/').at(-1)}" cannot be handled as a ${kind}: no kind "${kind}" is registered for version "${shown}" in scheme`,
    );
  }
  const unknown: string[] = [];
  const object = decodeValue(given, SCHEMAS[resource], { path: '', field: '', owner: '', unknown, refuse });
  const sentences = unknown.map((path) => `unknown field ${JSON.stringify(path)}`);
  if (fieldValidation === 'Strict' && sentences.length > 0) refuse(`strict decoding error: ${sentences.join(', ')}`);
  const warnings = fieldValidation === 'Ignore' ? [] : sentences;
  return { object: object as Record<string, unknown>, warnings };
}

const QUANTITY = /^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$/;

interface Place {
  /** With indices, for unknown fields. */
  readonly path: string;
  /** Without, as Go's json names it. */
  readonly field: string;
  readonly owner: string;
  readonly unknown: string[];
  readonly refuse: (problem: string) => never;
}

function decodeValue(value: unknown, schema: Schema, place: Place): unknown {
  if (typeof schema === 'string') return decodeScalar(value, schema, place);
  if ('list' in schema) {
    if (!Array.isArray(value)) return mismatch(value, `[]${goName(schema.list)}`, place);
    return value.map((entry, index) => decodeValue(entry, schema.list, { ...place, path: `${place.path}[${index}]` }));
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return mismatch(value, goName(schema), place);
  }
  const entries = Object.entries(value).filter(([, entry]) => entry !== null);
  const below = (key: string, owner: string): Place => ({
    ...place,
    owner,
    path: place.path === '' ? key : `${place.path}.${key}`,
    field: place.field === '' ? key : `${place.field}.${key}`,
  });
  if ('map' in schema) {
    // Go names the map, not the key.
    const at = (key: string): Place => ({ ...below(key, place.owner), field: place.field });
    return fromEntries(entries.map(([key, entry]) => [key, decodeValue(entry, schema.map, at(key))]));
  }
  const known: [string, unknown][] = [];
  for (const [key, entry] of entries) {
    const field = Object.hasOwn(schema.fields, key) ? schema.fields[key] : undefined;
    if (field === undefined) place.unknown.push(below(key, '').path);
    else known.push([key, decodeValue(entry, field, below(key, schema.struct))]);
  }
  return fromEntries(known);
}

/** A key named `__proto__` becomes a key, not a prototype. */
function fromEntries(entries: readonly (readonly [string, unknown])[]): Record<string, unknown> {
  return Object.fromEntries(entries);
}

function decodeScalar(value: unknown, schema: Schema & string, place: Place): unknown {
  switch (schema) {
    case 'any':
      return value;
    case 'string':
      return typeof value === 'string' ? value : mismatch(value, schema, place);
    case 'bool':
      return typeof value === 'boolean' ? value : mismatch(value, schema, place);
    case 'int32':
    case 'int64': {
      const limit = schema === 'int32' ? 2 ** 31 : Number.MAX_SAFE_INTEGER;
      if (typeof value !== 'number') return mismatch(value, schema, place);
      if (Number.isInteger(value) && Math.abs(value) < limit) return value;
      return place.refuse(`json: cannot unmarshal number ${value} into Go struct field ${at(place)} of type ${schema}`);
    }
    case 'quantity':
      if (QUANTITY.test(String(value))) return value;
      return place.refuse(`quantities must match the regular expression '${QUANTITY.source}'`);
    case '[]uint8': {
      if (typeof value !== 'string') return mismatch(value, schema, place);
      const text = value.replace(/[\r\n]/g, '');
      const wrong =
        /[^A-Za-z0-9+/=]/.exec(text)?.index ?? (text.length % 4 === 0 ? -1 : text.length - (text.length % 4));
      return wrong === -1 ? text : place.refuse(`illegal base64 data at input byte ${wrong}`);
    }
  }
}

function goName(schema: Schema): string {
  if (typeof schema === 'string') return schema;
  if ('list' in schema) return `[]${goName(schema.list)}`;
  return 'map' in schema ? `map[string]${goName(schema.map)}` : `v1.${schema.struct}`;
}

function at(place: Place): string {
  return `${place.owner}.${place.field}`;
}

function mismatch(value: unknown, type: string, place: Place): never {
  const found = Array.isArray(value) ? 'array' : typeof value === 'boolean' ? 'bool' : typeof value;
  return place.refuse(`json: cannot unmarshal ${found} into Go struct field ${at(place)} of type ${type}`);
}
