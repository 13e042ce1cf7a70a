import { CnabError } from '../errors.js';
import { holdsSecrets, type Definition, type Json } from './bundle.js';
import { definitionTypes, hasType } from './definition-type.js';
import { kindOf, typeNames } from './explain.js';
import { scanJson } from './json-scan.js';
import { quoted } from './problem.js';

/** A text that is no value of the type, as the end of a sentence that does not tell the text. */
class Misfit extends Error {}

/**
 * Converts text, as the command line gives it, to a value of the definition's type (cnab-go's `ConvertValue`, with the
 * holes of its parsers closed):
 *
 * - string, or no type: the text as it is. integer: decimal digits with a sign. number: as in JSON, `.5` and `5.` too.
 * - boolean: `true` or `false` in any case. array, object: JSON of that type. null: the word `null`.
 * - several types: JSON where the text is JSON of one of them, else the text where string is one of them.
 *
 * The value is not checked against the rest of the definition; `checkValue` does that.
 *
 * @throws CnabError `invalid` whose message is the end of a sentence about the value (`must be an integer, but is
 * "8O"`); the text is not told when the definition is sensitive.
 */
export function parseValue(definition: Definition, text: string): Json {
  try {
    return convert(definitionTypes(definition), text);
  } catch (thrown) {
    if (!(thrown instanceof Misfit)) throw thrown;
    throw new CnabError(
      'invalid',
      holdsSecrets(definition) ? thrown.message : `${thrown.message}, but is ${quoted(text)}`,
    );
  }
}

function convert(types: readonly string[], text: string): Json {
  const [first, ...others] = types;
  if (first === undefined) return text;
  if (others.length === 0) return convertTo(first, text);
  if (types.includes('string')) {
    const value = tryJson(text);
    return value !== undefined && typeof value !== 'string' && hasType(value, types) ? value : text;
  }
  for (const type of ['null', 'boolean', 'integer', 'number', 'array', 'object']) {
    if (!types.includes(type)) continue;
    try {
      return convertTo(type, text);
    } catch (thrown) {
      if (!(thrown instanceof Misfit)) throw thrown;
    }
  }
  throw new Misfit(`must be ${typeNames(types)}`);
}

function convertTo(type: string, text: string): Json {
  switch (type) {
    case 'string':
      return text;
    case 'integer':
      return integer(text);
    case 'number':
      return number(text);
    case 'boolean': {
      const lower = text.toLowerCase();
      if (lower === 'true' || lower === 'false') return lower === 'true';
      throw new Misfit('must be true or false');
    }
    case 'null':
      if (text === 'null') return null;
      throw new Misfit('must be null');
    case 'array':
    case 'object': {
      const value = tryJson(text);
      if (value === undefined) throw new Misfit(`must be ${typeNames(type)} in JSON`);
      if (!hasType(value, [type])) throw new Misfit(`must be ${typeNames(type)} in JSON and not ${kindOf(value)}`);
      if (scanJson(text).unsafeIntegers.length > 0) throw new Misfit(`must not hold integers ${BEYOND}`);
      return value;
    }
    default:
      throw new Misfit(`cannot be given: its definition has the unknown type ${quoted(type)}`);
  }
}

const BEYOND = 'beyond ±9007199254740991, which cannot be passed on exactly';

function integer(text: string): number {
  if (!/^[+-]?\d+$/.test(text)) throw new Misfit('must be an integer');
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new Misfit('must be an integer between ±9007199254740991');
  return value === 0 ? 0 : value;
}

/** `Number` alone takes empty text, hex and white space for numbers. */
function number(text: string): number {
  if (!/^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/.test(text)) throw new Misfit('must be a number');
  const value = Number(text);
  if (!Number.isFinite(value)) throw new Misfit('must be a number that 64 bits can hold');
  if (/^[+-]?\d+$/.test(text) && BigInt(text.replace(/^\+/, '')) !== BigInt(value))
    throw new Misfit(`must be no integer ${BEYOND}`);
  return value === 0 ? 0 : value;
}

function tryJson(text: string): Json | undefined {
  try {
    return scanJson(text).tooDeepAt === undefined ? (JSON.parse(text) as Json) : undefined;
  } catch {
    return undefined;
  }
}
