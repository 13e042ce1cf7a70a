/**
 * The container runtime's log format: `<RFC3339Nano> <stdout|stderr> <P|F> <content>\n`, a line of more than
 * 16 KiB cut into `P` pieces of exactly that size and an `F` rest (containerd, max_container_log_line_size).
 */

export const PIECE_BYTES = 16_384;
const NEWLINE = Uint8Array.of(0x0a);

export type StreamName = 'stdout' | 'stderr';

/** Turns one stream's chunks into records. `stamp` gives the time of each record. */
export class CriEncoder {
  #rest: Buffer = Buffer.alloc(0);

  constructor(
    private readonly stream: StreamName,
    private readonly stamp: () => string,
  ) {}

  /** The records that this chunk completes; often none, the rest is kept. */
  write(chunk: Uint8Array): Buffer {
    const pieces: Uint8Array[] = [];
    let data = this.#rest.length === 0 ? Buffer.from(chunk) : Buffer.concat([this.#rest, chunk]);
    for (;;) {
      const newline = data.indexOf(0x0a);
      const length = newline === -1 ? data.length : newline;
      if (length > PIECE_BYTES) {
        this.#put(pieces, 'P', data.subarray(0, PIECE_BYTES));
        data = data.subarray(PIECE_BYTES);
      } else if (newline !== -1) {
        this.#put(pieces, 'F', withoutReturn(data.subarray(0, newline)));
        data = data.subarray(newline + 1);
      } else {
        break;
      }
    }
    this.#rest = Buffer.from(data);
    return Buffer.concat(pieces);
  }

  /** What is left of a last line without its newline: a `P` record, as containerd writes it. */
  end(): Buffer {
    const pieces: Uint8Array[] = [];
    if (this.#rest.length > 0) this.#put(pieces, 'P', this.#rest);
    this.#rest = Buffer.alloc(0);
    return Buffer.concat(pieces);
  }

  #put(pieces: Uint8Array[], tag: 'P' | 'F', content: Uint8Array): void {
    pieces.push(Buffer.from(`${this.stamp()} ${this.stream} ${tag} `), content, NEWLINE);
  }
}

/** containerd reads lines with Go's bufio, which drops a carriage return before the newline. */
function withoutReturn(line: Buffer): Buffer {
  return line.length > 0 && line[line.length - 1] === 0x0d ? line.subarray(0, -1) : line;
}

export interface CriRecord {
  /** As written: RFC 3339 with nanoseconds. */
  readonly time: string;
  readonly stream: StreamName;
  /** The line goes on in the next record of this stream. */
  readonly partial: boolean;
  /** With its newline, unless partial. */
  readonly content: Buffer;
}

/** Parses one record, with or without its newline. A line that is none: undefined (the kubelet skips it). */
export function parseRecord(line: Buffer): CriRecord | undefined {
  const first = line.indexOf(0x20);
  const second = line.indexOf(0x20, first + 1);
  const third = line.indexOf(0x20, second + 1);
  if (first <= 0 || second === -1 || third === -1) return undefined;
  const stream = line.toString('latin1', first + 1, second);
  if (stream !== 'stdout' && stream !== 'stderr') return undefined;
  const partial = line.toString('latin1', second + 1, third).split(':')[0] === 'P';
  const whole = line.subarray(third + 1);
  const content = partial && whole[whole.length - 1] === 0x0a ? whole.subarray(0, -1) : whole;
  return { time: line.toString('latin1', 0, first), stream, partial, content };
}
