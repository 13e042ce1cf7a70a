import type { Bundle, Json, JsonObject } from '../bundle/bundle.js';
import type { Claim, OutputMetadata, Result, Status } from './claim.js';
import type { Target } from './target.js';

/** A record larger than this is not one of ours; it also bounds what a reader takes into memory. */
export const MAX_DOCUMENT_BYTES = 64 * 1024 * 1024;

/** What is wrong with a document that cannot be used. The reason never quotes it: parameters may be sensitive. */
export class DamagedDocument extends Error {
  override readonly name = 'DamagedDocument';
}

/** A document together with what it lacks by the spec, though it can be shown. */
export interface Parsed<T> {
  readonly document: T;
  readonly defects: readonly string[];
}

const STATUSES: ReadonlySet<string> = new Set(['canceled', 'failed', 'pending', 'running', 'succeeded', 'unknown']);

export function formatDocument(document: object): string {
  return `${JSON.stringify(document, null, 2)}\n`;
}

/** Throws DamagedDocument where the bytes are not a JSON object. */
export function parseObject(bytes: Uint8Array): JsonObject {
  if (bytes.length === 0) throw new DamagedDocument('it is empty');
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    // JSON.parse quotes the document in its message, and the document may hold a secret.
    throw new DamagedDocument('it is not JSON, or was cut off');
  }
  if (!isObject(value)) throw new DamagedDocument('it is not a JSON object');
  return value;
}

/**
 * A claim of ours, of cnab-go or of Porter: unknown keys are kept, what is missing gets an empty stand-in and is named
 * in `defects`. Throws DamagedDocument without an id, an installation, an action or a bundle.
 */
export function parseClaim(bytes: Uint8Array): Parsed<Claim> {
  const raw = parseObject(bytes);
  const defects: string[] = [];
  const { parameters, ...rest } = raw;
  if (!isObject(raw['bundle'])) throw new DamagedDocument('it has no "bundle"');
  const document = {
    ...rest,
    id: needed(raw, 'id'),
    installation: needed(raw, 'installation'),
    action: needed(raw, 'action'),
    revision: textOr(raw, 'revision', '', defects),
    created: textOr(raw, 'created', '', defects),
    bundle: toBundle(raw['bundle'], defects),
    ...(isObject(parameters) ? { parameters } : {}),
  };
  if (parameters !== undefined && parameters !== null && !isObject(parameters))
    defects.push('"parameters" is no object');
  return { document, defects };
}

/** The bundle of a claim as the rest of the program may use it: maps that are null are absent, lists are lists. */
function toBundle(raw: JsonObject, defects: string[]): Bundle {
  const present = Object.fromEntries(Object.entries(raw).filter(([, value]) => value !== null));
  const images = raw['invocationImages'];
  if (!Array.isArray(images)) defects.push('its bundle has no "invocationImages"');
  for (const key of ['name', 'version', 'schemaVersion']) {
    if (typeof raw[key] !== 'string' || raw[key] === '') defects.push(`its bundle has no "${key}"`);
  }
  return {
    ...present,
    schemaVersion: textOr(raw, 'schemaVersion', ''),
    name: textOr(raw, 'name', ''),
    version: textOr(raw, 'version', ''),
    invocationImages: Array.isArray(images) ? images : [],
  };
}

/**
 * A result that lies under `claimId`. Its own `claimId` may name another claim (Porter's fixture has two such);
 * the folder decides. `cancelled`, the spelling of the published Claims 1.0.0, is read as `canceled`; a status that no
 * spec knows is `unknown`. Throws DamagedDocument without an id.
 */
export function parseResult(bytes: Uint8Array, claimId: string): Parsed<Result> {
  const raw = parseObject(bytes);
  const defects: string[] = [];
  const { outputs, message, ...rest } = raw;
  if (outputs !== undefined && outputs !== null && !isObject(outputs)) defects.push('"outputs" is no object');
  return {
    document: {
      ...rest,
      id: needed(raw, 'id'),
      claimId: textOr(raw, 'claimId', claimId, defects),
      created: textOr(raw, 'created', '', defects),
      status: toStatus(textOr(raw, 'status', 'unknown', defects)),
      ...(typeof message === 'string' ? { message } : {}),
      ...(isObject(outputs) ? { outputs: toOutputs(outputs) } : {}),
    },
    defects,
  };
}

/** Stands in for a result that cannot be read: its claim's status is then unknown (Claims 1.0.0). */
export function unreadableResult(id: string, claimId: string, message: string): Result {
  return { id, claimId, created: '', status: 'unknown', message };
}

function toStatus(text: string): Status {
  if (text === 'cancelled') return 'canceled';
  return STATUSES.has(text) ? (text as Status) : 'unknown';
}

function toOutputs(raw: JsonObject): Readonly<Record<string, OutputMetadata>> {
  return Object.fromEntries(Object.entries(raw).map(([name, metadata]) => [name, toMetadata(metadata)]));
}

/** Strings only, as cnab-go's type has it; `generatedByBundle: true` of another writer is read as `"true"`. */
function toMetadata(raw: Json): OutputMetadata {
  if (!isObject(raw)) return {};
  const entries = Object.entries(raw).filter(([, value]) => value !== null && typeof value !== 'object');
  return Object.fromEntries(
    entries.map(([key, value]) => [key, typeof value === 'string' ? value : JSON.stringify(value)]),
  );
}

/** Throws DamagedDocument without an id and a driver. */
export function parseTarget(bytes: Uint8Array): Target {
  const raw = parseObject(bytes);
  const optional = ['context', 'kubeconfig', 'server', 'namespace', 'uid', 'user'].filter(
    (key) => typeof raw[key] === 'string',
  );
  const id = needed(raw, 'id');
  return {
    ...Object.fromEntries(optional.map((key) => [key, raw[key]])),
    id,
    driver: needed(raw, 'driver'),
    label: textOr(raw, 'label', id),
  };
}

function needed(raw: JsonObject, key: string): string {
  const value = raw[key];
  if (typeof value !== 'string' || value === '') throw new DamagedDocument(`it has no "${key}"`);
  return value;
}

function textOr(raw: JsonObject, key: string, otherwise: string, defects?: string[]): string {
  const value = raw[key];
  if (typeof value === 'string') return value;
  defects?.push(`it has no "${key}"`);
  return otherwise;
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
