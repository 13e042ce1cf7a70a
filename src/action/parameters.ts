import { appliesTo, isSensitive, type Bundle, type Definition, type Json } from '../bundle/bundle.js';
import { own } from '../bundle/own.js';
import { checkValue, coerceValue, encodeFileValue, parseValue } from '../bundle/values.js';
import { CnabError, messageOf } from '../errors.js';
import type { GivenParameter } from './request.js';

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
  /** Resolved values of the last modifying run, for readOnly; absent on install. */
  readonly installed?: Readonly<Record<string, Json>>;
  readonly keptFrom: string;
  /** Text of the installation's last output of that name (extension io.cnab.parameter-sources). */
  readonly outputText: (output: string, definition: Definition) => Promise<string | undefined>;
}

/**
 * Typed values by precedence (reference: spec 101 and 103): default < parameter source < kept < given, later given wins.
 * Rejects with CnabError `invalid` that lists every problem: unknown names, values that do not fit, what is missing.
 */
export async function resolveParameters(sources: ParameterSources): Promise<ResolvedParameters> {
  const { bundle, action, overrides } = sources;
  const declared = Object.entries(bundle.parameters ?? {});
  const problems: string[] = [];
  const warnings: string[] = [];
  const { given, refused } = readGiven(sources, problems);
  const kept = Object.entries(overrides).filter(([name]) => declared.some(([known]) => known === name));
  const dropped = Object.keys(overrides).filter((name) => !declared.some(([known]) => known === name));
  if (dropped.length > 0) {
    warnings.push(`the bundle no longer has these parameters, their kept values are dropped: ${dropped.join(', ')}.`);
  }
  const keptValues = new Map(kept);
  const applied: ResolvedParameter[] = [];
  const missing: string[] = [];
  for (const [name, parameter] of declared) {
    const definition = definitionOf(bundle, parameter.definition);
    const sensitive = isSensitive(bundle, parameter.definition);
    const applies = appliesTo(parameter, action);
    if (refused.has(name)) continue;
    let set = given.get(name);
    const readOnly = typeof definition === 'object' && definition['readOnly'] === true;
    if (set !== undefined && readOnly && sources.installed !== undefined) {
      warnings.push(
        `parameter "${name}" is fixed since the installation (readOnly): the value from ${set.from} is ignored.`,
      );
      given.delete(name);
      set = undefined;
    }
    if (!applies) {
      if (set !== undefined)
        warnings.push(`parameter "${name}" does not apply to ${action}: it is kept for later and not passed on.`);
      continue;
    }
    const found = set ?? (await fallback(sources, name, definition, readOnly, keptValues, problems));
    if (found === undefined) {
      if (parameter.required === true) missing.push(name);
      applied.push({ name, from: 'not set', sensitive });
      continue;
    }
    const value = coerceValue(definition, found.value);
    problems.push(...(await checkValue(definition, value, `parameter "${name}" (${found.from})`)));
    applied.push({ name, value, from: found.from, sensitive });
  }
  throwIfAny(problems, missing, bundle);
  const carried = {
    ...Object.fromEntries(keptValues),
    ...Object.fromEntries([...given].map(([name, { value }]) => [name, value])),
  };
  return { applied, overrides: carried, kept: [...keptValues.keys()].filter((name) => !given.has(name)), warnings };
}

interface Sourced {
  readonly value: Json;
  readonly from: string;
}

/** The values that were given, typed; `refused` are the names whose value has already been reported as a problem. */
function readGiven(
  sources: ParameterSources,
  problems: string[],
): { given: Map<string, Sourced>; refused: ReadonlySet<string> } {
  const { bundle } = sources;
  const given = new Map<string, Sourced>();
  const refused = new Set<string>();
  for (const { name, value, from } of sources.given) {
    const parameter = own(bundle.parameters, name);
    if (parameter === undefined) {
      const names = Object.keys(bundle.parameters ?? {});
      problems.push(
        `${from}: the bundle has no parameter "${name}"${names.length > 0 ? `; it has ${names.join(', ')}` : ''}.`,
      );
      continue;
    }
    const definition = definitionOf(bundle, parameter.definition);
    try {
      given.set(name, { value: typed(definition, value), from });
    } catch (error) {
      if (!(error instanceof CnabError)) throw error;
      problems.push(`parameter "${name}" (${from}): ${error.message}`);
      refused.add(name);
    }
  }
  return { given, refused };
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

async function fallback(
  sources: ParameterSources,
  name: string,
  definition: Definition,
  readOnly: boolean,
  kept: ReadonlyMap<string, Json>,
  problems: string[],
): Promise<Sourced | undefined> {
  const { bundle, installed, keptFrom } = sources;
  if (readOnly && installed !== undefined && Object.hasOwn(installed, name)) {
    return { value: installed[name] as Json, from: keptFrom };
  }
  if (kept.has(name)) return { value: kept.get(name) as Json, from: keptFrom };
  for (const output of sourceOutputs(bundle, name)) {
    const text = await sources.outputText(output, definition);
    if (text === undefined) continue;
    try {
      return { value: parseValue(definition, text), from: `output "${output}"` };
    } catch (error) {
      problems.push(`parameter "${name}" (output "${output}"): ${messageOf(error)}`);
      return undefined;
    }
  }
  if (typeof definition === 'object' && Object.hasOwn(definition, 'default')) {
    return { value: definition['default'] as Json, from: 'default' };
  }
  return undefined;
}

/** Outputs that may give the parameter's default, in the order of `priority` (extension io.cnab.parameter-sources, 810). */
function sourceOutputs(bundle: Bundle, parameter: string): readonly string[] {
  const extension = bundle.custom?.['io.cnab.parameter-sources'] as
    Record<string, { priority?: string[]; sources?: Record<string, { name?: string }> }> | undefined;
  const entry = own(extension, parameter);
  if (!Array.isArray(entry?.priority)) return [];
  return entry.priority
    .filter((kind) => kind === 'output')
    .map((kind) => entry.sources?.[kind]?.name)
    .filter((name): name is string => typeof name === 'string');
}

function definitionOf(bundle: Bundle, name: string): Definition {
  return own(bundle.definitions, name) ?? true;
}

function throwIfAny(problems: readonly string[], missing: readonly string[], bundle: Bundle): void {
  if (problems.length === 0 && missing.length === 0) return;
  const details = [
    ...problems,
    ...missing.map((name) => {
      const description = bundle.parameters?.[name]?.description;
      return `parameter "${name}" is required and has no value${description === undefined ? '.' : `: ${description}`}`;
    }),
  ];
  throw new CnabError('invalid', 'the parameters do not fit the bundle:', {
    details,
    suggestions: missing.length > 0 ? [`Add: ${missing.map((name) => `-p ${name}=VALUE`).join(' ')}`] : [],
  });
}
