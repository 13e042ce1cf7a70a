import type { Bundle, Json, JsonObject } from './bundle.js';
import { decodeText } from './decode.js';
import { checkDefinitions } from './definition-check.js';
import type { ParsedDocument, TextProblem } from './document.js';
import { parseJsonDocument } from './json-document.js';
import { loadOwnSchemas } from './own-schemas.js';
import { placesIn } from './places.js';
import { error, pointerOf, type Finding, type Problem } from './problem.js';
import { RULES } from './rules/index.js';
import { checkStructure } from './structure.js';
import { subjectOf } from './subject.js';
import { validatorsFor } from './validators.js';
import { viewOf, type BundleView } from './view.js';
import { isYamlName, parseYamlDocument } from './yaml-document.js';

export type { Problem } from './problem.js';

export interface BundleVerdict {
  /** Present when there are no problems. */
  readonly bundle?: Bundle;
  /** What forbids using it, in the order of the file; at most 200, the last one tells how many more. */
  readonly problems: readonly Problem[];
  /** What does not, in the order of the file. */
  readonly warnings: readonly Problem[];
}

const MOST_PROBLEMS = 200;

/**
 * Checks a bundle against CNAB Core 1.2.0, chapters 101 and 103: the shape by a JSON Schema, what a schema cannot say by
 * rules, every definition with its default. All problems at once; only a text that cannot be read hides the rest.
 * `origin` is named in the problems; a name that ends in .yaml or .yml is read as YAML.
 *
 * Never rejects for what the bytes hold.
 */
export async function validateBundle(source: Uint8Array, origin: string): Promise<BundleVerdict> {
  const decoded = decodeText(source);
  const textProblems: TextProblem[] = [];
  if (decoded.problem !== undefined) {
    const { message, offset, readable } = decoded.problem;
    textProblems.push({ message, ...placesIn(decoded.text)(offset) });
    if (!readable) return verdict(textProblems.map((problem) => ofText(problem, origin)));
  }
  const parsed = await (isYamlName(origin) ? parseYamlDocument : parseJsonDocument)(decoded.text);
  const ofBytes = textProblems.map((problem) => ofText(problem, origin));
  if (parsed.kind === 'broken')
    return verdict([...ofBytes, ...parsed.problems.map((problem) => ofText(problem, origin))]);
  const found = await findProblems(parsed, origin);
  const result = verdict([...ofBytes, ...found]);
  return result.problems.length > 0 ? result : { ...result, bundle: parsed.document as unknown as Bundle };
}

async function findProblems(parsed: ParsedDocument & { kind: 'parsed' }, origin: string): Promise<readonly Problem[]> {
  const findings = [...parsed.findings, ...(await checkDocument(parsed.document, parsed.values))];
  const places = await parsed.locate(findings);
  return findings.map(({ message, path, severity }, index) => ({
    message,
    pointer: pointerOf(path),
    line: places[index]?.line ?? 1,
    column: places[index]?.column ?? 1,
    file: origin,
    severity,
  }));
}

async function checkDocument(document: Json, values: number): Promise<readonly Finding[]> {
  if (!isObject(document)) return [error([], 'a bundle is a JSON object: it begins with "{"')];
  const { findings, broken, complete } = await checkStructure(document, values);
  if (!complete)
    return findings.map((finding) => ({
      ...finding,
      message: `${finding.message}; the document is too large to look for more`,
    }));
  const view = viewOf(document, broken);
  const validators = {
    ...(await loadOwnSchemas({ allErrors: true })),
    ...(await validatorsFor(view.definitions.map(([, definition]) => definition))),
  };
  return [
    ...findings,
    ...RULES.flatMap((rule) => rule(view)),
    ...checkDefinitions(view.definitions, definitionUsers(view), validators),
  ];
}

/** By definition name, the first parameter or output that uses it, as messages call it. */
function definitionUsers(view: BundleView): ReadonlyMap<string, string> {
  const users = new Map<string, string>();
  for (const section of ['parameters', 'outputs'] as const) {
    for (const [name, { definition }] of view[section]) {
      if (!users.has(definition)) users.set(definition, subjectOf([section, name]));
    }
  }
  return users;
}

function verdict(found: readonly Problem[]): BundleVerdict {
  const sorted = [...found].sort((left, right) => left.line - right.line || left.column - right.column);
  return {
    problems: capped(sorted.filter(({ severity }) => severity === 'error')),
    warnings: capped(sorted.filter(({ severity }) => severity === 'warning')),
  };
}

function capped(problems: readonly Problem[]): readonly Problem[] {
  const next = problems[MOST_PROBLEMS - 1];
  if (next === undefined || problems.length === MOST_PROBLEMS) return problems;
  const more = problems.length - MOST_PROBLEMS + 1;
  return [
    ...problems.slice(0, MOST_PROBLEMS - 1),
    { ...next, message: `there are ${more} more problems from here on`, pointer: '' },
  ];
}

function ofText({ message, line, column }: TextProblem, file: string): Problem {
  return { message, pointer: '', line, column, file, severity: 'error' };
}

function isObject(document: Json): document is JsonObject {
  return document !== null && typeof document === 'object' && !Array.isArray(document);
}
