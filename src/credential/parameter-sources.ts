import { resolve } from 'node:path';
import type { GivenParameter } from '../action/request.js';
import type { Json, JsonObject } from '../bundle/bundle.js';
import { CnabError } from '../errors.js';
import { parseDocument } from './document.js';
import { locateSet, type LocateOptions } from './locate.js';
import { readLimited, SourceProblem } from './read-limited.js';
import { readSetFile } from './resolve.js';
import { isSetDocument, readSet, type SetEntry, type Source } from './set.js';
import { resolveSource, type Surroundings } from './source.js';

/** A parameter travels in Secrets, in parts of 1 MiB; more than this is no parameter. */
export const MAX_PARAMETER_BYTES = 16 * 1024 * 1024;

export interface ParameterOptions extends Surroundings {
  /** `-p k=v`, as typed. */
  readonly params: readonly string[];
  /** `--param-file k=path`. */
  readonly paramFiles: readonly string[];
  /** `--params`: files that hold a map of values or a parameter set, or names of parameter sets. */
  readonly valueFiles: readonly string[];
  /** Folder that holds `parameters/`. */
  readonly home: string;
  /** Sources of parameter sets for other names are left alone; all are read when absent. */
  readonly wanted?: (name: string) => boolean;
}

/** A parameter that is known by name and whose value is still to be read. */
interface Pending {
  readonly name: string;
  readonly read: () => Promise<GivenParameter>;
  readonly where: string;
}

/**
 * All parameters that the flags give, in rising precedence: `--params` in their order, then `--param-file`, then `-p`.
 * A source of a parameter set that something later overrules is not read.
 * Rejects with CnabError `invalid` with all problems at once, `not-found` for a parameter set that is not there.
 */
export async function readGivenParameters(options: ParameterOptions): Promise<readonly GivenParameter[]> {
  const pending: Pending[] = [];
  const problems: string[] = [];
  const errors: CnabError[] = [];
  for (const given of options.valueFiles) {
    try {
      pending.push(...(await fromValueFile(given, options)));
    } catch (error) {
      if (!(error instanceof CnabError)) throw error;
      errors.push(error);
    }
  }
  pending.push(...fromFlags(options, problems));
  const last = new Map(pending.map((parameter) => [parameter.name, parameter]));
  const given: GivenParameter[] = [];
  for (const parameter of pending) {
    if (last.get(parameter.name) !== parameter) continue;
    try {
      given.push(await parameter.read());
    } catch (error) {
      if (!(error instanceof SourceProblem)) throw error;
      problems.push(`parameter "${parameter.name}" (${parameter.where}): ${error.message}`);
    }
  }
  fail(problems, errors);
  return given;
}

function fail(problems: readonly string[], errors: readonly CnabError[]): void {
  const [first] = errors;
  if (first !== undefined && errors.length === 1 && problems.length === 0) throw first;
  const details = [...errors.flatMap(({ message, details: more }) => [message, ...more]), ...problems];
  const [only] = details;
  if (only === undefined) return;
  if (details.length === 1) throw new CnabError('invalid', only);
  throw new CnabError(
    problems.length > 0 ? 'invalid' : (first?.code ?? 'invalid'),
    'these parameters cannot be used:',
    {
      details,
      suggestions: [...new Set(errors.flatMap(({ suggestions }) => suggestions))],
    },
  );
}

async function fromValueFile(given: string, options: ParameterOptions): Promise<readonly Pending[]> {
  const locate: LocateOptions = { home: options.home, cwd: options.cwd, anyFile: true };
  const { path, label } = await locateSet(given, 'parameter', locate);
  const document = await parseDocument(await readSetFile(path, 'parameter'), path);
  const json = document.json ?? {};
  if (isSetDocument(json, 'parameter')) {
    const set = readSet(document, 'parameter', path);
    const from = `parameter set ${set.name ?? label}`;
    return set.entries
      .filter(({ name }) => options.wanted?.(name) ?? true)
      .map((entry) => ({ name: entry.name, where: entry.where, read: () => fromSource(entry, from, options) }));
  }
  if (isSetDocument(json, 'credential')) {
    throw new CnabError('invalid', `${path} is a credential set: name it with -c`);
  }
  if (!isObject(json)) throw new CnabError('invalid', `${path} does not hold a map of parameters and their values`);
  const from = `--params ${given}`;
  return Object.entries(json).map(([name, value]) => ({
    name,
    where: from,
    read: () => Promise.resolve({ name, value: { kind: 'typed', json: value }, from }),
  }));
}

/** Text of a set is converted by the parameter's type, as Porter's sets need it, which hold all values as text. */
async function fromSource(
  { name, source }: SetEntry,
  from: string,
  options: ParameterOptions,
): Promise<GivenParameter> {
  return { name, from, shared: true, value: await valueOf(source, options) };
}

async function valueOf(source: Source, options: ParameterOptions): Promise<GivenParameter['value']> {
  if (source.kind === 'value') {
    const { value } = source;
    return typeof value === 'string' ? { kind: 'text', text: value } : { kind: 'typed', json: value };
  }
  const bytes = await resolveSource(source, options, MAX_PARAMETER_BYTES);
  return source.kind === 'env' ? { kind: 'text', text: Buffer.from(bytes).toString() } : { kind: 'file', bytes };
}

function fromFlags({ params, paramFiles, cwd }: ParameterOptions, problems: string[]): readonly Pending[] {
  const files = paramFiles.flatMap((text) => split(text, '--param-file', 'k=PATH', problems));
  const texts = params.flatMap((text) => split(text, '-p', 'k=VALUE', problems));
  const both = files.filter(({ name }) => texts.some((other) => other.name === name)).map(({ name }) => name);
  problems.push(...[...new Set(both)].map((name) => `parameter "${name}" is given by both -p and --param-file`));
  return [
    ...files.map(({ name, rest }) => ({ name, where: '--param-file', read: () => fromFile(name, resolve(cwd, rest)) })),
    ...texts.map(({ name, rest }) => ({
      name,
      where: '-p',
      read: () => Promise.resolve<GivenParameter>({ name, value: { kind: 'text', text: rest }, from: '-p' }),
    })),
  ];
}

async function fromFile(name: string, path: string): Promise<GivenParameter> {
  const bytes = await readLimited(path, MAX_PARAMETER_BYTES);
  return { name, value: { kind: 'file', bytes }, from: `--param-file ${path}` };
}

/** Splits at the first `=`; nothing is trimmed, blanks may be meant. */
function split(text: string, flag: string, form: string, problems: string[]): { name: string; rest: string }[] {
  const equals = text.indexOf('=');
  if (equals > 0) return [{ name: text.slice(0, equals), rest: text.slice(equals + 1) }];
  if (equals === 0) problems.push(`${flag} has no name before its "=": write ${flag} ${form}`);
  else if (/\.(?:ya?ml|json)$/iu.test(text))
    problems.push(`${flag} ${text} has no "=": did you mean --params ${text}?`);
  else problems.push(`${flag} ${text} has no "=": write ${flag} ${form.replace('k', text)}`);
  return [];
}

function isObject(json: Json | undefined): json is JsonObject {
  return typeof json === 'object' && json !== null && !Array.isArray(json);
}
