import type { Json } from '../bundle/bundle.js';
import { scanJson } from '../bundle/json-scan.js';
import { PatternIndex } from './pattern-index.js';

/** Shorter values would mask ordinary words of a log. */
const SHORTEST_SECRET = 4;
/** Nobody prints more of a secret at once, and matching costs memory. */
const LONGEST_SECRET = 64 * 1024;
/** Parts of a value of several words (a kubeconfig, a PEM file) that are long enough to be the secret itself. */
const SHORTEST_PART = 16;
/**
 * Of all values together, those of the smallest first: each costs memory, and what has more is no file of secrets. Whole
 * values are not counted.
 */
const MOST_PARTS = 20_000;
const MASK = Buffer.from('******');

/**
 * The byte strings that a log may not show, longest first, each of at least four bytes: each value whole, without a final
 * newline, and its long words and JSON strings, because a tool that prints one line of a kubeconfig prints the token without
 * the rest.
 */
export function secretPatterns(values: Iterable<Uint8Array>): readonly Buffer[] {
  const wholes = new Set<string>();
  const parts = new Set<string>();
  const add = (value: Uint8Array, shortest: number): void => {
    const text = Buffer.from(value)
      .toString('latin1')
      .replace(/\r?\n$/, '');
    if (fits(text, shortest) && text.trim() !== '') wholes.add(text);
    for (const part of partsOf(text)) {
      if (parts.size === MOST_PARTS) return;
      if (fits(part, SHORTEST_PART)) parts.add(part);
    }
  };
  for (const value of [...values].sort((a, b) => a.length - b.length)) {
    add(value, SHORTEST_SECRET);
    for (const text of textsOf(parsed(value))) add(Buffer.from(text), SHORTEST_PART);
  }
  return [...new Set([...wholes, ...parts])]
    .sort((a, b) => b.length - a.length)
    .map((text) => Buffer.from(text, 'latin1'));
}

/** Of bytes: those above 0x7f are no blanks, though latin1 has one there. */
const BLANKS = /[\t-\r ]+/;
/** What stands around a secret in YAML, JSON, shell and code. */
const AROUND = '"\'`{}[](),;<>';
const BETWEEN = /[^"'`{}[\](),;<>]+/g;

/**
 * What a tool may print alone of a longer text: its words, each also without what stands around it, what stands between
 * quotes, brackets and commas in it, and of `API_KEY=…`, `token:…` what comes after the name. Names alone are ordinary words.
 */
function* partsOf(text: string): Iterable<string> {
  for (const word of text.split(BLANKS)) {
    yield word;
    yield* valueIn(trimmed(word));
    for (const { 0: piece, index } of word.matchAll(BETWEEN)) {
      if (!isName(word, piece, index)) yield* valueIn(piece);
    }
  }
}

/** `"token":` and `token="…`, other than `"dG9rZW4="`. */
function isName(word: string, piece: string, index: number): boolean {
  const after = word.slice(index + piece.length);
  const isQuoted = /["'`]/.test(word.charAt(index - 1));
  return /^["'`]?[:=]/.test(after) || (/[:=]$/.test(piece) && /^["'`]/.test(after) && !isQuoted);
}

function* valueIn(word: string): Iterable<string> {
  yield word;
  const name = word.search(/[=:]/);
  if (name !== -1) yield trimmed(word.slice(name + 1));
}

/** By hand: a regular expression for the end of a text tries each run of these anew from every place in it. */
function trimmed(word: string): string {
  let from = 0;
  let to = word.length;
  while (from < to && AROUND.includes(word.charAt(from))) from += 1;
  while (to > from && AROUND.includes(word.charAt(to - 1))) to -= 1;
  return word.slice(from, to);
}

/** Every text in a value: what a tool prints of a list or an object are its members. Numbers stand as JSON has them. */
export function* textsOf(value: Json | undefined): Iterable<string> {
  if (typeof value === 'string') yield value;
  else if (typeof value === 'number') yield String(value);
  else if (typeof value === 'object' && value !== null)
    for (const inner of Object.values<Json>(value)) yield* textsOf(inner);
}

/** The JSON list or object that the bytes are: a service account's key, a Docker configuration. */
function parsed(value: Uint8Array): Json | undefined {
  const text = Buffer.from(value).toString('utf8');
  if (!/^\s*[[{]/.test(text) || scanJson(text).tooDeepAt !== undefined) return undefined;
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

function fits(text: string, shortest: number): boolean {
  return text.length >= shortest && text.length <= LONGEST_SECRET;
}

/**
 * Replaces secrets in a stream of bytes, also where a chunk ends in the middle of one. It holds back only bytes that
 * could be the beginning of a secret, so a prompt without a newline is seen at once.
 */
export class SecretMask {
  readonly #patterns: PatternIndex;
  #held: Buffer = Buffer.alloc(0);

  constructor(patterns: readonly Buffer[]) {
    this.#patterns = new PatternIndex(patterns);
  }

  write(chunk: Uint8Array): Buffer {
    if (this.#patterns.longest === 0) return Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    return this.#mask(Buffer.concat([this.#held, chunk]), false);
  }

  /** What was held back, once no more bytes can come. */
  end(): Buffer {
    return this.#mask(this.#held, true);
  }

  #mask(bytes: Buffer, last: boolean): Buffer {
    const out: Buffer[] = [];
    let from = 0;
    // A match that begins where bytes are still awaited may yet become a longer one.
    const keep = last ? bytes.length : bytes.length - this.#patterns.unsureTail(bytes);
    for (;;) {
      const found = this.#patterns.next(bytes, from, keep);
      if (found === undefined) break;
      out.push(bytes.subarray(from, found.at), MASK);
      from = found.at + found.length;
    }
    if (from < keep) out.push(bytes.subarray(from, keep));
    this.#held = Buffer.from(bytes.subarray(Math.max(from, keep)));
    return Buffer.concat(out);
  }
}
