import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import type { ContainerLog, LogWatch } from './container-log.js';
import { parseRecord } from './cri-log.js';

export interface LogQuery {
  readonly follow: boolean;
  readonly timestamps: boolean;
  /** Seconds since the epoch; whole ones for sinceTime, which the API server formats without a fraction. */
  readonly since?: number;
  /** Counts records, not lines: the kubelet looks for newlines in the file. */
  readonly tailLines?: number;
  /** Counts timestamps too, and cuts a line. */
  readonly limitBytes?: number;
}

const CHUNK = 64 * 1024;

/**
 * Reads a log as the kubelet's ReadLogs does (k8s.io/cri-client `pkg/logs`), with what that loses:
 * - It begins with the newest file, whatever was rotated away before.
 * - It watches the folder only from the first end of file on. A rotation before that is never heard of: it stays with its
 *   old file, silently, until the next rotation, and the file between them is lost.
 * - It reads its file to the end before it takes one event. Of several rotations the first leads it to the file that is
 *   the newest by then; each further one to the beginning of that same file again.
 * - At the end of its file it looks first whether the container runs. If not, it ends, though a newer file may be there.
 * A record that is not finished yet is read again later; a timestamp is put before a line, not before each of its pieces.
 */
export async function* readLog(log: ContainerLog, query: LogQuery, signal: AbortSignal): AsyncGenerator<Buffer> {
  const take = recordTaker(query);
  const buffer = Buffer.alloc(CHUNK);
  let file = openSync(log.path, 'r');
  let watch: LogWatch | undefined;
  try {
    let offset = query.tailLines === undefined ? 0 : tailOffset(file, query.tailLines);
    let runs = true;
    while (!signal.aborted && !take.isFull()) {
      const { records, next } = readRecords(file, { buffer, offset, last: !query.follow || !runs });
      offset = next;
      const pieces: Uint8Array[] = [];
      for (const record of records) take.line(record, pieces);
      // A copy, because the buffer is read into again.
      if (pieces.length > 0) yield Buffer.concat(pieces);
      if (records.length > 0) continue;
      if (!query.follow || !runs) return;
      if (watch === undefined) {
        watch = log.watch();
      } else if (log.ended) {
        runs = false;
      } else if ((await watch.next(signal)) === 'created') {
        const newest = openNewest(log);
        // Gone with its pod: what is open goes on.
        if (newest === undefined) continue;
        closeSync(file);
        file = newest;
        offset = 0;
      }
    }
  } finally {
    watch?.close();
    closeSync(file);
  }
}

function openNewest(log: ContainerLog): number | undefined {
  try {
    return openSync(log.path, 'r');
  } catch {
    return undefined;
  }
}

/** Turns records into what is sent of them, if anything. */
function recordTaker({ since, timestamps, limitBytes = Infinity }: LogQuery): {
  line: (record: Buffer, pieces: Uint8Array[]) => void;
  isFull: () => boolean;
} {
  let remaining = limitBytes;
  let newLine = true;
  const send = (bytes: Uint8Array, pieces: Uint8Array[]): void => {
    if (remaining <= 0) return;
    pieces.push(bytes.subarray(0, remaining));
    remaining -= bytes.length;
  };
  const line = (record: Buffer, pieces: Uint8Array[]): void => {
    const parsed = parseRecord(record);
    if (!parsed) return;
    const isBegin = newLine;
    newLine = !parsed.partial;
    if (since !== undefined && Date.parse(parsed.time) < since * 1000) return;
    if (timestamps && isBegin) send(Buffer.from(`${parsed.time} `), pieces);
    send(parsed.content, pieces);
  };
  return { line, isFull: () => remaining <= 0 };
}

interface ReadAt {
  /** What is read lies in it until the next read. */
  readonly buffer: Buffer;
  readonly offset: number;
  /** Also a record without its newline. */
  readonly last: boolean;
}

/** The whole records from `offset` on, as many as one read brings. */
function readRecords(file: number, { buffer, offset, last }: ReadAt): { records: Buffer[]; next: number } {
  const records: Buffer[] = [];
  const length = readSync(file, buffer, 0, CHUNK, offset);
  let start = 0;
  for (let end = buffer.indexOf(0x0a); end !== -1 && end < length; end = buffer.indexOf(0x0a, start)) {
    records.push(buffer.subarray(start, end + 1));
    start = end + 1;
  }
  const rest = length - start;
  if (rest > 0 && last && records.length === 0) {
    records.push(buffer.subarray(start, length));
    start = length;
  }
  return { records, next: offset + start };
}

/** Where the last `lines` records of the file begin. */
function tailOffset(file: number, lines: number): number {
  const size = fstatSync(file).size;
  if (lines === 0) return size;
  const buffer = Buffer.alloc(CHUNK);
  let found = 0;
  for (let end = size; end > 0; end -= Math.min(end, CHUNK)) {
    const start = Math.max(0, end - CHUNK);
    const length = readSync(file, buffer, 0, end - start, start);
    for (let at = length - 1; at >= 0; at -= 1) {
      if (buffer[at] === 0x0a && start + at !== size - 1 && ++found === lines) return start + at + 1;
    }
  }
  return 0;
}
