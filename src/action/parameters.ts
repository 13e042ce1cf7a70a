import { isDeepStrictEqual } from 'node:util';
import { appliesTo, definitionOf, isSensitive, type Bundle, type Definition, type Json } from '../bundle/bundle.js';
import { own } from '../bundle/own.js';
import { parseValue } from '../bundle/value-text.js';
import { checkValue, encodeFileValue, valueTime } from '../bundle/values.js';
import { CnabError } from '../errors.js';
import { sourceOutputsOf } from './extensions.js';
import type { HeldValue } from './kept.js';
import { advice, missing, notFitting } from './parameter-problems.js';
import type { GivenParameter } from './request.js';
import type { SourceOutput } from './source-output.js';

/** A parameter's value for this run and where it came from. */
export interface ResolvedParameter {
  readonly name: string;
  /** Absent: optional, not set, no default. It is injected as the empty string (spec 103). */
  readonly value?: Json;
  /** `-p`, `revision 3`, `output "host"`, `default`, `not set`. */
  readonly from: string;
  readonly sensitive: boolean;
}

export interface ResolvedParameters {
  /** Those that apply to the action, in the bundle's order. */
  readonly applied: readonly ResolvedParameter[];
  /** What the user has set, now or before, applying to this action or not: carried to later actions. */
  readonly overrides: Readonly<Record<string, Json>>;
  /** Names among `overrides` that come from earlier runs. */
  readonly kept: readonly string[];
  /** Names, applied or only carried, whose value is a secret: the claim notes them, so that later runs know it too. */
  readonly sensitive: readonly string[];
  readonly warnings: readonly string[];
}

export interface ParameterSources {
  readonly bundle: Bundle;
  readonly action: string;
  /** In rising precedence. */
  readonly given: readonly GivenParameter[];
  /** What the user set in earlier runs. */
  readonly overrides: Readonly<Record<string, Json>>;
  /** Names among `overrides` whose value was sensitive where it was kept. */
  readonly keptSecrets: readonly string[];
  /** What earlier runs passed on, by parameter: readOnly ones keep it. Empty on install. */
  readonly installed: ReadonlyMap<string, HeldValue>;
  /** What kept values are said to come from. */
  readonly keptFrom: string;
  /** See `readSourceOutput`. */
  readonly outputOf: (name: string) => Promise<SourceOutput | undefined>;
}

interface Sourced {
  readonly value: Json;
  readonly from: string;
  /** True where the value is a secret whatever the parameter's definition says. */
  readonly sensitive?: boolean;
}

/**
 * Typed values by precedence (reference: spec 101 and 103): default < parameter source < kept < given, later given wins.
 *
 * A value is sensitive by its definition, by the output that it comes from, or because it was sensitive where it is kept
 * from: a new bundle version that drops `writeOnly` does not make a secret public that was given under the old one, nor
 * does giving the same value again. Another value, newly given, is what the bundle calls it now, and so is every value
 * after `--reset` and on install, where nothing is kept.
 *
 * Rejects with CnabError `invalid` that lists every problem: unknown names, values that do not fit, what is missing.
 */
export async function resolveParameters(sources: ParameterSources): Promise<ResolvedParameters> {
  const { bundle, action, installed, keptFrom } = sources;
  const problems: string[] = [];
  const warnings: string[] = [];
  /** Names whose value has been reported as a problem: once is enough. */
  const refused = new Set<string>();
  const refuse = (name: string, problem: string): void => {
    refused.add(name);
    problems.push(problem);
  };
  const kept = keptValues(sources, warnings);
  const given = readGiven(sources, kept, refuse);
  const applied: ResolvedParameter[] = [];
  const time = valueTime();
  for (const [name, parameter] of Object.entries(bundle.parameters ?? {})) {
    if (refused.has(name)) continue;
    const definition = definitionOf(bundle, parameter.definition);
    const fixed = isReadOnly(definition) && installed.has(name);
    const ignored = fixed ? given.get(name) : undefined;
    if (ignored !== undefined) {
      given.delete(name);
      warnings.push(`parameter "${name}" is fixed since the installation: the value from ${ignored.from} is ignored.`);
    }
    if (!appliesTo(parameter, action)) {
      if (given.has(name))
        warnings.push(`parameter "${name}" does not apply to ${action}: it is kept for later and not passed on.`);
      continue;
    }
    const found =
      (fixed ? sourced(installed.get(name), keptFrom) : undefined) ??
      given.get(name) ??
      kept.get(name) ??
      (await fromOutput(sources, name, definition, (problem) => refuse(name, problem))) ??
      sourced({ value: defaultOf(definition), sensitive: false }, 'default');
    if (refused.has(name)) continue;
    const sensitive = found?.sensitive === true || isSensitive(bundle, parameter.definition);
    if (found === undefined) {
      if (parameter.required === true) problems.push(missing(name, parameter.description));
      applied.push({ name, from: 'not set', sensitive });
      continue;
    }
    const { value, from } = found;
    problems.push(
      ...(await checkValue(asSecretIf(sensitive, definition), value, `parameter "${name}" (${from})`, time)),
    );
    applied.push({ name, value, from, sensitive });
  }
  if (problems.length > 0) {
    const lacking = applied.filter(
      ({ name, value }) => value === undefined && own(bundle.parameters, name)?.required === true,
    );
    throw notFitting(
      problems,
      lacking.map(({ name }) => name),
    );
  }
  const carried = [...new Map([...kept, ...given])];
  const secret = [
    ...applied.filter(({ sensitive }) => sensitive).map(({ name }) => name),
    ...carried.filter(([, { sensitive }]) => sensitive === true).map(([name]) => name),
  ];
  return {
    applied,
    overrides: Object.fromEntries(carried.map(([name, { value }]) => [name, value])),
    kept: [...kept.keys()].filter((name) => !given.has(name)),
    sensitive: [...new Set(secret)],
    warnings,
  };
}

