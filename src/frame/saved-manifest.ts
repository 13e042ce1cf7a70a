import { constants } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { CnabError, messageOf } from '../errors.js';
import { FrameDecoder } from './decoder.js';
import { MAGIC, entryText } from './grammar.js';
import { ManifestReader, type Manifest } from './manifest.js';

const CREATE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
const READ = constants.O_RDONLY | constants.O_NOFOLLOW;
const SALT = /^[0-9a-f]{64}$/;

/**
 * The manifest and the salt of its seals in the staging folder, for a process that goes on from there. The manifest is kept
 * as the lines that it came in, so it proves itself when it is read again.
 */
export class SavedManifest {
  readonly #folder: string;
  readonly #runId: string;
  readonly #wanted: number;

  constructor(folder: string, runId: string, wanted: number) {
    this.#folder = folder;
    this.#runId = runId;
    this.#wanted = wanted;
  }

  /** Undefined: there is none of this run. Rejects with CnabError `unavailable`. */
  async load(): Promise<Manifest | undefined> {
    const text = await this.#read('manifest');
    const reader = new ManifestReader(this.#wanted);
    for (const frame of new FrameDecoder(this.#runId).push(text)) {
      if (frame.type === 'entry') reader.add(frame.start, frame.entry);
      if (frame.type === 'manifest') return reader.close(frame.start, frame.count, frame.sha256);
    }
    return undefined;
  }

  /** A salt that was saved goes first: it is the one of the manifest before. Rejects with CnabError `unavailable`. */
  async save({ start, sha256, entries }: Manifest): Promise<void> {
    await rm(join(this.#folder, 'salt'), { force: true }).catch((error: unknown) => {
      throw this.#failure(error);
    });
    const texts = [...entries.map(entryText), `manifest ${entries.length} ${sha256}`];
    await this.#write('manifest', texts.map((text) => `${MAGIC} ${this.#runId} ${start} ${text} .\n`).join(''));
  }

  /** Of the manifest that is saved; 64 hex digits. */
  async loadSalt(): Promise<string | undefined> {
    const text = (await this.#read('salt')).toString('latin1');
    return SALT.test(text) ? text : undefined;
  }

  async saveSalt(salt: string): Promise<void> {
    await this.#write('salt', salt);
  }

  async #read(name: string): Promise<Buffer> {
    try {
      const handle = await open(join(this.#folder, name), READ);
      try {
        return await handle.readFile();
      } finally {
        await handle.close();
      }
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return Buffer.alloc(0);
      throw this.#failure(error);
    }
  }

  /** Whole or not at all, whenever the process is killed. */
  async #write(name: string, text: string): Promise<void> {
    try {
      const path = join(this.#folder, name);
      // A process that was killed may have left one.
      await rm(`${path}.new`, { force: true });
      const handle = await open(`${path}.new`, CREATE, 0o600);
      try {
        await handle.writeFile(text);
        await handle.sync();
      } finally {
        await handle.close();
      }
      await rename(`${path}.new`, path);
    } catch (error) {
      throw this.#failure(error);
    }
  }

  #failure(error: unknown): CnabError {
    return new CnabError('unavailable', `outputs cannot be stored in ${this.#folder}: ${messageOf(error)}`, {
      cause: error,
      suggestions: ['make room in that file system, or let another one hold it'],
    });
  }
}
