/** Something that is wrong with a bundle, before its place in the file is known. */
export interface Finding {
  /** One sentence: what is wrong and what to write instead. */
  readonly message: string;
  /** Keys from the root of the document to the place; array positions as decimal text. */
  readonly path: readonly string[];
  /** Whether the key (an unknown field, a bad name) or the value is to blame. */
  readonly at: 'key' | 'value';
  readonly severity: Severity;
}

export type Severity = 'error' | 'warning';

/** A finding with its place in the file. */
export interface Problem {
  readonly message: string;
  /** JSON Pointer (RFC 6901); empty for the whole document. */
  readonly pointer: string;
  /** Counted from 1. */
  readonly line: number;
  /** Counted from 1 in UTF-16 code units, as editors do. */
  readonly column: number;
  /** The document's origin: a path, or `standard input`. */
  readonly file: string;
  readonly severity: Severity;
}

export interface Place {
  readonly line: number;
  readonly column: number;
}

/** The path as JSON Pointer (RFC 6901). */
export function pointerOf(path: readonly string[]): string {
  return path.map((key) => `/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}

/** The keys of a JSON Pointer. */
export function pathOf(pointer: string): string[] {
  if (pointer === '') return [];
  return pointer
    .slice(1)
    .split('/')
    .map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'));
}

export function error(path: readonly string[], message: string, at: Finding['at'] = 'value'): Finding {
  return { message, path, at, severity: 'error' };
}

export function warning(path: readonly string[], message: string, at: Finding['at'] = 'value'): Finding {
  return { message, path, at, severity: 'warning' };
}

/** One line as compilers print it: `file:line:column: message (pointer)`. */
export function describeProblem(problem: Problem): string {
  const { file, line, column, message, pointer } = problem;
  return `${file}:${line}:${column}: ${message}${pointer === '' ? '' : ` (${shownPointer(pointer)})`}`;
}

/** Keys are foreign text: what could drive a terminal is written as an escape. */
function shownPointer(pointer: string): string {
  return pointer.replace(UNSEEN, escapeCharacter);
}

/** Control, format and unassigned characters, line separators and lone surrogates. */
const UNSEEN = /[\p{C}\p{Zl}\p{Zp}]/gu;

function escapeCharacter(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  return code > 0xffff ? `\\u{${code.toString(16)}}` : `\\u${code.toString(16).padStart(4, '0')}`;
}

const LONGEST_QUOTE = 60;

/** Foreign text in double quotes, for a message: shortened, and unable to drive a terminal. */
export function quoted(text: string): string {
  const characters = text.length > LONGEST_QUOTE ? `${text.slice(0, LONGEST_QUOTE)}…` : text;
  return `"${characters.replace(/["\\]/g, '\\$&').replace(UNSEEN, escapeCharacter)}"`;
}
