import { Announced } from './announced.js';
import { FrameDecoder } from './decoder.js';
import type { BlockHeader, FaultKind, Frame } from './grammar.js';
import { ManifestReader, type Manifest } from './manifest.js';
import { OpenBlock } from './open-block.js';
import { PartFiles } from './part-files.js';
import { changed, lost, type OutputLimits, type Problem } from './problem.js';

export interface AssemblerOptions {
  /** As in the lines (`isRunId`); frames of any other run are noise. */
  readonly runId: string;
  /** Number of wanted paths; index i of every frame, output and problem is the i-th of them. */
  readonly wanted: number;
  /** An existing folder that belongs to this run alone. Files are made in it with O_EXCL and mode 0600. */
  readonly staging: string;
  readonly limits: OutputLimits;
}

/** A file that has arrived whole: its sha256 is the manifest's. */
export interface AssembledOutput {
  readonly index: number;
  /** Path in `staging`. */
  readonly file: string;
  /** Bytes. */
  readonly size: number;
  /** 64 hex digits. */
  readonly sha256: string;
}

export interface Assembly {
  /** In order of their index; together with `problems` every index once. */
  readonly outputs: readonly AssembledOutput[];
  readonly problems: readonly Problem[];
  readonly manifestSeen: boolean;
  /** Lines that were no frame of this run, or one that could not be used. */
  readonly noise: number;
}

/**
 * The log of an `outputs` sidecar in, proven files out: nothing counts but what the manifest announced and what its
 * sha256 proves. Takes any bytes, any number of times, from any number of connections one after the other; what is
 * damaged is dropped and may come again. Holds one block (1 MiB) and one line in memory.
 */
export class Assembler {
  readonly #options: AssemblerOptions;
  readonly #decoder: FrameDecoder;
  readonly #parts: PartFiles;
  readonly #reader: ManifestReader;
  #announced: Announced | undefined;
  #contradiction = false;
  #open: OpenBlock | undefined;
  #mainEnded = false;
  #fault: { readonly what: FaultKind; readonly detail: string } | undefined;
  #unusable = 0;
  #busy = false;

  /** Throws RangeError for a run id that cannot stand in a line. */
  constructor(options: AssemblerOptions) {
    this.#options = options;
    this.#decoder = new FrameDecoder(options.runId);
    this.#parts = new PartFiles(options.staging);
    this.#reader = new ManifestReader(options.wanted);
  }

  /** The sidecar knows that the invocation has ended. */
  get mainEnded(): boolean {
    return this.#mainEnded;
  }

  /** The manifest is proven and so is every file that it announces within the limits: nothing more is to come. */
  get complete(): boolean {
    return !this.#contradiction && this.#announced?.complete === true;
  }

  /** Why the sidecar gave up before the invocation started. `tool`: the shell image lacks the tool `detail`. */
  get fault(): { readonly what: FaultKind; readonly detail: string } | undefined {
    return this.#fault;
  }

  /** Bytes of files on disk. */
  get receivedBytes(): number {
    return this.#announced?.receivedBytes ?? 0;
  }

  /** Bytes that will be on disk when it is complete; undefined before the manifest. */
  get totalBytes(): number | undefined {
    return this.#announced?.totalBytes;
  }

