import { createHash, type Hash } from 'node:crypto';
import { BLOCK_BYTES, blocksOf, sealOf, type ManifestEntry } from './grammar.js';
import type { PartFiles } from './part-files.js';

export type FileEntry = Extract<ManifestEntry, { readonly kind: 'file' | 'sealed' }>;

/** Bytes of one file. */
export interface FileRange {
  readonly index: number;
  readonly offset: number;
  readonly length: number;
}

/** What is known of a block, as in `<index>.blocks`. `PROVEN`: its own sha256 was right. `TAKEN`: only the file's will tell. */
const ABSENT = 0;
const PROVEN = 1;
const TAKEN = 2;

/** A file that the manifest announced: which of its blocks are on disk, and whether all of it is proven. */
export class IncomingFile {
  readonly entry: FileEntry;
  readonly #parts: PartFiles;
  readonly #marks: Uint8Array;
  #present = 0;
  /** Over blocks 0 to #hashed - 1, so that a file whose blocks come in order is not read again. */
  #hash: Hash | undefined;
  #hashed = 0;
  #inOrder = true;
  #sha256: string | undefined;
  #doubted = false;
  #changed = false;
  /** In the pod it is as it is here. */
  #compared = false;
  /** Blocks of an earlier process are in it: after a power failure a mark may be without its block. */
  #adopted = false;

  constructor(entry: FileEntry, parts: PartFiles) {
    this.entry = entry;
    this.#parts = parts;
    this.#marks = new Uint8Array(blocksOf(entry.size));
  }

  /** Of the proven file; undefined while it is not whole. */
  get sha256(): string | undefined {
    return this.#sha256;
  }

  get isWhole(): boolean {
    return this.#sha256 !== undefined;
  }

  /** In the pod it is not what the manifest says. */
  get changed(): boolean {
    return this.#changed;
  }

  /** All has arrived, and is not what the manifest says. Who is to blame is not known yet. */
  get isDoubted(): boolean {
    return this.#doubted && !this.isWhole && this.#present === this.#marks.length;
  }

