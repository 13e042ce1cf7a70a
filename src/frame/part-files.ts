import { createHash } from 'node:crypto';
import { closeSync, constants, openSync, rmSync, writeFileSync } from 'node:fs';
import { open, readdir, rename, rm, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { CnabError, messageOf } from '../errors.js';
import { lengthOf, syncFile, writeAll } from './disk.js';
import { BLOCK_BYTES, blocksOf } from './grammar.js';

const CREATE = constants.O_RDWR | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
const REOPEN = constants.O_RDWR | constants.O_NOFOLLOW;
const READ = constants.O_RDONLY | constants.O_NOFOLLOW;
/** One for the log, one for exec: both send one file after the other. */
const MOST_OPEN = 2;
/** Open at the same time while they are synced. */
const MOST_SYNCED = 64;

/** A file in the making. `marks` is absent for a file of one block: it is there as a whole or not at all. */
interface OpenPart {
  readonly data: FileHandle;
  readonly marks: FileHandle | undefined;
}

/**
 * Files in the making: `<index>.part` while they grow, `<index>` when they are whole, and `<index>.blocks` with one byte
 * for each block that is in the part. A block's byte is written after the block, so that what is marked is there also when
 * the process is killed; after a power failure it may not be, which the whole file's digest tells.
 * One call at a time. Every method rejects with CnabError `unavailable` when the disk fails.
 */
export class PartFiles {
  readonly #folder: string;
  /** Parts of this process, or adopted: others are never written to. */
  readonly #made = new Set<number>();
  readonly #open = new Map<number, OpenPart>();

  /** `folder`: exists, and belongs to this run alone. */
  constructor(folder: string) {
    this.#folder = folder;
  }

  /**
   * What an earlier process left of a file of `size` bytes: all of it, as its length tells, or the marks of its blocks,
   * to be written on. Removes what cannot be used.
   */
  adopt(index: number, size: number): Promise<'whole' | Uint8Array | undefined> {
    return this.#guard(index, async () => {
      if ((await lengthOf(this.#path(index, 'whole'))) === size) {
        // `keep` may have been killed before its last step. A part beside the whole would be in the way of another file's.
        for (const kind of UNFINISHED) await rm(this.#path(index, kind), { force: true });
        return 'whole';
      }
      const marks = await this.#marksOf(index, size);
      await rm(this.#path(index, 'whole'), { force: true });
      if (marks !== undefined) this.#made.add(index);
      else for (const kind of UNFINISHED) await rm(this.#path(index, kind), { force: true });
      return marks;
    });
  }

  /** Removes all that an earlier process left, where nothing says what it was. */
  async clear(): Promise<void> {
    try {
      for (const name of await readdir(this.#folder)) {
        if (OURS.test(name)) await rm(join(this.#folder, name), { force: true });
      }
    } catch (error) {
      throw new CnabError('unavailable', `outputs cannot be stored in ${this.#folder}: ${messageOf(error)}`, {
        cause: error,
      });
    }
  }

  /** Writes all of `bytes` at `position`; makes the file (0600) if need be, never through a link or over another file. */
  write(index: number, size: number, bytes: Uint8Array, position: number): Promise<void> {
    return this.#guard(index, async () => {
      const { data } = await this.#part(index, size);
      await writeAll(data, bytes, position);
    });
  }

  /** Notes what is to be known of a block that was written, or 0. */
  mark(index: number, size: number, block: number, value: number): Promise<void> {
    return this.#guard(index, async () => {
      const { marks } = await this.#part(index, size);
      if (marks) await writeAll(marks, Uint8Array.of(value), block);
    });
  }

  /** sha256 of a range of the part, or of the whole file, as it is on disk; in hex. */
  digest(index: number, kind: 'part' | 'whole', offset: number, length: number): Promise<string> {
    return this.#guard(index, async () => {
      const handle = await open(this.#path(index, kind), READ);
      try {
        const hash = createHash('sha256');
        const buffer = Buffer.allocUnsafe(BLOCK_BYTES);
        for (let at = 0; at < length;) {
          const { bytesRead } = await handle.read(buffer, 0, Math.min(buffer.length, length - at), offset + at);
          if (bytesRead === 0) break;
          hash.update(buffer.subarray(0, bytesRead));
          at += bytesRead;
        }
        return hash.digest('hex');
      } finally {
        await handle.close();
      }
    });
  }

  /**
   * Writes a file of one block whose bytes are proven: all of it under its final name, where a length that falls short tells
   * that the process was killed. Three steps at once: of 200 files each step that waits for its turn is felt.
   */
  async put(index: number, bytes: Uint8Array): Promise<void> {
    // It may have come wrong before. The next file of this index must not be written over the rest of that part.
    await this.remove(index);
    // An error of the disk rejects, as everywhere here.
    // eslint-disable-next-line @typescript-eslint/require-await
    return this.#guard(index, async () => {
      const path = this.#path(index, 'whole');
      const file = openSync(path, CREATE, 0o600);
      try {
        writeFileSync(file, bytes);
      } catch (error) {
        rmSync(path, { force: true });
        throw error;
      } finally {
        closeSync(file);
      }
    });
  }

  /** Gives a whole part its final name. */
  keep(index: number, size: number): Promise<void> {
    return this.#guard(index, async () => {
      await this.#shut(index);
      await rename(this.#path(index, 'part'), this.#path(index, 'whole'));
      // Of many small files each step is felt, and they have no marks.
      if (blocksOf(size) > 1) await rm(this.#path(index, 'blocks'), { force: true });
      this.#made.delete(index);
    });
  }

  /** Removes an unfinished file; nothing happens if there is none. */
  remove(index: number): Promise<void> {
    return this.#guard(index, async () => {
      await this.#shut(index);
      if (!this.#made.delete(index)) return;
      for (const kind of UNFINISHED) await rm(this.#path(index, kind), { force: true });
    });
  }

  /** Removes a file that was whole. */
  removeWhole(index: number): Promise<void> {
    return this.#guard(index, () => rm(this.#path(index, 'whole'), { force: true }));
  }

  wholePath(index: number): string {
    return this.#path(index, 'whole');
  }

  /**
   * Resolves when these whole files and their names outlive a power failure. All of them at once, side by side, and not each as it
   * comes: a disk writes many together in little more time than one.
   */
  async sync(indices: readonly number[]): Promise<void> {
    for (let from = 0; from < indices.length; from += MOST_SYNCED) {
      const some = indices.slice(from, from + MOST_SYNCED);
      await Promise.all(some.map((index) => this.#guard(index, () => syncFile(this.#path(index, 'whole')))));
    }
    const [first] = indices;
    if (first !== undefined) await this.#guard(first, () => syncFile(this.#folder));
  }

  async close(): Promise<void> {
    for (const index of [...this.#open.keys()]) await this.#shut(index);
  }

  #path(index: number, kind: 'whole' | (typeof UNFINISHED)[number]): string {
    return join(this.#folder, kind === 'whole' ? String(index) : `${index}.${kind}`);
  }

  async #marksOf(index: number, size: number): Promise<Uint8Array | undefined> {
    const length = await lengthOf(this.#path(index, 'part'));
    // `keep` would hand on what is behind the file's end: its digest is not taken over that.
    if (length === undefined || length > size) return undefined;
    if ((await lengthOf(this.#path(index, 'blocks'))) !== blocksOf(size)) return undefined;
    const handle = await open(this.#path(index, 'blocks'), READ);
    try {
      const marks = new Uint8Array(await handle.readFile());
      // A part that is shorter than its marks say has lost its end.
      return marks.map((mark, block) => (Math.min((block + 1) * BLOCK_BYTES, size) <= length ? mark : 0));
    } finally {
      await handle.close();
    }
  }

  async #part(index: number, size: number): Promise<OpenPart> {
    const known = this.#open.get(index);
    if (known) return known;
    const [oldest] = this.#open.keys();
    if (oldest !== undefined && this.#open.size >= MOST_OPEN) await this.#shut(oldest);
    const flags = this.#made.has(index) ? REOPEN : CREATE;
    const data = await open(this.#path(index, 'part'), flags, 0o600);
    this.#made.add(index);
    try {
      const part = { data, marks: blocksOf(size) > 1 ? await this.#openMarks(index, size, flags) : undefined };
      this.#open.set(index, part);
      return part;
    } catch (error) {
      await data.close();
      throw error;
    }
  }

  async #openMarks(index: number, size: number, flags: number): Promise<FileHandle> {
    const marks = await open(this.#path(index, 'blocks'), flags, 0o600);
    if (flags === CREATE) await marks.truncate(blocksOf(size));
    return marks;
  }

  async #shut(index: number): Promise<void> {
    const part = this.#open.get(index);
    this.#open.delete(index);
    await part?.data.close();
    await part?.marks?.close();
  }

  async #guard<T>(index: number, action: () => Promise<T>): Promise<T> {
    try {
      return await action();
    } catch (error) {
      throw new CnabError('unavailable', `output ${index} cannot be stored in ${this.#folder}: ${messageOf(error)}`, {
        cause: error,
        suggestions: ['make room in that file system, or let another one hold it'],
      });
    }
  }
}

/** The marks first: a part without them is nothing. */
const UNFINISHED = ['blocks', 'part'] as const;
const OURS = /^[0-9]+(?:\.part|\.blocks)?$/;
