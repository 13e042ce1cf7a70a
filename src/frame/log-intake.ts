import type { Arrivals } from './arrivals.js';
import { FrameDecoder } from './decoder.js';
import type { BlockHeader, FaultKind, Frame } from './grammar.js';
import { ManifestReader, type Manifest } from './manifest.js';
import { OpenBlock } from './open-block.js';

/** What the bytes of a sidecar's log mean: whatever is whole and proven goes to `arrivals`. Holds one block and one line. */
export class LogIntake {
  readonly #wanted: number;
  readonly #arrivals: Arrivals;
  readonly #decoder: FrameDecoder;
  readonly #reader: ManifestReader;
  #open: OpenBlock | undefined;
  #mainEnded = false;
  #fault: { readonly what: FaultKind; readonly detail: string } | undefined;
  #unusable = 0;
  #busy = false;

  /** Throws RangeError for a run id that cannot stand in a line. */
  constructor(runId: string, wanted: number, arrivals: Arrivals) {
    this.#wanted = wanted;
    this.#arrivals = arrivals;
    this.#decoder = new FrameDecoder(runId);
    this.#reader = new ManifestReader(wanted);
  }

  /** The sidecar said so, in this log. */
  get mainEnded(): boolean {
    return this.#mainEnded;
  }

  get fault(): { readonly what: FaultKind; readonly detail: string } | undefined {
    return this.#fault;
  }

  /** Lines that were no frame of this run, or one that could not be used. */
  get noise(): number {
    return this.#decoder.noise + this.#unusable;
  }

  /** See `Assembler.accept`. */
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

  restart(): void {
    this.#decoder.restart();
  }

  /** Not async: a data line must not cost a promise. */
  #take(frame: Frame): Promise<void> | undefined {
    switch (frame.type) {
      case 'hello':
        if (frame.count !== this.#wanted) this.#unusable += 1;
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
        if (frame.start === this.#manifest?.start) this.#arrivals.announced?.file(frame.index)?.markChanged();
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
    if (manifest.start > (this.#manifest?.start ?? 0)) this.#open = undefined;
    return this.#arrivals.announce(manifest);
  }

  #takeHeader(start: number, { index, block, bytes, ...rest }: BlockHeader): void {
    // A header always begins anew, also the same one: what came after the last one may be damaged.
    if (this.#open) this.#unusable += 1;
    const file = start === this.#manifest?.start ? this.#arrivals.wanting(index, block, bytes, true) : undefined;
    // A sealed file never travels in the log.
    this.#open = file?.entry.kind === 'file' ? new OpenBlock(start, { index, block, bytes, ...rest }) : undefined;
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
    if (bytes) return this.#arrivals.store(frame.index, frame.block, bytes, true);
    this.#unusable += 1;
    return undefined;
  }

  get #manifest(): Manifest | undefined {
    return this.#arrivals.announced?.manifest;
  }
}
