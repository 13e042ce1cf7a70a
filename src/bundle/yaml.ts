import type { State } from 'js-yaml';
import type { Json } from './bundle.js';
import { MAX_DEPTH } from './json-scan.js';
import type { Place } from './problem.js';

/** Characters and nodes after aliases are followed: a few lines of YAML can stand for gigabytes. */
const MAX_EXPANDED = 4 * 1024 * 1024;
const INT = 'tag:yaml.org,2002:int';

/** A YAML or JSON document as plain JSON values. */
export interface Yaml {
  /** Undefined for an empty document. */
  readonly json: Json | undefined;
  /** Line, from 1, on which a map or list of `json` begins. */
  lineOf(value: Json | undefined): number | undefined;
}

/** Why a text is no document. The message never quotes the text, which may hold secrets. */
export class YamlProblem extends Error {
  constructor(
    message: string,
    /** Absent where it is the document as a whole. */
    readonly place?: Place,
  ) {
    super(message);
  }
}

/**
 * Reads YAML 1.2 (core schema: dates stay text, `yes` is text, no merge keys), which includes JSON.
 * Rejects with YamlProblem for bad syntax, duplicate keys, several documents, values that JSON lacks (NaN, infinity,
 * custom tags), whole numbers beyond ±(2^53−1), which would change silently, and documents that are too deep, or too
 * large when their aliases are followed.
 */
export async function readYaml(text: string): Promise<Yaml> {
  // Loaded here and not before: most commands read no document of this kind.
  const yaml = await import('js-yaml');
  const lines = new WeakMap<object, number>();
  const opened: Place[] = [];
  let unsafe: Place | undefined;
  const listener = (event: 'open' | 'close', state: State & { tag?: string | null }): void => {
    const here = { line: state.line + 1, column: state.position - state.lineStart + 1 };
    if (event === 'open') {
      opened.push(here);
      return;
    }
    const place = opened.pop() ?? here;
    const result = state.result as unknown;
    if (state.tag === INT && !Number.isSafeInteger(result)) unsafe ??= place;
    if (typeof result === 'object' && result !== null && !lines.has(result)) lines.set(result, place.line);
  };
  let loaded: unknown;
  try {
    loaded = yaml.load(text, { schema: yaml.CORE_SCHEMA, listener: (event, state) => listener(event, state) });
  } catch (error) {
    if (error instanceof RangeError) throw new YamlProblem('it is nested too deep');
    if (!(error instanceof yaml.YAMLException)) throw error;
    const mark = error.mark as { line: number; column: number } | undefined;
    const place = mark === undefined ? undefined : { line: mark.line + 1, column: mark.column + 1 };
    throw new YamlProblem(plainReason(error.reason), place);
  }
  if (unsafe !== undefined) {
    const message = 'a whole number beyond ±(2^53−1) cannot be kept exactly: put it in quotes where text will do';
    throw new YamlProblem(message, unsafe);
  }
  return plain(loaded, lines);
}

/** js-yaml's words, without the parts of the document that some of them quote: an unquoted `!pass` is read as a tag. */
function plainReason(reason: string): string {
  if (/\btag\b/u.test(reason)) return 'text that begins with "!" marks a type that is not known here: put it in quotes';
  if (reason.includes('alias'))
    return 'text that begins with "*" stands for an anchor that is not there: put it in quotes';
  return reason;
}

/** Copies what YAML built, so that aliases become values of their own, within bounds and without cycles. */
function plain(loaded: unknown, from: WeakMap<object, number>): Yaml {
  const lines = new WeakMap<object, number>();
  let left = MAX_EXPANDED;
  const copy = (value: unknown, depth: number): Json => {
    left -= typeof value === 'string' ? value.length + 1 : 1;
    if (left < 0) throw new YamlProblem('its aliases stand for more than a document of this kind can be');
    if (value === null || typeof value === 'string' || typeof value === 'boolean') return value;
    if (typeof value === 'number') {
      if (Number.isFinite(value)) return value;
      throw new YamlProblem('it holds a number that JSON does not have (.inf or .nan)');
    }
    if (typeof value !== 'object') throw new YamlProblem('it holds a value that JSON does not have');
    if (depth > MAX_DEPTH) throw new YamlProblem(`it is nested more than ${MAX_DEPTH} levels deep: make it flatter`);
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
  const json = loaded === undefined ? undefined : copy(loaded, 1);
  return { json, lineOf: (value) => (typeof value === 'object' && value !== null ? lines.get(value) : undefined) };
}
