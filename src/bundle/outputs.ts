import { isUtf8 } from 'node:buffer';
import { isBase64Text } from './base64.js';
import { holdsSecrets, type Definition, type Json } from './bundle.js';
import { canonical } from './canonical.js';
import { reasonOf } from './definition-check.js';
import { definitionTypes, hasType, isBase64Definition } from './definition-type.js';
import { explain, kindOf, typeNames } from './explain.js';
import { scanJson } from './json-scan.js';
import { own } from './own.js';
import { quoted } from './problem.js';
import { TimeLimitError, type CheckTime } from './time-limit.js';
import { validatorsFor, type Check } from './validators.js';
import { valueTime } from './values.js';

export { definitionType } from './definition-type.js';

/**
 * Why an output's bytes do not fit its definition, as the end of a sentence (`must be a JSON document of the type …`);
 * undefined when they fit. Nothing of the value is told when the definition is sensitive.
 *
 * - An empty file is a present output with the value `""` and fits every definition but `false` (as in cnab-go).
 * - Where string is among the types, or there are none, any text is allowed that fits the rest of the definition, as it
 *   is or without its final line break, which `echo` adds; JSON text may fit as JSON. Binary content fits.
 * - Otherwise the bytes must be one JSON document of a declared type that fits the definition.
 * - contentEncoding is not enforced: see `outputWarning`. A definition that cannot be compiled forbids nothing.
 *
 * `time` is for several outputs together. Resolves for every definition and content.
 */
export async function checkOutput(
  definition: Definition,
  bytes: Uint8Array,
  time: CheckTime = valueTime(),
): Promise<string | undefined> {
  if (definition === true) return undefined;
  if (definition === false) return 'is not allowed at all';
  if (bytes.length === 0) return undefined;
  const types = definitionTypes(definition);
  const takesText = types.length === 0 || types.includes('string');
  if (!isUtf8(bytes)) return takesText ? undefined : `must be ${typeNames(types)} in JSON, but is binary`;
  const text = Buffer.from(bytes).toString('utf8');
  const json = parseJson(text);
  if (!takesText) {
    if (json === undefined) return `must be ${typeNames(types)} in JSON, but is no JSON document`;
    if (!hasType(json, types)) return `must be ${typeNames(types)} in JSON, but is ${kindOf(json)}`;
  }
  const candidates: Json[] = [];
  if (takesText) candidates.push(text, ...(/\r?\n$/.test(text) ? [text.replace(/\r?\n$/, '')] : []));
  if (json !== undefined && hasType(json, types)) candidates.push(json);
  return await misfit(definition, candidates, time);
}

function unchecked(thrown: unknown): string {
  return `cannot be checked against its definition: ${reasonOf(thrown)}`;
}

/** The first candidate's reason when none fits. */
async function misfit(
  definition: Definition,
  candidates: readonly Json[],
  time: CheckTime,
): Promise<string | undefined> {
  const validators = await validatorsFor([definition]);
  let check: Check;
  try {
    check = time.spend(() => validators.compile(definition, { allErrors: false, encodings: false }));
  } catch (thrown) {
    return thrown instanceof TimeLimitError ? unchecked(thrown) : undefined;
  }
  let reason: string | undefined;
  for (const candidate of candidates) {
    try {
      const [first] = explain(
        time.spend(() => check(candidate)),
        { sensitive: holdsSecrets(definition) },
      );
      if (first === undefined) return undefined;
      reason ??= first.path.length === 0 ? first.text : `at ${quoted(first.path.join('.'))} ${first.text}`;
    } catch (thrown) {
      return unchecked(thrown);
    }
  }
  return reason;
}

/** What is odd about an output that is kept all the same, as the end of a sentence: it should be base64 and is not. */
export function outputWarning(definition: Definition, bytes: Uint8Array): string | undefined {
  if (!isBase64Definition(definition) || isBase64Text(Buffer.from(bytes).toString('latin1'))) return undefined;
  return 'is declared as base64 and is not: it is stored as it was written';
}

/**
 * An output's value for JSON documents: text where the definition takes strings or has no type, the parsed JSON
 * otherwise. Undefined when the bytes are binary, or no JSON although the definition asks for it. Integers beyond 2^53
 * would lose digits, so a document that holds one is given as its text.
 */
export function typedOutput(definition: Definition, bytes: Uint8Array): Json | undefined {
  if (!isUtf8(bytes)) return undefined;
  const text = Buffer.from(bytes).toString('utf8');
  const types = definitionTypes(definition);
  if (types.length === 0 || (types.length === 1 && types[0] === 'string')) return text;
  const json = parseJson(text);
  const fits = json !== undefined && typeof json !== 'string' && hasType(json, types);
  if (!fits && types.includes('string')) return text;
  if (json === undefined) return undefined;
  return scanJson(text).unsafeIntegers.length > 0 ? text.trim() : json;
}

/**
 * What stands in for an output that the bundle did not write: the definition's default, a string as it is, anything else
 * as JSON text. Undefined without one; `default: null` counts only where the definition allows null.
 */
export function outputDefault(definition: Definition): Uint8Array | undefined {
  if (typeof definition === 'boolean' || !Object.hasOwn(definition, 'default')) return undefined;
  const value = own(definition, 'default') ?? null;
  if (value === null && !hasType(null, definitionTypes(definition))) return undefined;
  return Buffer.from(typeof value === 'string' ? value : canonical(value), 'utf8');
}

function parseJson(text: string): Json | undefined {
  try {
    return scanJson(text).tooDeepAt === undefined ? (JSON.parse(text) as Json) : undefined;
  } catch {
    return undefined;
  }
}
