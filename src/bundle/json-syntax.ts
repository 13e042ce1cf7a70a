import { messageOf } from '../errors.js';
import { loadParser, placesIn } from './places.js';
import { quoted } from './problem.js';

export interface SyntaxProblem {
  readonly message: string;
  readonly offset: number;
}

/** One slip makes a parser stumble on; more than this is never the list of what to mend. */
const MOST_PROBLEMS = 20;

/**
 * Every syntax error of a text that `JSON.parse` has refused with `refusal`, in order; at least one. No text or number of
 * the document is told: a broken document cannot say which of them are secret.
 */
export async function syntaxProblems(text: string, refusal: unknown): Promise<readonly SyntaxProblem[]> {
  if (text.trim() === '') return [{ message: 'the document is empty', offset: 0 }];
  const errors = await collectErrors(text);
  if (errors.length === 0) return [{ message: 'this is no JSON', offset: placeOf(refusal) }];
  const placeAt = placesIn(text);
  const oneLine = placeAt(text.length).line === 1;
  const offsets = new Set<number>();
  const lines = new Set<number>();
  const problems: SyntaxProblem[] = [];
  for (const { code, offset, length } of errors) {
    const { line } = placeAt(offset);
    // What follows an error on its line is nearly always its echo; these two never are.
    const stray = code === COMMENT || isStrayComma(text, offset);
    if (offsets.has(offset) || (!stray && !oneLine && lines.has(line))) continue;
    offsets.add(offset);
    lines.add(line);
    problems.push({ message: sentence(code, text, offset, length), offset });
    if (problems.length === MOST_PROBLEMS) break;
  }
  return problems;
}

/** `ParseErrorCode` of jsonc-parser 3 is a const enum, which exists in types only. */
const COMMENT = 10;

interface ParserError {
  readonly code: number;
  readonly offset: number;
  readonly length: number;
}

async function collectErrors(text: string): Promise<readonly ParserError[]> {
  const { visit } = await loadParser();
  const errors: ParserError[] = [];
  try {
    visit(
      text,
      {
        onError: (code, offset, length) => {
          if (errors.length < 1000) errors.push({ code, offset, length });
        },
      },
      { disallowComments: true },
    );
  } catch (thrown) {
    // Broken text can hide its nesting from the depth limit, and this parser recurses.
    if (!(thrown instanceof RangeError)) throw thrown;
  }
  return errors;
}

/** V8 names a position in most of its messages. */
function placeOf(refusal: unknown): number {
  const match = /at position (\d+)/.exec(messageOf(refusal));
  return match?.[1] === undefined ? 0 : Number(match[1]);
}

function sentence(code: number, text: string, offset: number, length: number): string {
  const token = text.slice(offset, offset + Math.max(1, length));
  const shown = shownToken(token);
  const rest = text.slice(offset).trim();
  if (rest === '' && [3, 4, 5, 6, 7, 8, 9].includes(code))
    return 'the document ends too early: something is not closed';
  switch (code) {
    case 1:
      return unknownWord(token);
    case 2:
    case 13:
      return 'this is no JSON number';
    case 3:
      return isStrayComma(text, offset)
        ? `there is a comma before ${shown}: remove it`
        : `a key in double quotes is expected here, not ${shown}`;
    case 4:
      return isStrayComma(text, offset)
        ? `there is a comma before ${shown}: remove it`
        : `a value is expected here, not ${shown}`;
    case 5:
      return `a ":" is missing before ${shown}`;
    case 6:
      if (token === '}') return 'a "]" is missing before "}"';
      if (token === ']') return 'a "}" is missing before "]"';
      return `a "," is missing before ${shown}`;
    case 7:
      return `a "}" is missing before ${shown}`;
    case 8:
      return `a "]" is missing before ${shown}`;
    case 9:
      return `the document has ended before this: remove ${shown}`;
    case COMMENT:
    case 11:
      return 'JSON has no comments: remove this one';
    case 12:
      return 'this string is not closed: add the missing double quote';
    case 14:
      return 'a unicode escape has four hex digits, as in "\\u00e9"';
    case 15:
      return 'this string holds an escape that JSON does not have: write a backslash as "\\\\"';
    case 16:
      return 'this string holds a control character: write it as an escape, as in "\\n" or "\\t"';
    default:
      return `${shown} is not expected here`;
  }
}

function unknownWord(word: string): string {
  if (word.startsWith("'")) return 'JSON strings have double quotes, not single ones';
  const plain = { True: 'true', False: 'false', None: 'null', undefined: 'null', nil: 'null' }[word];
  if (plain !== undefined) return `JSON has no ${word}: write ${plain}`;
  if (word === 'NaN' || word.endsWith('Infinity')) return `JSON has no ${word}: numbers are finite`;
  return 'this word is not expected here: text stands in double quotes';
}

function shownToken(token: string): string {
  if (token.startsWith('"')) return 'this string';
  return /^[-\d]/.test(token) ? 'this number' : quoted(token);
}

function isStrayComma(text: string, offset: number): boolean {
  return (text[offset] === '}' || text[offset] === ']') && /,\s*$/.test(text.slice(Math.max(0, offset - 1000), offset));
}
