/** What one pass over JSON text tells before anything is parsed. */
export interface JsonScan {
  /** Where nesting first exceeds MAX_DEPTH. */
  readonly tooDeepAt?: number;
  /** Colons outside strings: the number of members written, duplicates included. */
  readonly members: number;
  /** Places of integers beyond ±(2^53 − 1), written with an exponent only where no number holds them, at most 100: parsing changes them. */
  readonly unsafeIntegers: readonly number[];
}

/** Levels of nesting. Parsers, validators and serializers recurse; real bundles stay below 20. */
export const MAX_DEPTH = 256;

const MOST_UNSAFE_INTEGERS = 100;
const SHORTEST_UNSAFE_INTEGER = 16;

/** Linear in the text, whatever it holds; on broken JSON the answer is a good guess. */
export function scanJson(text: string): JsonScan {
  let depth = 0;
  let members = 0;
  let tooDeepAt: number | undefined;
  const unsafeIntegers: number[] = [];
  for (let index = 0; index < text.length; index++) {
    switch (text.charAt(index)) {
      case '"':
        index = endOfString(text, index);
        break;
      case '{':
      case '[':
        if (++depth > MAX_DEPTH) tooDeepAt ??= index;
        break;
      case '}':
      case ']':
        depth--;
        break;
      case ':':
        members++;
        break;
      case '-':
      case '0':
      case '1':
      case '2':
      case '3':
      case '4':
      case '5':
      case '6':
      case '7':
      case '8':
      case '9': {
        const end = endOfNumber(text, index);
        if (isUnsafeInteger(text, index, end) && unsafeIntegers.length < MOST_UNSAFE_INTEGERS)
          unsafeIntegers.push(index);
        index = end - 1;
        break;
      }
    }
  }
  return { members, unsafeIntegers, ...(tooDeepAt === undefined ? {} : { tooDeepAt }) };
}

/** Position of the closing quote; a string that is not closed ends with its line, as for the parser that reports it. */
function endOfString(text: string, start: number): number {
  for (let index = start + 1; index < text.length; index++) {
    const character = text[index];
    if (character === '"') return index;
    if (character === '\n' || character === '\r') return index;
    if (character === '\\') index++;
  }
  return text.length;
}

function endOfNumber(text: string, start: number): number {
  let index = start + 1;
  while (index < text.length && '0123456789.eE+-'.includes(text[index] ?? ' ')) index++;
  return index;
}

function isUnsafeInteger(text: string, start: number, end: number): boolean {
  // `1e400` would become Infinity, and that `null` when it is written again.
  if (Math.abs(Number(text.slice(start, end))) === Infinity) return true;
  if (end - start < SHORTEST_UNSAFE_INTEGER) return false;
  const number = text.slice(start, end);
  return /^-?\d+$/.test(number) && !Number.isSafeInteger(Number(number));
}
