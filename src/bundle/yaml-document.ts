import { messageOf } from '../errors.js';
import type { Json } from './bundle.js';
import type { ParsedDocument, TextProblem } from './document.js';
import { measure } from './document.js';
import { MAX_DEPTH } from './json-scan.js';
import { quoted, type Finding, type Place } from './problem.js';

/** Aliases let a short YAML text stand for an endless document. */
const MOST_VALUES = 200_000;

/** True for names that YAML files have; everything else is read as JSON. */
export function isYamlName(name: string): boolean {
  return /\.ya?ml$/i.test(name);
}

/** Reads YAML 1.2 with the types of JSON only (dates and `yes` stay text). Places of findings are those of their lines, at best. */
export async function parseYamlDocument(text: string): Promise<ParsedDocument> {
  const { load, CORE_SCHEMA, YAMLException } = await import('js-yaml');
  let loaded: unknown;
  try {
    loaded = load(text, { schema: CORE_SCHEMA });
  } catch (thrown) {
    if (thrown instanceof YAMLException) {
      const mark = thrown.mark as { line?: number; column?: number } | undefined;
      const message = `the YAML is broken: ${quoted(thrown.reason).slice(1, -1)}`;
      return broken({ message, line: (mark?.line ?? 0) + 1, column: (mark?.column ?? 0) + 1 });
    }
    if (thrown instanceof RangeError) return broken({ message: tooDeep, line: 1, column: 1 });
    return broken({ message: `the YAML is broken: ${quoted(messageOf(thrown)).slice(1, -1)}`, line: 1, column: 1 });
  }
  if (loaded === undefined || loaded === null) return broken({ message: 'the document is empty', line: 1, column: 1 });
  const problem = unlikeJson(loaded);
  if (problem !== undefined) return broken({ message: problem, line: 1, column: 1 });
  const document = JSON.parse(JSON.stringify(loaded)) as Json;
  const { values } = measure(document);
  return {
    kind: 'parsed',
    document,
    values,
    findings: [],
    locate: (findings) => Promise.resolve(findings.map((finding) => placeOf(text, finding))),
  };
}

const tooDeep = `the document is nested more than ${MAX_DEPTH} levels deep: make it flatter`;

function broken(problem: TextProblem): ParsedDocument {
  return { kind: 'broken', problems: [problem] };
}

/** Why the value, aliases followed, is no JSON document of a sensible size. */
function unlikeJson(root: unknown): string | undefined {
  let values = 0;
  const pending: { value: unknown; depth: number }[] = [{ value: root, depth: 1 }];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const { value, depth } = next;
    if (++values + pending.length > MOST_VALUES)
      return `the document holds more than ${MOST_VALUES} values, aliases followed`;
    if (typeof value === 'number' && !Number.isFinite(value))
      return 'the document holds .inf or .nan, which JSON does not have';
    if (value === null || typeof value !== 'object') continue;
    if (depth > MAX_DEPTH) return tooDeep;
    for (const inner of Object.values(value)) pending.push({ value: inner, depth: depth + 1 });
  }
  return undefined;
}

/** Follows the keys of the path downwards through the lines; stays where a key is not found (flow style, lists). */
function placeOf(text: string, { path }: Finding): Place {
  const lines = text.split(/\r\n|\n|\r/);
  let place: Place = { line: 1, column: 1 };
  let from = 0;
  for (const key of path) {
    const found = lines.findIndex((line, index) => index >= from && startsWithKey(line, key));
    const line = found < 0 ? undefined : lines[found];
    if (line === undefined) continue;
    place = { line: found + 1, column: line.search(/[^\s-]/) + 1 };
    from = found;
  }
  return place;
}

function startsWithKey(line: string, key: string): boolean {
  const rest = line.replace(/^[\s-]*/, '');
  return rest.startsWith(`${key}:`) || rest.startsWith(`"${key}":`) || rest.startsWith(`'${key}':`);
}
