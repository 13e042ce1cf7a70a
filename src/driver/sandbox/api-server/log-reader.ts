import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import type { ContainerLog } from './container-log.js';
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
 * Reads a log as the kubelet's ReadLogs does: only the newest file; following goes over a rotation to the file that is
 * then the newest (what was rotated away in between is lost); a record that is not finished yet is read again later;
 * a timestamp is put before a line, not before each of its pieces.
 */
export async function* readLog(log: ContainerLog, query: LogQuery, signal: AbortSignal): AsyncGenerator<Buffer> {
  let remaining = query.limitBytes ?? Infinity;
  let newLine = true;
  const take = (record: Buffer): Buffer | undefined => {
    const parsed = parseRecord(record);
    if (!parsed) return undefined;
    const old = query.since !== undefined && Date.parse(parsed.time) < query.since * 1000;
    const prefix = query.timestamps && newLine ? Buffer.from(`${parsed.time} `) : Buffer.alloc(0);
    newLine = !parsed.partial;
    if (old) return undefined;
    const line = Buffer.concat([prefix, parsed.content]).subarray(0, remaining);
    remaining -= line.length;
    return line;
  };
  let first = true;
  for (;;) {
    const generation = log.generation;
    const file = openSync(log.path, 'r');
    try {
      let offset = first && query.tailLines !== undefined ? tailOffset(file, query.tailLines) : 0;
      first = false;
      for (;;) {
        if (signal.aborted || remaining <= 0) return;
        const ended = log.ended;
        const { records, next } = readRecords(file, offset, ended || !query.follow);
        offset = next;
        const lines = records.flatMap((record) => take(record) ?? []);
        if (lines.length > 0) yield Buffer.concat(lines);
        if (records.length > 0) continue;
        if (!query.follow) return;
        if (log.generation !== generation) break;
        if (ended) return;
        await log.changed(signal);
      }
    } finally {
      closeSync(file);
    }
  }
}

/** The whole records from `offset` on, as many as one read brings; with `last` also one without its newline. */
function readRecords(file: number, offset: number, last: boolean): { records: Buffer[]; next: number } {
  const records: Buffer[] = [];
  const buffer = Buffer.alloc(CHUNK);
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
