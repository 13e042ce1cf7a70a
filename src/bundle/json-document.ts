import type { Json } from './bundle.js';
import { measure, type ParsedDocument } from './document.js';
import { MAX_DEPTH, scanJson } from './json-scan.js';
import { syntaxProblems } from './json-syntax.js';
import { findPlaces, placesIn, type DuplicateKey } from './places.js';
import { error, pointerOf, quoted, type Finding } from './problem.js';

/** Reads JSON text: `JSON.parse` first, and the slow parser that knows places only where there is something to say. */
export async function parseJsonDocument(text: string): Promise<ParsedDocument> {
  const scan = scanJson(text);
  const placeAt = placesIn(text);
  if (scan.tooDeepAt !== undefined) {
    const message = `the document is nested more than ${MAX_DEPTH} levels deep here: make it flatter`;
    return { kind: 'broken', problems: [{ message, ...placeAt(scan.tooDeepAt) }] };
  }
  let document: Json;
  try {
    document = JSON.parse(text) as Json;
  } catch (refusal) {
    const problems = await syntaxProblems(text, refusal);
    return { kind: 'broken', problems: problems.map(({ message, offset }) => ({ message, ...placeAt(offset) })) };
  }
  const { values, members } = measure(document);
  const findings: Finding[] = [];
  // A key that is there twice leaves one member where the text has two colons.
  if (members !== scan.members || scan.unsafeIntegers.length > 0) {
    const places = await findPlaces(text, new Set(), new Set(scan.unsafeIntegers));
    findings.push(
      ...places.duplicates.map((duplicate) => duplicateKey(duplicate, placeAt(duplicate.firstOffset).line)),
    );
    findings.push(...[...places.pathsAt.values()].flatMap(lostDigits));
  }
  return { kind: 'parsed', document, values, findings, locate: (wanted) => locate(text, wanted) };
}

function duplicateKey({ path }: DuplicateKey, firstLine: number): Finding {
  const key = path.at(-1) ?? '';
  return error(
    path,
    `the key ${quoted(key)} is there twice, first in line ${firstLine}: readers differ in which one counts, remove one`,
    'key',
  );
}

/** Elsewhere such a number is harmless: the run tool gets the document as it was written. */
function lostDigits(path: readonly string[]): readonly Finding[] {
  const [section, name, keyword] = path;
  if (section !== 'definitions' || name === undefined || keyword !== 'default') return [];
  return [
    error(
      path,
      `the default of definition ${quoted(name)} holds an integer beyond ±9007199254740991, which cannot be passed on exactly: write it as text (a string)`,
    ),
  ];
}

async function locate(
  text: string,
  findings: readonly Finding[],
): Promise<readonly { line: number; column: number }[]> {
  if (findings.length === 0) return [];
  const pointers = findings.map(({ path }) => pointerOf(path));
  const { keys, values } = await findPlaces(text, new Set(pointers));
  const placeAt = placesIn(text);
  return findings.map(({ at }, index) => {
    const pointer = pointers[index] ?? '';
    const found = at === 'key' ? (keys.get(pointer) ?? values.get(pointer)) : values.get(pointer);
    return placeAt(found ?? 0);
  });
}
