import { compareTimestamps, LONGEST_PREFIX, readPrefix } from './log-timestamp.js';
import type { LogTimestamp } from './log-timestamp.js';

export type LogPiece = { readonly bytes: Buffer } | { readonly gap: string };

/** Where a log stands that is read more than once. */
export interface LogPlace {
  /** `sinceTime` for the next reading; undefined: from the start. */
  readonly sinceTime: string | undefined;
  /** After a reading that came to the very end of the log: whether it held the place where the one before stopped. */
  readonly found: boolean;
  /** A new reading begins, asked for with `sinceTime`. */
  begin(): void;
  /** The answer goes on; gives what is to be handed on before the next call. */
  push(chunk: Buffer): readonly LogPiece[];
  /** Whoever was given something needs nothing of it again; absent where that goes without saying. */
  taken?(): void;
}

/**
 * How much earlier than the last line a log is asked for again. The server cuts `sinceTime` to whole seconds
 * (apiserver, registry/core/pod/strategy.go); lines of stdout and stderr may stand out of order by their times.
 */
const MARGIN_SECONDS = 2;

const NEWLINE = Buffer.from('\n');
const NOTHING: Buffer = Buffer.alloc(0);

/**
 * Where one log stands: takes the kubelet's stream with timestamps, gives the bytes without them, and finds the place
 * again when the log is read anew.
 *
 * The kubelet puts one timestamp before each line (since 1.23.14 not before the 16 KiB pieces of it). Lines keep their
 * order between two readings of a file, so in a new reading everything up to the last line that was given is known, and
 * everything behind it is new. When that line does not come (the file was rotated) a gap is told. A line that was given
 * in part is gone on with after the bytes that were given.
 *
 * Bytes at the beginning of a line that are no timestamp (a message that the kubelet writes into the body) are given as
 * they are, and do not count as a place.
 */
export class LogCursor implements LogPlace {
  private last: LogTimestamp | undefined;
  /** Lines in a row that carry the time of the last one. */
  private sameAsLast = 0;
  private latest: LogTimestamp | undefined;
  /** Bytes given of the last line while it is unfinished. */
  private given = 0;
  private midLine = false;
  /** Whether the unfinished line has a timestamp, so that it can be found again. */
  private marked = false;

  private phase: 'live' | 'seek' = 'live';
  private toSee = 0;
  /** What the rest of the current line is: given, passed over, or passed over for `passBytes` and given from there. */
  private line: 'head' | 'give' | 'pass' | 'pass-bytes' = 'head';
  private passBytes = 0;
  private head = NOTHING;

  /** `sinceTime` for the next reading; undefined: from the start. */
  get sinceTime(): string | undefined {
    if (this.last === undefined) return undefined;
    const seconds = Math.max(0, this.last.seconds - MARGIN_SECONDS);
    return new Date(seconds * 1000).toISOString().replace('.000Z', 'Z');
  }

  /** A new reading begins, asked for with `sinceTime`. Half a timestamp that the one before left is dropped. */
  begin(): void {
    this.head = NOTHING;
    this.line = 'head';
    this.phase = this.last !== undefined ? 'seek' : 'live';
    this.toSee = this.sameAsLast;
  }

  /** The answer goes on; `chunk` is not kept. */
  push(chunk: Buffer): LogPiece[] {
    const out = new Pieces(chunk.length + this.head.length + 1);
    let at = 0;
    while (at < chunk.length)
      at = this.line === 'head' ? this.takeHead(chunk, at, out) : this.takeContent(chunk, at, out);
    return out.take();
  }

  /** After a reading that came to the very end of the log: whether it held the place where the one before stopped. */
  get found(): boolean {
    return this.phase === 'live';
  }

