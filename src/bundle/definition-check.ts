import { holdsSecrets, type Definition, type Json } from './bundle.js';
import { explain } from './explain.js';
import { own } from './own.js';
import { error, quoted, warning, type Finding } from './problem.js';
import { isPlain } from './plain-definition.js';
import { TimeLimitError, withinTime } from './time-limit.js';
import type { Entry } from './view.js';
import { DRAFT_7, type Check, type Validators } from './validators.js';
import { messageOf } from '../errors.js';

/** Milliseconds for one definition and for all of a bundle. Real ones take about one. */
export interface CheckTimes {
  readonly each: number;
  readonly all: number;
}

export interface DefinitionValidators extends Validators {
  /** Checks a definition against the meta-schema of draft 7; all errors. */
  readonly draft7: Check;
}

const CHECK_TIMES: CheckTimes = { each: 2_000, all: 10_000 };

/**
 * Every definition must be a JSON Schema of draft 7; one that a parameter or an output uses must be usable too (its
 * patterns compile, its references stay inside it), and a default must fit. `users` tells by definition name what uses it.
 */
export function checkDefinitions(
  definitions: readonly Entry<Definition>[],
  users: ReadonlyMap<string, string>,
  validators: DefinitionValidators,
  times: CheckTimes = CHECK_TIMES,
): readonly Finding[] {
  const end = performance.now() + times.all;
  return definitions.flatMap(([name, definition]) => {
    const path = ['definitions', name];
    const user = users.get(name);
    const left = end - performance.now();
    const skipped = warning(path, `definition ${quoted(name)} was not checked: the ones before it took too long`);
    if (left <= 0) return [skipped];
    try {
      const check = () => checkOne(name, definition, user, validators);
      // A type has no pattern and no reference that could go on for ever.
      return isPlain(definition) ? check() : withinTime(Math.min(times.each, left), check);
    } catch (thrown) {
      if (thrown instanceof TimeLimitError && left < times.each) return [skipped];
      const severity = user === undefined ? warning : error;
      return [severity(path, `definition ${quoted(name)} cannot be checked: ${reasonOf(thrown)}`)];
    }
  });
}

/** Why a definition cannot be used or a value cannot be checked, as the end of a sentence. */
export function reasonOf(thrown: unknown): string {
  if (thrown instanceof TimeLimitError) return 'it takes too long, simplify its patterns and references';
  if (thrown instanceof RangeError) return 'it refers to itself without end';
  const reference = /^can't resolve reference (.*) from id/s.exec(messageOf(thrown))?.[1];
  if (reference === undefined) return printable(messageOf(thrown));
  const where = reference.startsWith('#')
    ? 'is not found in it, and nowhere else is looked'
    : 'leads out of it, and nothing is ever fetched';
  return `its "$ref" ${quoted(reference)} ${where}: copy what it refers to into the definition`;
}

function printable(text: string): string {
  return quoted(text).slice(1, -1);
}

function checkOne(
  name: string,
  definition: Definition,
  user: string | undefined,
  validators: DefinitionValidators,
): readonly Finding[] {
  const path = ['definitions', name];
  const subject = `definition ${quoted(name)}`;
  const malformed = explain(validators.draft7(definition));
  if (malformed.length > 0) {
    return malformed.map((item) =>
      error([...path, ...item.path], `${subject}: ${inside(item.path)}${item.text}`, item.at),
    );
  }
  const otherDraft = draftWarning(path, subject, definition);
  const hasDefault = typeof definition === 'object' && Object.hasOwn(definition, 'default');
  if (user === undefined && !hasDefault) return otherDraft;
  const value = hasDefault ? (own(definition, 'default') ?? null) : null;
  let check: Check;
  try {
    check = validators.compile(definition, { allErrors: isSmall(value), encodings: true });
  } catch (thrown) {
    // Legal in a bundle (spec 101 only asks for a schema), and of no harm until a value has to be checked.
    if (user === undefined) return otherDraft;
    return [...otherDraft, error(path, `${subject}, which ${user} uses, cannot be used: ${reasonOf(thrown)}`)];
  }
  if (!hasDefault) return otherDraft;
  const severity = user === undefined ? warning : error;
  const secret = holdsSecrets(definition);
  const misfits = explain(check(value), { sensitive: secret }).map((item) =>
    severity([...path, 'default', ...item.path], `the default of ${subject} ${at(item.path)}${item.text}`, item.at),
  );
  return [...otherDraft, ...misfits];
}

function inside(path: readonly string[]): string {
  return path.length === 0 ? 'it ' : `${quoted(path.join('.'))} `;
}

function at(path: readonly string[]): string {
  return path.length === 0 ? '' : `does not fit: ${quoted(path.join('.'))} `;
}

function draftWarning(path: readonly string[], subject: string, definition: Definition): readonly Finding[] {
  const draft = typeof definition === 'object' ? own(definition, '$schema') : undefined;
  if (typeof draft !== 'string' || draft.replace(/#$/, '').replace('https:', 'http:') === DRAFT_7.replace(/#$/, ''))
    return [];
  return [
    warning(
      [...path, '$schema'],
      `${subject} is read as JSON Schema draft 7, which CNAB prescribes, not as ${quoted(draft)}`,
    ),
  ];
}

/** Listing every misfit of a large value takes more memory than anybody reads. */
export function isSmall(value: Json): boolean {
  return JSON.stringify(value).length <= 64 * 1024;
}
