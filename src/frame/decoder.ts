import { MAX_LINE_BYTES, frameParser, type Frame, type FrameParser } from './grammar.js';

const NEWLINE = 0x0a;
const DIGIT_2 = 0x32;
const TIMESTAMP = /^2[0-9]{3}-[0-9]{2}-[0-9]{2}T[0-9:.]{8,18}(?:Z|[+-][0-9]{2}:[0-9]{2}) /;
/** `2006-01-02T15:04:05.999999999+07:00` and its blank. */
const TIMESTAMP_BYTES = 36;
const MAX_HELD_BYTES = TIMESTAMP_BYTES + MAX_LINE_BYTES;

/**
 * Bytes of a log stream in, frames out. Holds at most one unfinished line (16.3 KB, its timestamp included); a longer line is noise
 * and is skipped without being stored. No input makes it throw.
 *
 * A line may be preceded by the log's own timestamp and a blank, as the log API's `timestamps=true` gives it
 * (the tail of a line that a runtime has split comes without one, so it is looked for in every line).
 */
export class FrameDecoder {
  readonly #parse: FrameParser;
  readonly #half = Buffer.allocUnsafe(MAX_HELD_BYTES);
  #halfLength = 0;
  /** In a line that is already too long: everything up to its newline is dropped. */
  #skipping = false;
  #noise = 0;

  /** `runId`: frames of any other run are noise. */
  constructor(runId: string) {
    this.#parse = frameParser(runId);
  }

  /** Lines, empty ones left out, that were no frame of this run. */
  get noise(): number {
    return this.#noise;
  }

  /**
   * The frames that end in `chunk` (any bytes, cut anywhere), in order. Take them all, one after the other:
   * a data frame's payload is a view that the next step may overwrite.
   */
  *push(chunk: Uint8Array): Generator<Frame, void, undefined> {
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    let from = 0;
    for (;;) {
      const newline = bytes.indexOf(NEWLINE, from);
      if (newline < 0) break;
      const line = this.#line(bytes, from, newline);
      from = newline + 1;
      if (line === undefined) {
        this.#noise += 1;
      } else if (line.length > 0) {
        const frame = this.#parse(withoutTimestamp(line));
        if (frame) yield frame;
        else this.#noise += 1;
      }
    }
    this.#keep(bytes, from);
  }

  /** A new connection begins: what the old one left of a line belongs to nothing. */
  restart(): void {
    if (this.#halfLength > 0 || this.#skipping) this.#noise += 1;
    this.#halfLength = 0;
    this.#skipping = false;
  }

  /** The line that ends at `newline`, joined with what earlier chunks held of it; undefined when it was too long. */
  #line(bytes: Buffer, from: number, newline: number): Buffer | undefined {
    if (this.#skipping) {
      this.#skipping = false;
      return undefined;
    }
    if (this.#halfLength === 0) return bytes.subarray(from, newline);
    const length = this.#halfLength + newline - from;
    const fits = length <= MAX_HELD_BYTES;
    if (fits) bytes.copy(this.#half, this.#halfLength, from, newline);
    this.#halfLength = 0;
    return fits ? this.#half.subarray(0, length) : undefined;
  }

  #keep(bytes: Buffer, from: number): void {
    if (this.#skipping) return;
    if (this.#halfLength + bytes.length - from > MAX_HELD_BYTES) {
      this.#halfLength = 0;
      this.#skipping = true;
      return;
    }
    this.#halfLength += bytes.copy(this.#half, this.#halfLength, from);
  }
}

function withoutTimestamp(line: Buffer): Buffer {
  if (line[0] !== DIGIT_2) return line;
  const match = TIMESTAMP.exec(line.toString('latin1', 0, TIMESTAMP_BYTES));
  return match ? line.subarray(match[0].length) : line;
}
