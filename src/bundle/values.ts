import { isUtf8 } from 'node:buffer';
import { CnabError } from '../errors.js';
import { holdsSecrets, type Definition, type Json } from './bundle.js';
import { canonical } from './canonical.js';
import { isSmall, reasonOf } from './definition-check.js';
import { definitionTypes, isBase64Definition } from './definition-type.js';
import { explain } from './explain.js';
import { quoted } from './problem.js';
import { CheckTime } from './time-limit.js';
import { validatorsFor } from './validators.js';

/** For the values or the outputs of one run: a pattern can go on for ever, and meanwhile nothing can be interrupted. */
export function valueTime(): CheckTime {
  return new CheckTime(2_000, 10_000);
}

/**
 * The text that a bundle gets in its environment variable or file (spec 103): a string as it is, never quoted; anything
 * else as JSON with sorted keys; no value as the empty string.
 */
export function valueText(value: Json | undefined): string {
  if (value === undefined) return '';
  return typeof value === 'string' ? value : canonical(value);
}

/**
 * What is wrong with a value by its definition (draft 7, base64 included); empty when it fits. Each is a sentence that
 * begins with `what`, as in `parameter "port" must be at most 65535, but is 80000`. Nothing of the value is told when the
 * definition is sensitive (`writeOnly`, anywhere in it). `time` is for several values together. Resolves for every value and definition.
 */
export async function checkValue(
  definition: Definition,
  value: Json,
  what: string,
  time: CheckTime = valueTime(),
): Promise<string[]> {
  if (typeof value === 'string' && /\p{Surrogate}/u.test(value)) {
    return [`${what} holds half a character (a lone surrogate), which would reach the bundle as another one`];
  }
  if (definition === true) return [];
  const validators = await validatorsFor([definition]);
  const sensitive = holdsSecrets(definition);
  try {
    const errors = time.spend(() =>
      validators.compile(definition, { allErrors: isSmall(value), encodings: true })(value),
    );
    return explain(errors, { sensitive }).map(
      ({ path, text }) => `${what}${path.length === 0 ? '' : ` at ${quoted(path.join('.'))}`} ${text}`,
    );
  } catch (thrown) {
    return [`${what} cannot be checked against its definition: ${reasonOf(thrown)}`];
  }
}

/**
 * The text of a value that is given as a file: base64 of the bytes where the definition says `contentEncoding: base64`,
 * else the bytes as text. One final line break is dropped where the value cannot be a string, since editors add it.
 * The text goes through `parseValue` like any other.
 *
 * @throws CnabError `invalid`, the end of a sentence, when the bytes are not UTF-8.
 */
export function encodeFileValue(definition: Definition, bytes: Uint8Array): string {
  if (isBase64Definition(definition)) return Buffer.from(bytes).toString('base64');
  if (!isUtf8(bytes)) {
    throw new CnabError(
      'invalid',
      'must be UTF-8 text, but the file is binary: only definitions with contentEncoding base64 take such',
    );
  }
  const text = Buffer.from(bytes).toString('utf8');
  const types = definitionTypes(definition);
  return types.length === 0 || types.includes('string') ? text : text.replace(/\r?\n$/, '');
}
