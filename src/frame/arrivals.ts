import { Announced } from './announced.js';
import type { FileRange, IncomingFile } from './incoming-file.js';
import type { Manifest } from './manifest.js';
import { PartFiles } from './part-files.js';
import type { OutputLimits } from './problem.js';
import { SavedManifest } from './saved-manifest.js';

export interface ArrivalsOptions {
  readonly runId: string;
  readonly wanted: number;
  readonly staging: string;
  readonly limits: OutputLimits;
  readonly freeBytes?: (() => Promise<number>) | undefined;
}

/**
 * What has arrived of a run's outputs, in memory and in the staging folder alike, so that a process that is killed at any
 * moment loses at most what was being written. Log and exec bring blocks at the same time; each change has its turn.
 * Every method that stores rejects with CnabError `unavailable` when the disk fails.
 */
export class Arrivals {
  readonly #options: ArrivalsOptions;
  readonly #parts: PartFiles;
  readonly #saved: SavedManifest;
  #announced: Announced | undefined;
  #salt: string | undefined;
  #contradiction = false;
  #shortage: { readonly needed: number; readonly free: number } | undefined;
  #arriving: number | undefined;
  #isOver = false;
  #turn: Promise<unknown> = Promise.resolve();

  constructor(options: ArrivalsOptions) {
    this.#options = options;
    this.#parts = new PartFiles(options.staging);
    this.#saved = new SavedManifest(options.staging, options.runId, options.wanted);
  }

  get announced(): Announced | undefined {
    return this.#announced;
  }

  get contradiction(): boolean {
    return this.#contradiction;
  }

  get shortage(): { readonly needed: number; readonly free: number } | undefined {
    return this.#shortage;
  }

  get arriving(): number | undefined {
    return this.#arriving;
  }

  get salt(): string | undefined {
    return this.#salt;
  }

  /** True: blocks may be stored. */
  get isOpen(): boolean {
    return !this.#isOver && !this.#contradiction && this.#shortage === undefined && this.#announced !== undefined;
  }

  /** The file that this block belongs to and that needs it. */
  wanting(index: number, block: number, length: number, isProven: boolean): IncomingFile | undefined {
    const file = this.isOpen ? this.#announced?.file(index) : undefined;
    return file?.needs(block, isProven) === true && file.lengthOf(block) === length ? file : undefined;
  }

  /** Goes on from what an earlier process left. */
  load(): Promise<void> {
    return this.#inTurn(async () => {
      const manifest = await this.#saved.load();
      if (!manifest) return this.#parts.clear();
      this.#salt = await this.#saved.loadSalt();
      this.#announced = new Announced(manifest, this.#options.limits, this.#parts);
      for (const file of this.#announced.files) await file.load(this.#salt);
      await this.#makeRoom();
    });
  }

  /** A restarted sidecar looks at the files anew, so what it says replaces what the one before it said. */
  announce(manifest: Manifest): Promise<void> {
    return this.#inTurn(async () => {
      const earlier = this.#announced;
      if (earlier && manifest.start <= earlier.manifest.start) {
        // A sidecar sends one manifest in its life, perhaps several times. Two of them prove nothing any more.
        const isOther = manifest.start === earlier.manifest.start && manifest.sha256 !== earlier.manifest.sha256;
        if (isOther) this.#contradiction = true;
        return;
      }
      const announced = new Announced(manifest, this.#options.limits, this.#parts, earlier);
      // In this order: what is on disk fits the manifest that is on disk, at any moment.
      for (const file of earlier?.files ?? []) if (announced.file(file.entry.index) !== file) await this.#forget(file);
      await this.#saved.save(manifest);
      this.#announced = announced;
      this.#salt = undefined;
      this.#contradiction = false;
      await this.#makeRoom();
    });
  }

  /** Stores a block that is still needed when its turn comes. `isProven`: its own digest was right. */
  store(index: number, block: number, bytes: Uint8Array, isProven: boolean): Promise<void> {
    return this.#inTurn(async () => {
      const file = this.wanting(index, block, bytes.length, isProven);
      if (!file) return;
      this.#arriving = index;
      await file.store(block, bytes, isProven, this.#salt);
    });
  }

  /** Whatever waited for the salt of the seals is proven, or is not what was sealed. */
  unseal(salt: string): Promise<void> {
    return this.#inTurn(async () => {
      if (!this.isOpen || this.#salt === salt) return;
      await this.#saved.saveSalt(salt);
      this.#salt = salt;
      for (const file of this.#announced?.files ?? []) await file.settle(salt);
    });
  }

  /** sha256 of a range as it is on disk, in hex; undefined for a file that is whole or not announced. */
  digest({ index, offset, length }: FileRange): Promise<string | undefined> {
    return this.#inTurn(async () => {
      const file = this.#announced?.file(index);
      if (!file || file.isWhole || this.#isOver) return undefined;
      return await this.#parts.digest(index, 'part', offset, length);
    });
  }

  drop(range: FileRange): Promise<void> {
    return this.#inTurn(async () => {
      if (this.isOpen) await this.#announced?.file(range.index)?.drop(range);
    });
  }

  /** Nothing is stored any more; what is not whole stays for a later process. */
  close(): Promise<void> {
    return this.#inTurn(async () => {
      this.#isOver = true;
      await this.#parts.close();
    });
  }

  /** Resolves when all that is whole outlives a power failure. */
  sync(): Promise<void> {
    const files = [...(this.#announced?.files ?? [])];
    return this.#parts.sync(files.flatMap(({ entry, isWhole }) => (isWhole ? [entry.index] : [])));
  }

  path(index: number): string {
    return this.#parts.wholePath(index);
  }

  async #forget(file: IncomingFile): Promise<void> {
    if (file.isWhole) await this.#parts.removeWhole(file.entry.index);
    else await file.discard();
  }

  /** Nothing is begun that the disk cannot take. */
  async #makeRoom(): Promise<void> {
    this.#shortage = undefined;
    const { freeBytes } = this.#options;
    const needed = (this.#announced?.totalBytes ?? 0) - (this.#announced?.receivedBytes ?? 0);
    if (freeBytes && needed > 0) {
      const free = await freeBytes();
      if (free < needed) this.#shortage = { needed, free };
    }
    if (this.#shortage) return;
    // These have no block to wait for.
    for (const file of this.#announced?.files ?? []) if (file.entry.size === 0) await file.settle(this.#salt);
  }

  #inTurn<T>(action: () => Promise<T>): Promise<T> {
    const result = this.#turn.then(action);
    this.#turn = result.catch(() => undefined);
    return result;
  }
}
