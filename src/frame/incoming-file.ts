import { createHash } from 'node:crypto';
import { BLOCK_BYTES, blocksOf, type BlockHeader, type ManifestEntry } from './grammar.js';
import type { PartFiles } from './part-files.js';

/** A file that the manifest announced: which of its blocks are on disk, and whether all of it is proven. */
export class IncomingFile {
  readonly entry: ManifestEntry & { readonly kind: 'file' };
  /** Blocks that are on disk: the state that a later process would need to go on from. */
  readonly #have: Uint8Array;
  #blocks = 0;
  /** Over blocks 0 to #hashed - 1, so that a file whose blocks come in order is not read again. */
  #hash = createHash('sha256');
  #hashed = 0;
  #path: string | undefined;
  /** The whole was not what the manifest says, although each block was what its header said. */
  #changed = false;

  constructor(entry: ManifestEntry & { readonly kind: 'file' }) {
    this.entry = entry;
    this.#have = new Uint8Array(blocksOf(entry.size));
  }

  /** Path of the proven file; undefined while it is not whole. */
  get path(): string | undefined {
    return this.#path;
  }

  get changed(): boolean {
    return this.#changed;
  }

  /** Bytes on disk. */
  get received(): number {
    return this.#path === undefined ? Math.min(this.#blocks * BLOCK_BYTES, this.entry.size) : this.entry.size;
  }

  /** `2 of 7 blocks`. */
  get extent(): string {
    return `${this.#blocks} of ${this.#have.length} ${this.#have.length === 1 ? 'block' : 'blocks'}`;
  }

  /** True for a block that this file has by its size, and that is not on disk yet. */
  needs(header: BlockHeader): boolean {
    if (this.#path !== undefined || header.block >= this.#have.length || this.#have[header.block] === 1) return false;
    return header.bytes === Math.min(BLOCK_BYTES, this.entry.size - header.block * BLOCK_BYTES);
  }

  /** Stores a block that it needs and whose sha256 was right; settles the file with the last one. */
  async store(header: BlockHeader, bytes: Buffer, parts: PartFiles): Promise<void> {
    const { index } = this.entry;
    await parts.write(index, bytes, header.block * BLOCK_BYTES);
    this.#have[header.block] = 1;
    this.#blocks += 1;
    // One block is the whole file: its digest is known already.
    if (this.#have.length === 1) return this.#settle(header.sha256, parts);
    if (header.block === this.#hashed) {
      this.#hash.update(bytes);
      this.#hashed += 1;
    }
    if (this.#blocks < this.#have.length) return;
    const inOrder = this.#hashed === this.#have.length;
    await this.#settle(inOrder ? this.#hash.digest('hex') : await parts.digest(index), parts);
  }

  /** An empty file has no blocks: it is there as soon as it is announced. */
  async settleEmpty(parts: PartFiles): Promise<void> {
    await parts.write(this.entry.index, Buffer.alloc(0), 0);
    await this.#settle(createHash('sha256').digest('hex'), parts);
  }

  markChanged(): void {
    this.#changed = true;
  }

  async #settle(sha256: string, parts: PartFiles): Promise<void> {
    if (sha256 === this.entry.sha256) {
      this.#path = await parts.keep(this.entry.index);
      return;
    }
    // Blocks of different states of the file: none of them can be told to be right, so all may come again.
    this.#changed = true;
    this.#have.fill(0);
    this.#blocks = 0;
    this.#hash = createHash('sha256');
    this.#hashed = 0;
    await parts.remove(this.entry.index);
  }
}