  /** Bytes on disk. */
  get received(): number {
    const { size } = this.entry;
    if (this.isWhole) return size;
    const hasLast = (this.#marks.at(-1) ?? ABSENT) !== ABSENT;
    const absent = this.#marks.length - this.#present;
    return hasLast ? size - absent * BLOCK_BYTES : this.#present * BLOCK_BYTES;
  }

  /** `2 of 7 blocks`. */
  get extent(): string {
    return `${this.#present} of ${this.#marks.length} ${this.#marks.length === 1 ? 'block' : 'blocks'}`;
  }

  /** Bytes of a block; undefined: it has no such block. */
  lengthOf(block: number): number | undefined {
    return block < this.#marks.length ? Math.min(BLOCK_BYTES, this.entry.size - block * BLOCK_BYTES) : undefined;
  }

  /** `isProven`: its own digest is known to be right, which is better than what was only taken. */
  needs(block: number, isProven: boolean): boolean {
    const mark = this.#marks[block];
    if (this.isWhole || mark === undefined) return false;
    return mark === ABSENT || (this.#doubted && isProven && mark === TAKEN);
  }

  /** Ranges that are not on disk. */
  missing(): readonly FileRange[] {
    return this.isWhole ? [] : this.#ranges(ABSENT);
  }

  /** All is on disk and the whole is wrong: the fault is in one of these ranges, or the file has changed. */
  doubtful(): readonly FileRange[] {
    return this.#doubted && !this.#compared && !this.isWhole ? this.#ranges(TAKEN) : [];
  }

  /** Takes up what an earlier process left. `salt`: as in `settle`. */
  async load(salt: string | undefined): Promise<void> {
    const found = await this.#parts.adopt(this.entry.index, this.entry.size);
    if (found === undefined) return;
    if (found === 'whole') {
      const sha256 = await this.#parts.digest(this.entry.index, 'whole', 0, this.entry.size);
      if (this.#isRight(sha256, salt)) this.#sha256 = sha256;
      else await this.#parts.removeWhole(this.entry.index);
      return;
    }
    this.#inOrder = false;
    this.#adopted = true;
    for (const [block, mark] of found.entries()) {
      if (mark !== PROVEN && mark !== TAKEN) continue;
      this.#marks[block] = mark;
      this.#present += 1;
    }
    if (this.#present === this.#marks.length) await this.settle(salt);
  }

  /** Stores a block that it needs; settles the file with the last one. */
  async store(block: number, bytes: Uint8Array, isProven: boolean, salt: string | undefined): Promise<void> {
    const { index, size } = this.entry;
    const isNew = this.#marks[block] === ABSENT;
    if (isNew && this.#marks.length === 1 && (await this.#put(bytes, salt))) return;
    await this.#parts.write(index, size, bytes, block * BLOCK_BYTES);
    await this.#mark(block, isProven ? PROVEN : TAKEN);
    if (isNew) this.#present += 1;
    if (isNew && block === this.#hashed) {
      if (this.#inOrder) (this.#hash ??= createHash('sha256')).update(bytes);
      this.#hashed += 1;
    } else {
      this.#inOrder = false;
    }
    if (this.#present < this.#marks.length) return;
    // A doubted file whose blocks come again one by one is not read again for each of them.
    if (isNew || !this.#marks.includes(TAKEN)) await this.settle(salt);
  }

  /** Compares the whole with the manifest once it is there. `salt`: of the manifest's seals, undefined while it is not known. */
  async settle(salt: string | undefined): Promise<void> {
    const { index, size, kind } = this.entry;
    if (this.isWhole || this.#present < this.#marks.length) return;
    if (size === 0) await this.#parts.write(index, size, new Uint8Array(), 0);
    else if (kind === 'sealed' && salt === undefined) return;
    const hash = this.#inOrder ? (this.#hash ?? createHash('sha256')) : undefined;
    const sha256 = hash?.digest('hex') ?? (await this.#parts.digest(index, 'part', 0, size));
    this.#inOrder = false;
    if (this.#isRight(sha256, salt)) {
      await this.#parts.keep(index, size);
      this.#sha256 = sha256;
      return;
    }
    this.#doubted = this.#marks.includes(TAKEN);
    if (this.#doubted) return;
    // Blocks of different states of the file: none of them can be told to be right, so all may come again.
    if (!this.#adopted) this.#changed = true;
    await this.discard();
  }

  /** Lets the blocks of a range, which begins at one, come again. */
  async drop({ offset, length }: FileRange): Promise<void> {
    if (this.isWhole) return;
    this.#inOrder = false;
    this.#compared = false;
    for (let block = offset / BLOCK_BYTES; block < Math.ceil((offset + length) / BLOCK_BYTES); block += 1) {
      if (this.#marks[block] === ABSENT) continue;
      await this.#mark(block, ABSENT);
      this.#present -= 1;
    }
  }

  /** Removes all that is not whole. */
  async discard(): Promise<void> {
    if (this.isWhole) return;
    await this.#parts.remove(this.entry.index);
    this.#marks.fill(ABSENT);
    this.#present = 0;
    this.#hash = undefined;
    this.#hashed = 0;
    this.#inOrder = true;
    this.#doubted = false;
    this.#compared = false;
    this.#adopted = false;
  }

  /** The sidecar says so. */
  markChanged(): void {
    this.#changed = true;
  }

  /** It was compared with the pod: it is the same there, or is there no more. */
  giveUp(): void {
    this.#changed = true;
    this.#compared = true;
  }

  /** All of a file at once, if it is right: what is wrong, or waits for its seal's salt, goes the way of a part. */
  async #put(bytes: Uint8Array, salt: string | undefined): Promise<boolean> {
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    if (!this.#isRight(sha256, salt)) return false;
    await this.#parts.put(this.entry.index, bytes);
    this.#present = 1;
    this.#sha256 = sha256;
    return true;
  }

  async #mark(block: number, mark: number): Promise<void> {
    const { index, size } = this.entry;
    await this.#parts.mark(index, size, block, mark);
    this.#marks[block] = mark;
  }

  #isRight(sha256: string, salt: string | undefined): boolean {
    const { entry } = this;
    if (entry.kind === 'file') return sha256 === entry.sha256;
    // Nothing is secret about a file without a byte, and the manifest has proven its size.
    return entry.size === 0 || (salt !== undefined && sealOf(salt, entry.index, sha256) === entry.seal);
  }

  #ranges(mark: number): readonly FileRange[] {
    const { index, size } = this.entry;
    const ranges: FileRange[] = [];
    for (let block = 0; block < this.#marks.length; block += 1) {
      const first = block;
      while (this.#marks[block] === mark) block += 1;
      const offset = first * BLOCK_BYTES;
      if (block > first) ranges.push({ index, offset, length: Math.min(block * BLOCK_BYTES, size) - offset });
    }
    return ranges;
  }
}
