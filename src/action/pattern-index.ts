/** Bytes of a pattern by which it is found. */
const HEAD = 4;
/** Of those that are so long: many that begin alike (`https://…`) must not be compared one by one. */
const LONG_HEAD = 16;

/** Where a pattern stands in a log. */
export interface PatternFound {
  readonly at: number;
  readonly length: number;
}

/**
 * Byte strings by how they begin, so that what a log costs does not grow with their number: a kubeconfig has dozens, a bundle
 * of certificates thousands.
 */
export class PatternIndex {
  /** Length of the longest; 0: there are none. */
  readonly longest: number;
  /** By their first four bytes: what is shorter than a long head, longest first, and whether there is anything longer. */
  readonly #byHead = new Map<number, { readonly short: Buffer[]; readonly long: Buffer[] }>();
  /** By their first sixteen bytes, longest first. */
  readonly #byLongHead = new Map<string, Buffer[]>();
  /** Whether some pattern begins with these two bytes: nearly all places of a log are passed over by it. */
  readonly #firstTwo = new Uint8Array(0x1_0000);
  /** The beginnings that are shorter than a head. */
  readonly #beginnings = new Set<string>();

  /** `patterns` have at least four bytes each. */
  constructor(patterns: readonly Buffer[]) {
    this.longest = patterns.reduce((longest, { length }) => Math.max(longest, length), 0);
    for (const pattern of [...patterns].sort((a, b) => b.length - a.length)) {
      const head = pattern.readUInt32LE(0);
      const { short, long } = entryOf(this.#byHead, head, () => ({ short: [], long: [] }));
      (pattern.length < LONG_HEAD ? short : long).push(pattern);
      if (pattern.length >= LONG_HEAD) entryOf(this.#byLongHead, longHead(pattern, 0), () => []).push(pattern);
      this.#firstTwo[head & 0xffff] = 1;
      for (let length = 1; length < HEAD; length += 1) this.#beginnings.add(pattern.toString('latin1', 0, length));
    }
  }

  /** The first pattern that begins at `from` or after it and before `to`; of several at one place the longest. */
  next(bytes: Buffer, from: number, to: number): PatternFound | undefined {
    const firstTwo = this.#firstTwo;
    const last = Math.min(to, bytes.length - HEAD + 1);
    for (let at = from; at < last; at += 1) {
      if (firstTwo[(bytes[at] ?? 0) | ((bytes[at + 1] ?? 0) << 8)] === 0) continue;
      const length = this.#lengthAt(bytes, at);
      if (length > 0) return { at, length };
    }
    return undefined;
  }

  #lengthAt(bytes: Buffer, at: number): number {
    const alike = this.#byHead.get(bytes.readUInt32LE(at));
    if (alike === undefined) return 0;
    const long = alike.long.length === 0 ? undefined : this.#byLongHead.get(longHead(bytes, at));
    const found =
      long?.find((pattern) => standsAt(pattern, pattern.length, bytes, at)) ??
      alike.short.find((pattern) => standsAt(pattern, pattern.length, bytes, at));
    return found?.length ?? 0;
  }

  /** Length of the longest end of `bytes` that is a proper beginning of a pattern. */
  unsureTail(bytes: Buffer): number {
    const { length } = bytes;
    const firstTwo = this.#firstTwo;
    for (let at = Math.max(0, length - this.longest + 1); at < length; at += 1) {
      const rest = length - at;
      if (rest < HEAD) {
        if (this.#beginnings.has(bytes.toString('latin1', at))) return rest;
      } else if (firstTwo[(bytes[at] ?? 0) | ((bytes[at + 1] ?? 0) << 8)] !== 0 && this.#beginsAt(bytes, at, rest)) {
        return rest;
      }
    }
    return 0;
  }

  #beginsAt(bytes: Buffer, at: number, rest: number): boolean {
    const isBegun = (pattern: Buffer): boolean => pattern.length > rest && standsAt(pattern, rest, bytes, at);
    const alike = this.#byHead.get(bytes.readUInt32LE(at));
    if (alike === undefined) return false;
    if (rest < LONG_HEAD) return alike.long.some(isBegun) || alike.short.some(isBegun);
    return alike.long.length > 0 && (this.#byLongHead.get(longHead(bytes, at))?.some(isBegun) ?? false);
  }
}

/** Whether the first `length` bytes of the pattern stand there. Its last byte is looked at first: a comparison is a call. */
function standsAt(pattern: Buffer, length: number, bytes: Buffer, at: number): boolean {
  const end = at + length;
  return (
    end <= bytes.length && bytes[end - 1] === pattern[length - 1] && bytes.compare(pattern, 0, length, at, end) === 0
  );
}

function longHead(bytes: Buffer, at: number): string {
  return bytes.toString('latin1', at, at + LONG_HEAD);
}

function entryOf<Key, Entry>(map: Map<Key, Entry>, key: Key, make: () => Entry): Entry {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made = make();
  map.set(key, made);
  return made;
}
