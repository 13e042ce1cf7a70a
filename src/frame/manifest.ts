import { createHash } from 'node:crypto';
import { entryText, type ManifestEntry } from './grammar.js';

/** A manifest whose digest was right. */
export interface Manifest {
  /** Start of the sidecar that sent it. */
  readonly start: number;
  readonly sha256: string;
  /** One entry for each wanted path, in order of their index. */
  readonly entries: readonly ManifestEntry[];
}

/** More starts than this are not told apart at the same time: a damaged line cannot make memory grow. */
const MAX_STARTS = 4;

/** Puts manifests together from entries, which may be lost, repeated or out of order. */
export class ManifestReader {
  readonly #wanted: number;
  readonly #entries = new Map<number, Map<number, ManifestEntry>>();

  /** `wanted`: number of entries that a whole manifest has. */
  constructor(wanted: number) {
    this.#wanted = wanted;
  }

  /** False: no such path is wanted. */
  add(start: number, entry: ManifestEntry): boolean {
    if (entry.index >= this.#wanted) return false;
    let entries = this.#entries.get(start);
    if (!entries) {
      entries = new Map();
      this.#entries.set(start, entries);
      const oldest = this.#entries.keys().next();
      if (this.#entries.size > MAX_STARTS && !oldest.done) this.#entries.delete(oldest.value);
    }
    entries.set(entry.index, entry);
    return true;
  }

  /** The manifest that a `manifest` frame closes; undefined when an entry is missing or was damaged. */
  close(start: number, count: number, sha256: string): Manifest | undefined {
    if (count !== this.#wanted) return undefined;
    const known = this.#entries.get(start);
    const entries: ManifestEntry[] = [];
    const hash = createHash('sha256');
    for (let index = 0; index < count; index += 1) {
      const entry = known?.get(index);
      if (!entry) return undefined;
      entries.push(entry);
      hash.update(`${entryText(entry)}\n`);
    }
    return hash.digest('hex') === sha256 ? { start, sha256, entries } : undefined;
  }
}
