import type { Json } from './bundle.js';
import { measure, type ParsedDocument } from './document.js';
import type { Finding, Place } from './problem.js';
import { readYaml, YamlProblem } from './yaml.js';

/** True for names that YAML files have; everything else is read as JSON. */
export function isYamlName(name: string): boolean {
  return /\.ya?ml$/i.test(name);
}

/** Reads YAML with the types of JSON only. Places of findings are those of their lines, at best. */
export async function parseYamlDocument(text: string): Promise<ParsedDocument> {
  let json: Json | undefined;
  try {
    ({ json } = await readYaml(text));
  } catch (error) {
    if (!(error instanceof YamlProblem)) throw error;
    return broken(`the YAML is broken: ${error.message}`, error.place);
  }
  if (json === undefined || json === null) return broken('the document is empty');
  return {
    kind: 'parsed',
    document: json,
    values: measure(json).values,
    findings: [],
    locate: (findings) => Promise.resolve(findings.map((finding) => placeOf(text, finding))),
  };
}

function broken(message: string, place: Place = { line: 1, column: 1 }): ParsedDocument {
  return { kind: 'broken', problems: [{ message, ...place }] };
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
