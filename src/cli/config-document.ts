import { readFile } from 'node:fs/promises';
import type { Json } from '../bundle/bundle.js';
import { decodeText } from '../bundle/decode.js';
import type { ParsedDocument } from '../bundle/document.js';
import { nearest } from '../bundle/nearest.js';
import { placesIn } from '../bundle/places.js';
import { describeProblem, error, quoted, type Finding, type Place } from '../bundle/problem.js';
import { CnabError, messageOf } from '../errors.js';
import type { ConfigFile } from './config-file.js';
import type { FlagShape, FlagValue } from './flag-values.js';

const LARGEST_BYTES = 1024 * 1024;
const PROTECTED = 'protected';
/** A file that also answers the question would make `protected` say nothing. */
const NEVER = 'yes';

/**
 * Reads a config file: YAML, or JSON by its name; the keys are names of flags, and `protected`. An empty one says nothing.
 * Rejects with CnabError `invalid` that names file, line and column of everything that is wrong; it tells no values.
 */
export async function readConfigFile(file: string, flags: ReadonlyMap<string, FlagShape>): Promise<ConfigFile> {
  const text = await readText(file);
  const values = new Map<string, FlagValue>();
  if (saysNothing(text)) return { file, values, protectedContexts: [] };
  const parsed = await parse(text, file);
  if (parsed.kind === 'broken') throw unusable(file, parsed.problems);
  const { document } = parsed;
  const findings: Finding[] = [...parsed.findings];
  let protectedContexts: readonly string[] = [];
  if (typeof document !== 'object' || document === null || Array.isArray(document)) {
    findings.push(error([], 'a config file has the names of flags as keys, as in "namespace: payments"'));
  } else {
    for (const [key, json] of Object.entries(document)) {
      const value = key === PROTECTED ? texts(json) : flagValue(key, json, flags);
      if (value instanceof Mismatch) findings.push(error([key], value.message, 'key'));
      else if (key === PROTECTED) protectedContexts = value as readonly string[];
      else values.set(key, value);
    }
  }
  if (findings.length === 0) return { file, values, protectedContexts };
  const places = await parsed.locate(findings);
  throw unusable(
    file,
    findings.map((finding, index) => ({ ...finding, ...(places[index] ?? { line: 1, column: 1 }) })),
  );
}

async function readText(file: string): Promise<string> {
  let bytes: Buffer;
  try {
    bytes = await readFile(file);
  } catch (thrown) {
    throw new CnabError('invalid', `the config file ${file} cannot be read: ${messageOf(thrown)}`, { cause: thrown });
  }
  if (bytes.length > LARGEST_BYTES) {
    throw new CnabError('invalid', `the config file ${file} is larger than ${LARGEST_BYTES} bytes`);
  }
  const { text, problem } = decodeText(bytes);
  if (problem && !problem.readable) throw unusable(file, [{ ...problem, ...placesIn(text)(problem.offset) }]);
  return text;
}

function saysNothing(text: string): boolean {
  return text.split('\n').every((line) => /^\s*(?:#|$)/.test(line));
}

/** The parsers are read when there is a file to parse. */
async function parse(text: string, file: string): Promise<ParsedDocument> {
  if (/\.json$/i.test(file)) return (await import('../bundle/json-document.js')).parseJsonDocument(text);
  return (await import('../bundle/yaml-document.js')).parseYamlDocument(text);
}

/** Why a value is none for its key. */
class Mismatch {
  constructor(readonly message: string) {}
}

function flagValue(name: string, json: Json, flags: ReadonlyMap<string, FlagShape>): FlagValue | Mismatch {
  if (name === NEVER) return new Mismatch('"yes" answers for one run only and cannot stand in the config file');
  const flag = flags.get(name);
  if (flag === undefined) {
    const near = nearest(name, [...flags.keys(), PROTECTED]);
    return new Mismatch(`there is no flag ${quoted(name)}${near === undefined ? '' : `: did you mean "${near}"?`}`);
  }
  if (flag.type === 'boolean') {
    return typeof json === 'boolean' ? json : new Mismatch(`${quoted(name)} is true or false`);
  }
  if (flag.multiple) return texts(json, name);
  const text = textOf(json);
  if (text === undefined) return new Mismatch(`${quoted(name)} is one text`);
  if (!flag.options || flag.options.includes(text)) return text;
  return new Mismatch(`${quoted(name)} is one of ${flag.options.join(', ')}`);
}

function texts(json: Json, name = PROTECTED): readonly string[] | Mismatch {
  const list = (Array.isArray(json) ? (json as readonly Json[]) : [json]).map(textOf);
  return list.every((text) => text !== undefined) ? list : new Mismatch(`${quoted(name)} is a text or a list of texts`);
}

/** YAML takes `8080` and `0` for numbers; as a flag they are text. */
function textOf(json: Json): string | undefined {
  if (typeof json === 'number') return String(json);
  return typeof json === 'string' && json !== '' ? json : undefined;
}

function unusable(file: string, found: readonly (Place & { readonly message: string })[]): CnabError {
  const lines = found.map(({ message, line, column }) =>
    describeProblem({ file, message, line, column, pointer: '', severity: 'error' }),
  );
  if (lines.length === 1) return new CnabError('invalid', `the config file cannot be used: ${lines[0]}`);
  return new CnabError('invalid', `the config file has ${lines.length} problems:`, { details: lines });
}