  /**
   * Takes any part of the stream; resolves when what it completes is on disk. One call at a time.
   * Rejects with CnabError `unavailable` when a file cannot be written.
   */
  async accept(chunk: Uint8Array): Promise<void> {
    if (this.#busy) throw new Error('accept was called before the last call had ended');
    this.#busy = true;
    try {
      for (const frame of this.#decoder.push(chunk)) {
        const waiting = this.#take(frame);
        if (waiting) await waiting;
      }
    } finally {
      this.#busy = false;
    }
  }

  /** A new connection begins; it may repeat anything. Not while `accept` is under way. */
  restart(): void {
    this.#decoder.restart();
  }

  /** Closes and removes what is not whole, and says what became of every wanted path. Call it once, at the end. */
  async finish(): Promise<Assembly> {
    this.#open = undefined;
    const outputs: AssembledOutput[] = [];
    const problems: Problem[] = [];
    for (let index = 0; index < this.#options.wanted; index += 1) {
      const file = this.#contradiction ? undefined : this.#announced?.file(index);
      if (file?.path !== undefined) {
        outputs.push({ index, file: file.path, size: file.entry.size, sha256: file.entry.sha256 });
      } else {
        problems.push(this.#problem(index));
        await this.#parts.remove(index);
      }
    }
    await this.#parts.close();
    const noise = this.#decoder.noise + this.#unusable;
    return { outputs, problems, manifestSeen: this.#announced !== undefined, noise };
  }

  #problem(index: number): Problem {
    if (this.#contradiction) return lost(index, 'is lost: the sidecar sent two manifests that contradict each other');
    if (!this.#announced)
      return lost(index, 'is lost: the sidecar sent no list of outputs, or it did not arrive whole');
    const file = this.#announced.file(index);
    if (!file) return this.#announced.problem(index) ?? lost(index, 'is lost');
    return file.changed ? changed(index) : lost(index, `is lost: ${file.extent} arrived`);
  }

  /** Not async: a data line must not cost a promise. */
  #take(frame: Frame): Promise<void> | undefined {
    switch (frame.type) {
      case 'hello':
        if (frame.count !== this.#options.wanted) this.#unusable += 1;
        // What an earlier start had to complain of is over.
        this.#fault = undefined;
        return undefined;
      case 'beat':
      case 'end':
        return undefined;
      case 'ended':
        this.#mainEnded = true;
        return undefined;
      case 'entry':
        if (!this.#reader.add(frame.start, frame.entry)) this.#unusable += 1;
        return undefined;
      case 'manifest':
        return this.#takeManifest(this.#reader.close(frame.start, frame.count, frame.sha256));
      case 'block':
        this.#takeHeader(frame.start, frame.header);
        return undefined;
      case 'data':
        return this.#takeData(frame);
      case 'changed':
        if (frame.start === this.#announced?.manifest.start) this.#announced.file(frame.index)?.markChanged();
        return undefined;
      case 'fault':
        this.#fault = { what: frame.what, detail: frame.detail };
        return undefined;
    }
  }

  #takeManifest(manifest: Manifest | undefined): Promise<void> | undefined {
    if (!manifest) {
      this.#unusable += 1;
      return undefined;
    }
    const known = this.#announced?.manifest;
    if (known && manifest.start <= known.start) {
      // A sidecar sends one manifest in its life, perhaps several times. Two of them prove nothing any more.
      if (manifest.start === known.start && manifest.sha256 !== known.sha256) this.#contradiction = true;
      return undefined;
    }
    return this.#begin(manifest);
  }

  /** A restarted sidecar looks at the files anew, so what it says replaces what the one before it said. */
  async #begin(manifest: Manifest): Promise<void> {
    await this.#announced?.discard(this.#parts);
    this.#open = undefined;
    this.#contradiction = false;
    this.#announced = new Announced(manifest, this.#options.limits);
    await this.#announced.settleEmpty(this.#parts);
  }

  #takeHeader(start: number, header: BlockHeader): void {
    // A header always begins anew, also the same one: what came after the last one may be damaged.
    if (this.#open) this.#unusable += 1;
    const file = start === this.#announced?.manifest.start ? this.#announced.file(header.index) : undefined;
    this.#open = file?.needs(header) && !this.#contradiction ? new OpenBlock(start, header) : undefined;
  }

  #takeData(frame: Frame & { readonly type: 'data' }): Promise<void> | undefined {
    const open = this.#open;
    if (!open || frame.start !== open.start || frame.index !== open.header.index || frame.block !== open.header.block) {
      return undefined;
    }
    const progress = open.take(frame.line, frame.payload);
    if (progress === 'more') return undefined;
    this.#open = undefined;
    const bytes = progress === 'whole' ? open.proven() : undefined;
    const file = this.#announced?.file(open.header.index);
    if (bytes && file) return file.store(open.header, bytes, this.#parts);
    this.#unusable += 1;
    return undefined;
  }
}
