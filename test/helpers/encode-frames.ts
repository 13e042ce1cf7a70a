import { createHash } from 'node:crypto';
import {
  BLOCK_BYTES,
  LINE_BYTES,
  MAGIC,
  blocksOf,
  entryText,
  linesOf,
  type ManifestEntry,
} from '../../src/frame/grammar.js';

export const sha256 = (bytes: Uint8Array | string): string => createHash('sha256').update(bytes).digest('hex');

/** A wanted path: the bytes of its file, or what the sidecar finds in its place. */
export type Wanted = Uint8Array | 'missing' | 'unreadable';

export interface EncodeOptions {
  readonly runId: string;
  readonly start?: number;
}

/** What `sidecar.sh` writes for these files, line by line without newlines; `test/frame/sidecar.test.ts` shows that it is the same. */
export function encodeFrames(wanted: readonly Wanted[], { runId, start = 1 }: EncodeOptions): string[] {
  const say = (text: string): string => `${MAGIC} ${runId} ${start} ${text} .`;
  const entries = wanted.map((file, index) => entryText(entryOf(file, index)));
  const digest = sha256(entries.map((text) => `${text}\n`).join(''));
  return [
    say(`hello ${wanted.length}`),
    say('ended'),
    ...entries.map(say),
    say(`manifest ${wanted.length} ${digest}`),
    ...wanted.flatMap((file, index) => (typeof file === 'string' ? [] : dataLines(file, index).map(say))),
    say(`end ${digest}`),
  ];
}

function entryOf(file: Wanted, index: number): ManifestEntry {
  if (typeof file === 'string') return { kind: file, index };
  return { kind: 'file', index, size: file.length, sha256: sha256(file) };
}

function dataLines(file: Uint8Array, index: number): string[] {
  const lines: string[] = [];
  for (let block = 0; block < blocksOf(file.length); block += 1) {
    const bytes = Buffer.from(file.subarray(block * BLOCK_BYTES, (block + 1) * BLOCK_BYTES));
    lines.push(`block ${index} ${block} ${bytes.length} ${linesOf(bytes.length)} ${sha256(bytes)}`);
    for (let line = 0; line < linesOf(bytes.length); line += 1) {
      const piece = bytes.subarray(line * LINE_BYTES, (line + 1) * LINE_BYTES);
      lines.push(`data ${index} ${block} ${line} ${piece.toString('base64')}`);
    }
  }
  return lines;
}