  private takeHead(chunk: Buffer, at: number, out: Pieces): number {
    // The common case, a whole line start in the chunk, needs no copy.
    const held = this.head.length;
    const view =
      held === 0
        ? chunk.subarray(at, at + LONGEST_PREFIX)
        : Buffer.concat([this.head, chunk.subarray(at, at + LONGEST_PREFIX - held)]);
    const prefix = readPrefix(view);
    if (prefix === 'partial') {
      this.head = Buffer.from(view);
      return at + view.length - held;
    }
    this.head = NOTHING;
    if (prefix === undefined) {
      this.startUnmarked(held === 0 ? NOTHING : view.subarray(0, held), out);
      return at;
    }
    this.startMarked(prefix.at, out);
    return at + prefix.length - held;
  }

  private startUnmarked(held: Buffer, out: Pieces): void {
    // While seeking it is the tail of a long line that began before `sinceTime`: given long ago.
    this.line = this.phase === 'seek' ? 'pass' : 'give';
    if (this.line === 'pass') return;
    this.closeLine(out);
    out.add(held);
    this.midLine = held.length > 0;
    this.marked = false;
  }

  private startMarked(at: LogTimestamp, out: Pieces): void {
    if (this.phase === 'seek' && this.last !== undefined && this.latest !== undefined) {
      if (compareTimestamps(at, this.last) === 0 && --this.toSee === 0) {
        this.phase = 'live';
        this.line = this.midLine && this.marked ? 'pass-bytes' : 'pass';
        this.passBytes = this.given;
        return;
      }
      if (compareTimestamps(at, this.latest) <= 0) {
        this.line = 'pass';
        return;
      }
      this.phase = 'live';
      this.closeLine(out);
      out.gap('the place where the reading stopped is no longer in the log');
    } else {
      this.closeLine(out);
    }
    this.sameAsLast = this.last !== undefined && compareTimestamps(at, this.last) === 0 ? this.sameAsLast + 1 : 1;
    this.last = at;
    if (this.latest === undefined || compareTimestamps(at, this.latest) > 0) this.latest = at;
    this.line = 'give';
    this.midLine = true;
    this.marked = true;
    this.given = 0;
  }

  private takeContent(chunk: Buffer, at: number, out: Pieces): number {
    const newline = chunk.indexOf(10, at);
    const to = newline < 0 ? chunk.length : newline + 1;
    if (this.line === 'pass-bytes') {
      if (newline < 0 || newline - at >= this.passBytes) {
        const passed = Math.min(this.passBytes, to - at);
        this.passBytes -= passed;
        if (this.passBytes === 0) this.line = 'give';
        return at + passed;
      }
      // More was given than the line has: a message of the kubelet was glued to it.
      this.closeLine(out);
    }
    if (this.line === 'give') {
      out.add(chunk, at, to);
      this.midLine = newline < 0;
      if (this.marked) this.given += to - at;
    }
    if (newline >= 0) this.line = 'head';
    return to;
  }

  /** An unfinished line that does not go on is ended, so that what follows begins a line of its own. */
  private closeLine(out: Pieces): void {
    if (this.midLine) out.add(NEWLINE);
    this.midLine = false;
  }
}

/** Collects the bytes between gaps into one buffer each: short lines would else cost a call and a wait each. */
class Pieces {
  private readonly list: LogPiece[] = [];
  private buffer: Buffer | undefined;
  private used = 0;

  constructor(private readonly capacity: number) {}

  add(bytes: Buffer, from = 0, to = bytes.length): void {
    if (to === from) return;
    if (this.buffer === undefined || this.used + to - from > this.buffer.length) {
      this.flush();
      this.buffer = Buffer.allocUnsafe(Math.max(this.capacity, to - from));
    }
    this.used += bytes.copy(this.buffer, this.used, from, to);
  }

  gap(reason: string): void {
    this.flush();
    this.list.push({ gap: reason });
  }

  take(): LogPiece[] {
    this.flush();
    return this.list;
  }

  private flush(): void {
    if (this.buffer !== undefined && this.used > 0) this.list.push({ bytes: this.buffer.subarray(0, this.used) });
    this.buffer = undefined;
    this.used = 0;
  }
}
