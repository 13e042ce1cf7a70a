import type { ErrorObject } from 'ajv';
import { pathOf, quoted, type Finding } from './problem.js';

/** One thing that a JSON Schema does not allow, as the end of a sentence: `must be at least 1, but is 0`. */
export interface Explanation {
  /** From the root of the checked value. */
  readonly path: readonly string[];
  readonly at: Finding['at'];
  readonly text: string;
}

export interface ExplainOptions {
  /** Sensitive values: nothing that comes from the value itself is told, no text, no number, no key. */
  readonly sensitive?: boolean;
}

const KINDS_WITH_BRANCHES = new Set(['anyOf', 'oneOf']);
const MOST_BRANCHES = 3;

/** Translates ajv's errors (compiled with `verbose`); what only explains a branch of anyOf or oneOf is folded into it. */
export function explain(errors: readonly ErrorObject[], options: ExplainOptions = {}): readonly Explanation[] {
  const folded = new Map<ErrorObject, readonly ErrorObject[]>();
  let open: ErrorObject[] = [];
  for (const error of errors) {
    if (KINDS_WITH_BRANCHES.has(error.keyword)) {
      // ajv reports the branches right before the keyword that they failed.
      const branches = open.filter((earlier) => isBranchOf(earlier, error));
      open = open.filter((earlier) => !branches.includes(earlier));
      folded.set(error, branches);
    } else if (error.keyword === 'if' || error.keyword === 'propertyNames') {
      continue;
    }
    open.push(error);
  }
  const seen = new Set<string>();
  return open
    .map((error) => one(error, folded.get(error) ?? [], options))
    .filter(({ path, text }) => {
      const key = JSON.stringify([path, text]);
      return !seen.has(key) && seen.add(key) !== undefined;
    });
}

function isBranchOf(earlier: ErrorObject, combined: ErrorObject): boolean {
  const inside =
    earlier.instancePath === combined.instancePath || earlier.instancePath.startsWith(`${combined.instancePath}/`);
  if (!inside) return false;
  const parent = combined.schemaPath.slice(0, combined.schemaPath.lastIndexOf('/') + 1);
  // A branch behind a $ref has the path of the schema that it refers to.
  return earlier.schemaPath.startsWith(`${combined.schemaPath}/`) || !earlier.schemaPath.startsWith(parent);
}

function one(error: ErrorObject, branches: readonly ErrorObject[], options: ExplainOptions): Explanation {
  const sensitive = options.sensitive === true;
  const path = sensitive ? [] : pathOf(error.instancePath);
  const unknown = error.keyword === 'additionalProperties' ? String(error.params['additionalProperty']) : undefined;
  if (unknown !== undefined) {
    if (sensitive) return { path, at: 'value', text: 'has a property that is not allowed' };
    return { path: [...path, unknown], at: 'key', text: 'is no property that is allowed here' };
  }
  const named = error.propertyName;
  if (named !== undefined) {
    return sensitive
      ? { path, at: 'value', text: 'has a property whose name is not allowed' }
      : { path: [...path, named], at: 'key', text: `has a name that ${demand(error, [], sensitive)}` };
  }
  return { path, at: 'value', text: demand(error, branches, sensitive) };
}

