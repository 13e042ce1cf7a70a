import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { open, rename, rm, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { CnabError, messageOf } from '../errors.js';

const CREATE = constants.O_RDWR | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
const REOPEN = constants.O_RDWR | constants.O_NOFOLLOW;
const READ_BYTES = 1_048_576;

/**
 * Files in the making: `<index>.part` while they grow, `<index>` when they are whole. One is open at a time,
 * since a sidecar sends one after the other. Every method rejects with CnabError `unavailable` when the disk fails.
 */
export class PartFiles {
  readonly #folder: string;
  readonly #made = new Set<number>();
  #current: { index: number; handle: FileHandle } | undefined;

  /** `folder`: exists, and belongs to this run alone. */
  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Writes all of `bytes` at `position`; makes the file (0600) if need be, never through a link or over another file. */
  write(index: number, bytes: Uint8Array, position: number): Promise<void> {
    return this.#guard(index, async () => {
      const handle = await this.#handle(index);
      let done = 0;
      while (done < bytes.length) {
        const { bytesWritten } = await handle.write(bytes, done, bytes.length - done, position + done);
        done += bytesWritten;
      }
    });
  }

  /** sha256 of the file as it is on disk, in hex. */
  digest(index: number): Promise<string> {
    return this.#guard(index, async () => {
      const handle = await this.#handle(index);
      const hash = createHash('sha256');
      const buffer = Buffer.allocUnsafe(READ_BYTES);
      for (let position = 0; ;) {
        const { bytesRead } = await handle.read(buffer, 0, buffer.length, position);
        if (bytesRead === 0) return hash.digest('hex');
        hash.update(buffer.subarray(0, bytesRead));
        position += bytesRead;
      }
    });
  }

  /** Gives a whole file its final name, and returns its path. */
  keep(index: number): Promise<string> {
    return this.#guard(index, async () => {
      await this.#handle(index);
      await this.close();
      const path = join(this.#folder, String(index));
      await rename(this.#path(index), path);
      this.#made.delete(index);
      return path;
    });
  }

  /** Removes an unfinished file; nothing happens if there is none. */
  remove(index: number): Promise<void> {
    return this.#guard(index, async () => {
      if (this.#current?.index === index) await this.close();
      if (this.#made.delete(index)) await rm(this.#path(index), { force: true });
    });
  }

  async close(): Promise<void> {
    const current = this.#current;
    this.#current = undefined;
    await current?.handle.close();
  }

  #path(index: number): string {
    return join(this.#folder, `${index}.part`);
  }

  async #handle(index: number): Promise<FileHandle> {
    if (this.#current?.index === index) return this.#current.handle;
    await this.close();
    const handle = await open(this.#path(index), this.#made.has(index) ? REOPEN : CREATE, 0o600);
    this.#made.add(index);
    this.#current = { index, handle };
    return handle;
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
