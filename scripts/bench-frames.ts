// How fast the log of a sidecar becomes proven files, against nothing but base64 decoding and sha256 of the same bytes.
// Both in the same run and in turns, the best of each: the machine's other work hits both alike.
import { createHash, randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Assembler } from '../src/frame/assemble.js';
import { encodeFrames } from '../test/helpers/encode-frames.js';

const RUN = '01J0000000000000000000BENCH';
const FILE_BYTES = 64 * 1024 * 1024;
const ROUNDS = 7;
/** What a socket hands over at once. */
const CHUNK_BYTES = 65_536;

const file = randomBytes(FILE_BYTES);
const base64 = file.toString('base64');
const log = Buffer.from(encodeFrames([file], { runId: RUN }).join('\n') + '\n', 'latin1');

function plain(): void {
  createHash('sha256').update(Buffer.from(base64, 'base64')).digest('hex');
}

async function decode(): Promise<void> {
  const staging = await mkdtemp(join(tmpdir(), 'bench-frames-'));
  try {
    const limits = { maxOutputBytes: FILE_BYTES, maxTotalBytes: FILE_BYTES };
    const assembler = new Assembler({ runId: RUN, wanted: 1, staging, limits });
    for (let at = 0; at < log.length; at += CHUNK_BYTES) await assembler.accept(log.subarray(at, at + CHUNK_BYTES));
    if (!assembler.complete) throw new Error('the file did not arrive whole');
    await assembler.finish();
  } finally {
    await rm(staging, { recursive: true, force: true });
  }
}

/** MB/s of the file's bytes, before base64. */
async function speed(action: () => void | Promise<void>): Promise<number> {
  const begin = performance.now();
  await action();
  return FILE_BYTES / 1000 / (performance.now() - begin);
}

let decoder = 0;
let reference = 0;
for (let round = 0; round < ROUNDS; round += 1) {
  reference = Math.max(reference, await speed(plain));
  decoder = Math.max(decoder, await speed(decode));
}
console.log(
  `${FILE_BYTES / 1024 / 1024} MiB in one file, chunks of ${CHUNK_BYTES / 1024} KiB, best of ${ROUNDS} rounds`,
);
const ratio = (decoder / reference).toFixed(2);
console.log(`decoder ${decoder.toFixed(0)} MB/s, base64+sha256 ${reference.toFixed(0)} MB/s, ratio ${ratio}`);
