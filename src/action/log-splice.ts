/** What of a log's repetition goes into its record. */
export interface Fresh {
  readonly bytes: Buffer;
  /** Set where only so many recorded bytes stand, because what followed them is told otherwise. */
  readonly cutTo?: number;
  /** A part between the record and these bytes is missing, as far as can be told. */
  readonly gap?: true;
}

/** Reads recorded bytes; fewer only at the record's end. */
export type ReadRecorded = (position: number, length: number) => Promise<Buffer>;

/** Fewer bytes that agree may do so by chance: a log's lines are much alike. */
const SURE = 256;
/** What a kubelet keeps of a log is 10 MiB by default; an overlap is looked for in as much of the record, and some more. */
const LOOKED_AT = 16 * 1024 * 1024;
const BLOCK = 1024 * 1024;
const NOTHING: Fresh = { bytes: Buffer.alloc(0) };

/**
 * Lays a log that is told once more over the recorded one and gives what is new.
 *
 * It is compared from the beginning. Where it begins later, because its oldest part was rotated away, it is laid where the
 * longest end of the record is a beginning of it. Where it does begin at the beginning and says something else from some byte
 * on (the record has a gap there), the record is cut at that byte.
 */
export class LogSplice {
  readonly #read: ReadRecorded;
  readonly #size: number;
  #matched = 0;
  #overlap: Overlap | undefined;
  /** How much agreed from the beginning. */
  #agreed = 0;
  #done = false;

  constructor(read: ReadRecorded, size: number) {
    this.#read = read;
    this.#size = size;
    this.#done = size === 0;
  }

  /** True once all of the record has been told again: what comes is new. */
  get done(): boolean {
    return this.#done;
  }

  /** True where the repetition began later than the record. */
  get beganLater(): boolean {
    return this.#overlap !== undefined;
  }

  async push(bytes: Buffer): Promise<Fresh> {
    if (this.#done) return { bytes };
    if (this.#overlap !== undefined) return this.#settle(this.#overlap, bytes, false);
    for (let at = 0; at < bytes.length && this.#matched < this.#size; at += BLOCK) {
      const piece = bytes.subarray(at, at + BLOCK);
      const recorded = await this.#read(this.#matched, piece.length);
      const same = agreeing(piece, recorded);
      this.#matched += same;
      if (same < recorded.length) return await this.#disagree(bytes, at + same);
      if (this.#matched >= this.#size || recorded.length < piece.length) {
        this.#done = true;
        return { bytes: bytes.subarray(at + same) };
      }
    }
    return NOTHING;
  }

  /** What is left over when no more comes. */
  end(): Fresh {
    if (this.#done || this.#overlap === undefined) return NOTHING;
    return this.#settle(this.#overlap, Buffer.alloc(0), true);
  }

  /** `at`: where in `bytes` the first byte differs; what came before them agreed, and is in the record. */
  async #disagree(bytes: Buffer, at: number): Promise<Fresh> {
    this.#agreed = this.#matched;
    const before = this.#agreed - at;
    if (before > LOOKED_AT) {
      this.#done = true;
      return { bytes: bytes.subarray(at), cutTo: this.#agreed };
    }
    const from = Math.max(1, this.#size - LOOKED_AT);
    this.#overlap = new Overlap(await this.#readAll(from, this.#size));
    return this.#settle(this.#overlap, Buffer.concat([await this.#readAll(0, before), bytes]), false);
  }

  #settle(overlap: Overlap, bytes: Buffer, isEnd: boolean): Fresh {
    const length = overlap.push(bytes);
    const { told } = overlap;
    if (length === undefined) {
      if (!isEnd) return NOTHING;
      // All of it stands in the record already, unless it is so short that this may be by chance.
      if (told.length >= SURE) return NOTHING;
    }
    this.#done = true;
    if (length !== undefined && length >= SURE) return { bytes: told.subarray(length) };
    if (this.#agreed < SURE) return { bytes: told, gap: true };
    this.#overlap = undefined;
    return { bytes: told.subarray(this.#agreed), cutTo: this.#agreed };
  }

  async #readAll(from: number, to: number): Promise<Buffer> {
    const pieces: Buffer[] = [];
    for (let at = from; at < to; at += BLOCK) pieces.push(await this.#read(at, Math.min(BLOCK, to - at)));
    return Buffer.concat(pieces);
  }
}

function agreeing(a: Buffer, b: Buffer): number {
  const length = Math.min(a.length, b.length);
  if (a.subarray(0, length).equals(b.subarray(0, length))) return length;
  let at = 0;
  while (at < length && a[at] === b[at]) at += 1;
  return at;
}

/**
 * The longest end of `recorded` that is a beginning of what is told, found while it is being told (Knuth, Morris and Pratt,
 * with the growing text as the pattern). Memory: five bytes for each byte that agrees.
 */
class Overlap {
  readonly #recorded: Buffer;
  #told = Buffer.alloc(0);
  #length = 0;
  /** Of each beginning of the told text the longest other beginning that it ends in. */
  #borders = new Int32Array(1024);
  #bordered = 0;
  #at = 0;
  #matched = 0;

  constructor(recorded: Buffer) {
    this.#recorded = recorded;
  }

  get told(): Buffer {
    return this.#told.subarray(0, this.#length);
  }

  /** Length of the overlap; undefined while more must be told to know it. */
  push(bytes: Buffer): number | undefined {
    this.#append(bytes);
    const recorded = this.#recorded;
    while (this.#at < recorded.length) {
      if (this.#matched === this.#length) return undefined;
      if (recorded[this.#at] === this.#told[this.#matched]) {
        this.#matched += 1;
        this.#at += 1;
      } else if (this.#matched === 0) {
        this.#at += 1;
      } else {
        this.#matched = this.#border(this.#matched);
      }
    }
    return this.#matched;
  }

  /** Computed no further than it is asked for. */
  #border(length: number): number {
    const told = this.#told;
    while (this.#bordered < length) {
      const last = this.#bordered;
      let border = last === 0 ? 0 : (this.#borders[last - 1] ?? 0);
      while (border > 0 && told[border] !== told[last]) border = this.#borders[border - 1] ?? 0;
      if (last > 0 && told[border] === told[last]) border += 1;
      if (last >= this.#borders.length) {
        const grown = new Int32Array(this.#borders.length * 2);
        grown.set(this.#borders);
        this.#borders = grown;
      }
      this.#borders[last] = border;
      this.#bordered += 1;
    }
    return this.#borders[length - 1] ?? 0;
  }

  #append(bytes: Buffer): void {
    if (this.#length + bytes.length > this.#told.length) {
      const grown = Buffer.alloc(Math.max(this.#told.length * 2, this.#length + bytes.length));
      this.#told.copy(grown, 0, 0, this.#length);
      this.#told = grown;
    }
    bytes.copy(this.#told, this.#length);
    this.#length += bytes.length;
  }
}