function demand(error: ErrorObject, branches: readonly ErrorObject[], sensitive: boolean): string {
  const { keyword, params, data } = error;
  const but = sensitive ? '' : `, but is ${shown(data)}`;
  const count = (unit: string): string => (sensitive ? '' : `, but has ${countOf(data, unit)}`);
  const limit = String(params['limit']);
  switch (keyword) {
    case 'type':
      return `must be ${typeNames(params['type'])}, but is ${kindOf(data)}`;
    case 'required':
    case 'dependencies':
    case 'dependentRequired':
      return `has no ${quoted(String(params['missingProperty']))}`;
    case 'minimum':
      return `must be at least ${limit}${but}`;
    case 'maximum':
      return `must be at most ${limit}${but}`;
    case 'exclusiveMinimum':
      return `must be more than ${limit}${but}`;
    case 'exclusiveMaximum':
      return `must be less than ${limit}${but}`;
    case 'multipleOf':
      return `must be a multiple of ${String(params['multipleOf'])}${but}`;
    case 'minLength':
      return `must have at least ${limit} characters${count('character')}`;
    case 'maxLength':
      return `must have at most ${limit} characters${count('character')}`;
    case 'minItems':
      return `must have at least ${limit} ${limit === '1' ? 'entry' : 'entries'}${count('entry')}`;
    case 'maxItems':
    case 'additionalItems':
      return `must have at most ${limit} entries${count('entry')}`;
    case 'minProperties':
      return `must have at least ${limit} properties${count('property')}`;
    case 'maxProperties':
      return `must have at most ${limit} properties${count('property')}`;
    case 'uniqueItems':
      return `must not hold the same entry twice`;
    case 'contains':
      return 'must hold an entry of the kind that "contains" asks for';
    case 'pattern':
      return `must match the pattern ${quoted(String(params['pattern']))}${but}`;
    case 'format':
      return `must be in the format ${quoted(String(params['format']))}${but}`;
    case 'contentEncoding':
      return 'must be base64 text (standard alphabet, with padding)';
    case 'enum':
      return sensitive
        ? 'must be one of the values that "enum" lists'
        : `must be one of ${list(params['allowedValues'])}${but}`;
    case 'const':
      return sensitive || isStructure(params['allowedValue'])
        ? 'must be the value that "const" gives'
        : `must be ${shown(params['allowedValue'])}${but}`;
    case 'not':
      return 'is what "not" forbids';
    case 'false schema':
      return 'is not allowed at all';
    case 'anyOf':
    case 'oneOf':
      return alternatives(error, branches, sensitive);
    default:
      return `does not fit ${quoted(keyword)}`;
  }
}

function alternatives(error: ErrorObject, branches: readonly ErrorObject[], sensitive: boolean): string {
  const passing: unknown = error.params['passingSchemas'];
  if (Array.isArray(passing)) return `fits ${passing.length} alternatives of "oneOf" at once: exactly one is allowed`;
  const demands = [
    ...new Set(
      branches
        .filter((branch) => branch.instancePath === error.instancePath)
        .map((branch) => demand(branch, [], sensitive)),
    ),
  ];
  if (demands.length === 0 || demands.length > MOST_BRANCHES)
    return `fits none of the alternatives of "${error.keyword}"`;
  return demands.join(', or ');
}

const TYPE_NAMES: Readonly<Record<string, string>> = {
  string: 'text (a string)',
  integer: 'an integer',
  number: 'a number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  null: 'null',
};

/** `an integer or a list`, from one or more type names of JSON Schema. */
export function typeNames(types: unknown): string {
  const names = Array.isArray(types) ? types.map(String) : String(types).split(',');
  return names.map((name) => (Object.hasOwn(TYPE_NAMES, name) ? TYPE_NAMES[name] : quoted(name))).join(' or ');
}

/** What a value is, without the value. */
export function kindOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  switch (typeof value) {
    case 'string':
      return 'text';
    case 'number':
      return Number.isInteger(value) ? 'an integer' : 'a number with a fraction';
    case 'boolean':
      return String(value);
    default:
      return 'an object';
  }
}

function shown(value: unknown): string {
  if (typeof value === 'string') return quoted(value);
  return isStructure(value) ? kindOf(value) : String(value);
}

function isStructure(value: unknown): boolean {
  return value !== null && typeof value === 'object';
}

function list(values: unknown): string {
  if (!Array.isArray(values)) return 'the values that "enum" lists';
  const first = values.slice(0, 8).map(shown);
  return values.length > first.length
    ? `${first.join(', ')} and ${values.length - first.length} more`
    : first.join(', ');
}

function countOf(data: unknown, unit: string): string {
  const count =
    typeof data === 'string' ? [...data].length : Array.isArray(data) ? data.length : Object.keys(data ?? {}).length;
  const plural = unit.endsWith('y') ? `${unit.slice(0, -1)}ies` : `${unit}s`;
  return `${count === 0 ? 'none' : `${count} ${count === 1 ? unit : plural}`}`;
}