/** The values that were given, typed. */
function readGiven(
  { bundle, given: all }: ParameterSources,
  kept: ReadonlyMap<string, Sourced>,
  refuse: (name: string, problem: string) => void,
): Map<string, Sourced> {
  const given = new Map<string, Sourced>();
  for (const { name, value, from, shared } of all) {
    const parameter = own(bundle.parameters, name);
    if (parameter === undefined) {
      if (shared !== true) refuse(name, `${from}: the bundle has no parameter "${name}"${advice(bundle, name)}`);
      continue;
    }
    try {
      const read = typed(definitionOf(bundle, parameter.definition), value);
      const before = kept.get(name);
      const sensitive = before?.sensitive === true && isDeepStrictEqual(before.value, read);
      given.set(name, { value: read, from, sensitive });
    } catch (error) {
      refuse(name, problemOf(name, from, error));
    }
  }
  return given;
}

function typed(definition: Definition, value: GivenParameter['value']): Json {
  switch (value.kind) {
    case 'text':
      return parseValue(definition, value.text);
    case 'typed':
      return value.json;
    case 'file':
      return parseValue(definition, encodeFileValue(definition, value.bytes));
  }
}

function keptValues(
  { bundle, overrides, keptSecrets, keptFrom }: ParameterSources,
  warnings: string[],
): ReadonlyMap<string, Sourced> {
  const kept = new Map(
    Object.entries(overrides).map(([name, value]) => [
      name,
      { value, from: keptFrom, sensitive: keptSecrets.includes(name) },
    ]),
  );
  const dropped = [...kept.keys()].filter((name) => own(bundle.parameters, name) === undefined);
  if (dropped.length > 0) {
    warnings.push(`the bundle no longer has these parameters, their kept values are dropped: ${dropped.join(', ')}.`);
  }
  for (const name of dropped) kept.delete(name);
  return kept;
}

/** The first of the parameter's source outputs that is there. One that does not fit is a problem, not a reason to go on. */
async function fromOutput(
  { bundle, outputOf }: ParameterSources,
  name: string,
  definition: Definition,
  refuse: (problem: string) => void,
): Promise<Sourced | undefined> {
  for (const output of sourceOutputsOf(bundle, name)) {
    const from = `output "${output}"`;
    try {
      const found = await outputOf(output);
      if (found === undefined) continue;
      const { bytes, sensitive } = found;
      return { value: typed(asSecretIf(sensitive, definition), { kind: 'file', bytes }), from, sensitive };
    } catch (error) {
      refuse(problemOf(name, from, error));
      return undefined;
    }
  }
  return undefined;
}

function sourced(held: HeldValue | undefined, from: string): Sourced | undefined {
  return held?.value === undefined ? undefined : { value: held.value, from, sensitive: held.sensitive };
}

function defaultOf(definition: Definition): Json | undefined {
  return typeof definition === 'object' ? own(definition, 'default') : undefined;
}

function isReadOnly(definition: Definition): boolean {
  return typeof definition === 'object' && own(definition, 'readOnly') === true;
}

/** With it no message tells the value. */
function asSecretIf(sensitive: boolean, definition: Definition): Definition {
  if (!sensitive || definition === false) return definition;
  return { ...(definition === true ? {} : definition), writeOnly: true };
}

/** Throws what is a bug of ours. */
function problemOf(name: string, from: string, error: unknown): string {
  if (!(error instanceof CnabError)) throw error;
  return `parameter "${name}" (${from}): ${error.message}`;
}
