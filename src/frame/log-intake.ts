import type { Arrivals } from './arrivals.js';
import { FrameDecoder } from './decoder.js';
import { BLOCK_BYTES, type BlockHeader, type FaultKind, type Frame } from './grammar.js';
import { ManifestReader, type Manifest } from './manifest.js';
import { OpenBlock } from './open-block.js';

const TOLD = Promise.resolve();

/** What the bytes of a sidecar's log mean: whatever is whole and proven goes to `arrivals`. Holds one block and one line. */
export class LogIntake {
  readonly #wanted: number;
  readonly #arrivals: Arrivals;
  readonly #decoder: FrameDecoder;
  readonly #reader: ManifestReader;
  #open: OpenBlock | undefined;
  /** Of one block after the other: a MiB of its own for each kept the garbage collector busy. */
  #room: Buffer | undefined;
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

  /** See `Assembler.push`. */
  push(chunk: Uint8Array): Promise<void> | undefined {
    if (this.#busy) throw new Error('accept was called before the last call had ended');
    const frames = this.#decoder.push(chunk);
    for (let next = frames.next(); !next.done; next = frames.next()) {
      const waiting = this.#take(next.value);
      if (waiting) return this.#goOn(waiting, frames);
    }
    return undefined;
  }

  async #goOn(waiting: Promise<void>, frames: Iterable<Frame>): Promise<void> {
    this.#busy = true;
    try {
      await waiting;
      for (const frame of frames) {
        const next = this.#take(frame);
        if (next) await next;
      }
    } finally {
      this.#busy = false;
    }
  }

  restart(): void {
    this.#decoder.restart();
  }

  /** Undefined: nothing has changed that is told. Not async: a data line must not cost a promise. */
  #take(frame: Frame): Promise<void> | undefined {
    switch (frame.type) {
      case 'hello':
        if (frame.count !== this.#wanted) this.#unusable += 1;
        // What an earlier start had to complain of is over.
        this.#fault = undefined;
        return TOLD;
      case 'beat':
      case 'end':
        return TOLD;
      case 'ended':
        this.#mainEnded = true;
        return TOLD;
      case 'entry':
        if (!this.#reader.add(frame.start, frame.entry)) this.#unusable += 1;
        return undefined;
      case 'manifest':
        return this.#takeManifest(this.#reader.close(frame.start, frame.count, frame.sha256));
      case 'block':
        this.#takeHeader(frame.start, frame.header);
        // What is not needed is over with its header: a pass over what is there must not look like a block that does not end.
        return this.#open === undefined ? TOLD : undefined;
      case 'data':
        return this.#takeData(frame);
      case 'changed':
        if (frame.start === this.#manifest?.start) this.#arrivals.announced?.file(frame.index)?.markChanged();
        return TOLD;
      case 'fault':
        this.#fault = { what: frame.what, detail: frame.detail };
        return TOLD;
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
    this.#open = undefined;
    if (file?.entry.kind !== 'file') return;
    this.#room ??= Buffer.allocUnsafe(BLOCK_BYTES);
    this.#open = new OpenBlock(start, { index, block, bytes, ...rest }, this.#room.subarray(0, bytes));
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
