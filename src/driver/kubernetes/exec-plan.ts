import { BLOCK_BYTES } from '../../frame/grammar.js';
import type { FileRange } from '../../frame/incoming-file.js';
import type { Manifest } from '../../frame/manifest.js';
import type { SendRequest } from '../../frame/sidecar.js';

/** One exec that brings a part of what is missing. */
export interface SendPlan {
  readonly request: SendRequest;
  /** What its bytes are, one after the other. */
  readonly ranges: readonly FileRange[];
  /** Their sum. */
  readonly bytes: number;
}

export const LEAST_BYTES = BLOCK_BYTES;
export const MOST_BYTES = 256 * BLOCK_BYTES;
/** What is measured is the way, not the start of an exec. */
export const FIRST_BYTES = 64 * BLOCK_BYTES;
const WANTED_MS = 5000;

/**
 * A small file between two that are wanted comes along although nobody needs it: it takes less time than one exec more
 * (70 ms on a node of its own).
 */
const CARRIED_BYTES = BLOCK_BYTES;

/**
 * What to ask for next, in about `most` bytes: many whole files together, else a part of the first one.
 * `missing`: as the assembler has it, in order of the manifest; not empty. Pure.
 */
export function nextSend(
  { entries }: Pick<Manifest, 'entries'>,
  missing: readonly FileRange[],
  most: number,
): SendPlan {
  const [first] = missing;
  if (first === undefined) throw new RangeError('nothing is missing');
  const wanted = new Map(missing.map((range) => [range.index, range]));
  const ranges: FileRange[] = [];
  let bytes = 0;
  let wantedTo = 0;
  for (const entry of entries.slice(first.index)) {
    if ((entry.kind !== 'file' && entry.kind !== 'sealed') || entry.size === 0) continue;
    const { index, size } = entry;
    const isWanted = wanted.get(index)?.length === size;
    if (bytes + size > most || !(isWanted || size <= CARRIED_BYTES)) break;
    ranges.push({ index, offset: 0, length: size });
    bytes += size;
    if (isWanted) wantedTo = ranges.length;
  }
  const files = ranges.slice(0, wantedTo);
  const last = files.at(-1);
  if (files.length > 1 && last !== undefined && files[0]?.index === first.index) {
    const request = { verb: 'files', first: first.index, last: last.index } as const;
    return { request, ranges: files, bytes: files.reduce((sum, { length }) => sum + length, 0) };
  }
  const { index, offset } = first;
  const length = Math.min(first.length, Math.max(LEAST_BYTES, most - (most % BLOCK_BYTES)));
  return { request: { verb: 'range', index, offset, length }, ranges: [{ index, offset, length }], bytes: length };
}

/** The size of the next request from how the last one went: about five seconds each, so that a way that slows down is noticed. */
export function nextSize(most: number, received: number, ms: number): number {
  const rate = received / Math.max(ms, 1);
  const wanted = Math.min(rate * WANTED_MS, most * 4);
  return Math.min(MOST_BYTES, Math.max(LEAST_BYTES, Math.floor(wanted / BLOCK_BYTES) * BLOCK_BYTES));
}
