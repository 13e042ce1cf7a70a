import type { State } from 'js-yaml';
import type { Json } from '../bundle/bundle.js';
import { CnabError } from '../errors.js';

/** Documents that people write are far smaller; more is a mistake or an attack. */
export const MAX_DOCUMENT_BYTES = 1024 * 1024;
/** Characters and nodes after aliases are followed: a few lines of YAML can stand for gigabytes. */
const MAX_EXPANDED = 4 * 1024 * 1024;
const MAX_DEPTH = 100;
const INT = 'tag:yaml.org,2002:int';

/** A YAML or JSON document as plain JSON values. */
export interface Document {
  /** Undefined for an empty document. */
  readonly json: Json | undefined;
  /** Line, from 1, on which a map or list of `json` begins. */
  lineOf(value: Json | undefined): number | undefined;
}

/**
 * Parses YAML 1.2 (core schema: dates stay text, `yes` is text, no merge keys), which includes JSON.
 * Rejects with CnabError `invalid` that names `origin` and the line and never quotes the document: for bad syntax,
 * duplicate keys, several documents, values that JSON lacks (NaN, infinity, custom tags), whole numbers beyond
 * ±(2^53−1), which would change silently, and documents that are too large, before or after aliases are followed.
 */
export async function parseDocument(bytes: Uint8Array, origin: string): Promise<Document> {
  if (bytes.length > MAX_DOCUMENT_BYTES) throw invalid(origin, `it is larger than ${MAX_DOCUMENT_BYTES} bytes`);
  const text = decode(bytes, origin);
  // Loaded here and not before: most commands read no document of this kind.
  const yaml = await import('js-yaml');
  const lines = new WeakMap<object, number>();
  const opened: number[] = [];
  const unsafe: number[] = [];
  const listener = (event: 'open' | 'close', state: State & { tag?: string | null }): void => {
    if (event === 'open') {
      opened.push(state.line + 1);
      return;
    }
    const line = opened.pop() ?? state.line + 1;
    const result = state.result as unknown;
    if (state.tag === INT && !Number.isSafeInteger(result)) unsafe.push(line);
    if (typeof result === 'object' && result !== null && !lines.has(result)) lines.set(result, line);
  };
  let loaded: unknown;
  try {
    loaded = yaml.load(text, { schema: yaml.CORE_SCHEMA, listener: (event, state) => listener(event, state) });
  } catch (error) {
    if (!(error instanceof yaml.YAMLException)) throw error;
    const mark = error.mark as { line: number; column: number } | undefined;
    throw invalid(
      mark === undefined ? origin : `${origin}:${mark.line + 1}:${mark.column + 1}`,
      plainReason(error.reason),
    );
  }
  if (unsafe.length > 0) {
    throw invalid(
      `${origin}:${unsafe[0]}`,
      'a whole number beyond ±(2^53−1) cannot be kept exactly: put it in quotes where text will do',
    );
  }
  return plain(loaded, lines, origin);
}

/** js-yaml's words, without the parts of the document that some of them quote: an unquoted `!pass` is read as a tag. */
function plainReason(reason: string): string {
  if (/\btag\b/u.test(reason)) return 'text that begins with "!" marks a type that is not known here: put it in quotes';
  if (reason.includes('alias'))
    return 'text that begins with "*" stands for an anchor that is not there: put it in quotes';
  return reason;
}

function decode(bytes: Uint8Array, origin: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw invalid(origin, 'it is not UTF-8 text');
  }
}

/** Copies what YAML built, so that aliases become values of their own, within bounds and without cycles. */
function plain(loaded: unknown, from: WeakMap<object, number>, origin: string): Document {
  const lines = new WeakMap<object, number>();
  let left = MAX_EXPANDED;
  const copy = (value: unknown, depth: number): Json => {
    left -= typeof value === 'string' ? value.length + 1 : 1;
    if (left < 0 || depth > MAX_DEPTH) {
      throw invalid(origin, 'its aliases stand for more than a document of this kind can be');
    }
    if (value === null || typeof value === 'string' || typeof value === 'boolean') return value;
    if (typeof value === 'number') {
      if (!Number.isFinite(value)) throw invalid(origin, 'it holds a number that JSON does not have (.inf or .nan)');
      return value;
    }
    if (typeof value !== 'object') throw invalid(origin, 'it holds a value that JSON does not have');
    const result = Array.isArray(value)
      ? value.map((item) => copy(item, depth + 1))
      : Object.fromEntries(
          Object.entries(value).map(([key, item]) => {
            left -= key.length;
            return [key, copy(item, depth + 1)];
          }),
        );
    const line = from.get(value);
    if (line !== undefined) lines.set(result, line);
    return result;
  };
  const json = loaded === undefined ? undefined : copy(loaded, 0);
  return { json, lineOf: (value) => (typeof value === 'object' && value !== null ? lines.get(value) : undefined) };
}

function invalid(where: string, reason: string): CnabError {
  return new CnabError('invalid', `${where}: ${reason}`);
}
