import { BLOCK_BYTES } from './grammar.js';
import type { FileRange } from './incoming-file.js';

/** Stores one whole block of a file (the last one may be shorter). */
export type StoreBlock = (index: number, block: number, bytes: Uint8Array) => Promise<void>;

/** Takes the raw bytes of ranges that come one after the other, in chunks cut anywhere. Holds one block in memory. */
export class Intake {
  readonly #store: StoreBlock;
  readonly #ranges: readonly FileRange[];
  readonly #buffer = Buffer.allocUnsafe(BLOCK_BYTES);
  #held = 0;
  #range = 0;
  #at = 0;
  #received = 0;

  /** Throws RangeError for a range that does not begin at a block. */
  constructor(ranges: readonly FileRange[], store: StoreBlock) {
    if (ranges.some(({ offset, length }) => offset % BLOCK_BYTES !== 0 || length < 0)) {
      throw new RangeError('a range begins at a multiple of 1 MiB');
    }
    this.#ranges = ranges.filter(({ length }) => length > 0);
    this.#store = store;
  }

  /** Bytes that were handed in, with those that nobody asked for: the ranges' sum when all is as it should be. */
  get received(): number {
    return this.#received;
  }

  /**
   * Resolves when the blocks that end in `chunk` are on disk; undefined: none does (a GiB comes in 50,000 chunks, and a promise
   * for each was felt). One call at a time. Rejects as `Assembler.accept` does.
   */
  write(chunk: Uint8Array): Promise<void> | undefined {
    this.#received += chunk.length;
    const range = this.#ranges[this.#range];
    if (range === undefined) return undefined;
    if (this.#held + chunk.length >= this.#blockOf(range)) return this.#fill(chunk);
    this.#hold(chunk);
    return undefined;
  }

  async #fill(chunk: Uint8Array): Promise<void> {
    for (let from = 0; from < chunk.length;) {
      const range = this.#ranges[this.#range];
      if (range === undefined) return;
      const wanted = this.#blockOf(range);
      const piece = chunk.subarray(from, from + wanted - this.#held);
      this.#hold(piece);
      from += piece.length;
      if (this.#held < wanted) return;
      await this.#store(range.index, (range.offset + this.#at) / BLOCK_BYTES, this.#buffer.subarray(0, wanted));
      this.#held = 0;
      this.#at += wanted;
      if (this.#at < range.length) continue;
      this.#at = 0;
      this.#range += 1;
    }
  }

  /** Bytes of the block that is being filled. */
  #blockOf(range: FileRange): number {
    return Math.min(BLOCK_BYTES, range.length - this.#at);
  }

  #hold(piece: Uint8Array): void {
    this.#buffer.set(piece, this.#held);
    this.#held += piece.length;
  }
}
