import { appliesTo, isSensitive, type Bundle, type Definition, type Json } from '../bundle/bundle.js';
import { nearest } from '../bundle/nearest.js';
import { own } from '../bundle/own.js';
import { shellWord } from '../bundle/shell-word.js';
import { parseValue } from '../bundle/value-text.js';
import { checkValue, encodeFileValue, valueTime } from '../bundle/values.js';
import { CnabError } from '../errors.js';
import { sourceOutputsOf } from './extensions.js';
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
  readonly warnings: readonly string[];
}

export interface ParameterSources {
  readonly bundle: Bundle;
  readonly action: string;
  /** In rising precedence. */
  readonly given: readonly GivenParameter[];
  /** What the user set in earlier runs. */
  readonly overrides: Readonly<Record<string, Json>>;
  /** What earlier runs passed on, by parameter, undefined where it was not set: readOnly ones keep it. Empty on install. */
  readonly installed: ReadonlyMap<string, Json | undefined>;
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
  const given = readGiven(sources, refuse);
  const kept = keptValues(sources, warnings);
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
      sourced(fixed ? installed.get(name) : undefined, keptFrom) ??
      given.get(name) ??
      sourced(kept.get(name), keptFrom) ??
      (await fromOutput(sources, name, definition, (problem) => refuse(name, problem))) ??
      sourced(defaultOf(definition), 'default');
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
  if (problems.length > 0) throw notFitting(problems, applied, bundle);
  return {
    applied,
    overrides: {
      ...Object.fromEntries(kept),
      ...Object.fromEntries([...given].map(([name, { value }]) => [name, value])),
    },
    kept: [...kept.keys()].filter((name) => !given.has(name)),
    warnings,
  };
}

/** The values that were given, typed. */
function readGiven(
  { bundle, given: all }: ParameterSources,
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
      given.set(name, { value: typed(definitionOf(bundle, parameter.definition), value), from });
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

function keptValues({ bundle, overrides }: ParameterSources, warnings: string[]): ReadonlyMap<string, Json> {
  const kept = new Map(Object.entries(overrides));
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

function sourced(value: Json | undefined, from: string): Sourced | undefined {
  return value === undefined ? undefined : { value, from };
}

function definitionOf(bundle: Bundle, name: string): Definition {
  return own(bundle.definitions, name) ?? true;
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

const MOST_NAMES = 10;

function advice(bundle: Bundle, name: string): string {
  const names = Object.keys(bundle.parameters ?? {});
  const meant = nearest(name, names);
  if (meant !== undefined) return `: did you mean "${meant}"?`;
  if (names.length === 0) return '.';
  const more = names.length > MOST_NAMES ? ` and ${names.length - MOST_NAMES} more` : '';
  return `; it has ${names.slice(0, MOST_NAMES).join(', ')}${more}.`;
}

function missing(name: string, description: string | undefined): string {
  return `parameter "${name}" is required and has no value${description === undefined ? '.' : `: ${description}`}`;
}

function notFitting(problems: readonly string[], applied: readonly ResolvedParameter[], bundle: Bundle): CnabError {
  const names = applied
    .filter(({ name, value }) => value === undefined && own(bundle.parameters, name)?.required === true)
    .map(({ name }) => `-p ${shellWord(`${name}=VALUE`)}`);
  return new CnabError('invalid', 'the parameters do not fit the bundle:', {
    details: problems,
    suggestions: names.length > 0 ? [`Add: ${names.join(' ')}`] : [],
  });
}
