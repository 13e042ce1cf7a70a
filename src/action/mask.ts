import type { Json } from '../bundle/bundle.js';
import { scanJson } from '../bundle/json-scan.js';

/** Shorter values would mask ordinary words of a log. */
const SHORTEST_SECRET = 4;
/** Nobody prints more of a secret at once, and matching costs memory. */
const LONGEST_SECRET = 64 * 1024;
/** Parts of a value of several words (a kubeconfig, a PEM file) that are long enough to be the secret itself. */
const SHORTEST_PART = 16;
const MASK = Buffer.from('******');

/**
 * The byte strings that a log may not show, longest first: each value whole, without a final newline, and its long
 * words and JSON strings, because a tool that prints one line of a kubeconfig prints the token without the rest.
 */
export function secretPatterns(values: Iterable<Uint8Array>): readonly Buffer[] {
  const patterns = new Set<string>();
  for (const value of values) {
    addValue(value, SHORTEST_SECRET, patterns);
    for (const text of textsOf(parsed(value))) addValue(Buffer.from(text), SHORTEST_PART, patterns);
  }
  return [...patterns].sort((a, b) => b.length - a.length).map((text) => Buffer.from(text, 'latin1'));
}

function addValue(value: Uint8Array, shortest: number, patterns: Set<string>): void {
  const text = Buffer.from(value)
    .toString('latin1')
    .replace(/\r?\n$/, '');
  if (fits(text, shortest) && text.trim() !== '') patterns.add(text);
  const words = text.split(/\s+/);
  if (words.length > 1) for (const word of words) if (fits(word, SHORTEST_PART)) patterns.add(word);
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
  readonly #patterns: readonly Buffer[];
  #held: Buffer = Buffer.alloc(0);

  constructor(patterns: readonly Buffer[]) {
    this.#patterns = patterns;
  }

  write(chunk: Uint8Array): Buffer {
    if (this.#patterns.length === 0) return Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    return this.#mask(Buffer.concat([this.#held, chunk]), false);
  }

  /** What was held back, once no more bytes can come. */
  end(): Buffer {
    return this.#mask(this.#held, true);
  }

  #mask(bytes: Buffer, last: boolean): Buffer {
    const out: Buffer[] = [];
    let from = 0;
    const keep = last ? bytes.length : bytes.length - this.#unsureTail(bytes);
    const next = this.#patterns.map((pattern) => bytes.indexOf(pattern));
    for (;;) {
      let best = -1;
      for (let i = 0; i < next.length; i++) {
        const pattern = this.#patterns[i];
        let at = next[i];
        if (pattern === undefined || at === undefined || at === -1) continue;
        if (at < from) next[i] = at = bytes.indexOf(pattern, from);
        if (at !== -1 && (best === -1 || at < (next[best] ?? Infinity))) best = i;
      }
      const pattern = this.#patterns[best];
      const at = next[best];
      // A match that begins where bytes are still awaited may yet become a longer one.
      if (pattern === undefined || at === undefined || at >= keep) break;
      out.push(bytes.subarray(from, at), MASK);
      from = at + pattern.length;
    }
    if (from < keep) out.push(bytes.subarray(from, keep));
    this.#held = Buffer.from(bytes.subarray(Math.max(from, keep)));
    return Buffer.concat(out);
  }

  /** Length of the longest end of `bytes` that is a proper beginning of a secret. */
  #unsureTail(bytes: Buffer): number {
    let longest = 0;
    for (const pattern of this.#patterns) {
      const first = pattern[0];
      if (first === undefined) continue;
      // Only where the first byte stands: a long secret must not cost its length for every chunk.
      let at = bytes.indexOf(first, Math.max(0, bytes.length - pattern.length + 1));
      while (at !== -1 && bytes.length - at > longest) {
        if (bytes.subarray(at).equals(pattern.subarray(0, bytes.length - at))) longest = bytes.length - at;
        else at = bytes.indexOf(first, at + 1);
      }
    }
    return longest;
  }
}
