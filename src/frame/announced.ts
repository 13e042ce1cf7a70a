import { entryText } from './grammar.js';
import { IncomingFile, type FileRange } from './incoming-file.js';
import type { Manifest } from './manifest.js';
import type { PartFiles } from './part-files.js';
import { problemOf, type OutputLimits, type Problem } from './problem.js';

/** What one manifest announces: the files that may be stored, and why there is none at the other paths. */
export class Announced {
  readonly manifest: Manifest;
  readonly #files = new Map<number, IncomingFile>();
  readonly #problems = new Map<number, Problem>();

  /** The limits are applied here, before a byte is stored. Files that stand in `earlier` to the letter go on as they are. */
  constructor(manifest: Manifest, limits: OutputLimits, parts: PartFiles, earlier?: Announced) {
    this.manifest = manifest;
    let before = 0;
    for (const entry of manifest.entries) {
      const problem = problemOf(entry, limits, before);
      if (problem) this.#problems.set(entry.index, problem);
      if (problem || (entry.kind !== 'file' && entry.kind !== 'sealed')) continue;
      before += entry.size;
      const known = earlier?.file(entry.index);
      const isSame = known !== undefined && entryText(known.entry) === entryText(entry);
      this.#files.set(entry.index, isSame ? known : new IncomingFile(entry, parts));
    }
  }

  get files(): Iterable<IncomingFile> {
    return this.#files.values();
  }

  file(index: number): IncomingFile | undefined {
    return this.#files.get(index);
  }

  problem(index: number): Problem | undefined {
    return this.#problems.get(index);
  }

  get complete(): boolean {
    return [...this.#files.values()].every((file) => file.isWhole);
  }

  /** Bytes on disk. */
  get receivedBytes(): number {
    return [...this.#files.values()].reduce((sum, file) => sum + file.received, 0);
  }

  /** Bytes that are on disk when it is complete. */
  get totalBytes(): number {
    return [...this.#files.values()].reduce((sum, file) => sum + file.entry.size, 0);
  }

  /** In order of the manifest. */
  missing(): readonly FileRange[] {
    return [...this.#files.values()].flatMap((file) => file.missing());
  }

  doubtful(): readonly FileRange[] {
    return [...this.#files.values()].flatMap((file) => file.doubtful());
  }
}
