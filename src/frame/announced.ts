import { IncomingFile } from './incoming-file.js';
import type { Manifest } from './manifest.js';
import type { PartFiles } from './part-files.js';
import { problemOf, type OutputLimits, type Problem } from './problem.js';

/** What one manifest announces: the files that may be stored, and why there is none at the other paths. */
export class Announced {
  readonly manifest: Manifest;
  readonly #files = new Map<number, IncomingFile>();
  readonly #problems = new Map<number, Problem>();

  /** The limits are applied here, before a byte is stored. */
  constructor(manifest: Manifest, limits: OutputLimits) {
    this.manifest = manifest;
    let before = 0;
    for (const entry of manifest.entries) {
      const problem = problemOf(entry, limits, before);
      if (problem) this.#problems.set(entry.index, problem);
      if (problem || entry.kind !== 'file') continue;
      before += entry.size;
      this.#files.set(entry.index, new IncomingFile(entry));
    }
  }

  file(index: number): IncomingFile | undefined {
    return this.#files.get(index);
  }

  problem(index: number): Problem | undefined {
    return this.#problems.get(index);
  }

  get complete(): boolean {
    return [...this.#files.values()].every((file) => file.path !== undefined);
  }

  /** Bytes on disk. */
  get receivedBytes(): number {
    return [...this.#files.values()].reduce((sum, file) => sum + file.received, 0);
  }

  /** Bytes that are on disk when it is complete. */
  get totalBytes(): number {
    return [...this.#files.values()].reduce((sum, file) => sum + file.entry.size, 0);
  }

  /** Makes the files that have no block to wait for. Rejects as PartFiles does. */
  async settleEmpty(parts: PartFiles): Promise<void> {
    for (const file of this.#files.values()) if (file.entry.size === 0) await file.settleEmpty(parts);
  }

  /** Removes every unfinished file. Rejects as PartFiles does. */
  async discard(parts: PartFiles): Promise<void> {
    for (const index of this.#files.keys()) await parts.remove(index);
  }
}
