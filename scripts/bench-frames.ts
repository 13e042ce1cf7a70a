// How fast the log of a sidecar becomes proven files, against nothing but base64 decoding and sha256 of the same bytes; and
// raw bytes, as an exec brings them, against nothing but sha256. All in the same run and in turns, the best of each: the
// machine's other work hits all alike.
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
const lines = encodeFrames([file], { runId: RUN });
const log = Buffer.from(lines.join('\n') + '\n', 'latin1');
const manifest = Buffer.from(lines.filter((line) => !/ (?:block|data) /.test(line)).join('\n') + '\n', 'latin1');

function plain(): void {
  createHash('sha256').update(Buffer.from(base64, 'base64')).digest('hex');
}

function hash(): void {
  createHash('sha256').update(file).digest('hex');
}

async function assemble(use: (assembler: Assembler) => Promise<void>): Promise<void> {
  const staging = await mkdtemp(join(tmpdir(), 'bench-frames-'));
  try {
    const limits = { maxOutputBytes: FILE_BYTES, maxTotalBytes: FILE_BYTES };
    const assembler = await Assembler.open({ runId: RUN, wanted: 1, staging, limits });
    await use(assembler);
    if (!assembler.complete) throw new Error('the file did not arrive whole');
    await assembler.finish();
  } finally {
    await rm(staging, { recursive: true, force: true });
  }
}

const decode = (): Promise<void> =>
  assemble(async (assembler) => {
    for (let at = 0; at < log.length; at += CHUNK_BYTES) await assembler.accept(log.subarray(at, at + CHUNK_BYTES));
  });

const intake = (): Promise<void> =>
  assemble(async (assembler) => {
    await assembler.accept(manifest);
    const taken = assembler.intake(...assembler.missing());
    for (let at = 0; at < file.length; at += CHUNK_BYTES) await taken.write(file.subarray(at, at + CHUNK_BYTES));
  });

/** MB/s of the file's bytes, before base64. */
async function speed(action: () => void | Promise<void>): Promise<number> {
  const begin = performance.now();
  await action();
  return FILE_BYTES / 1000 / (performance.now() - begin);
}

const cases = { plain, decode, hash, intake };
const best = { plain: 0, decode: 0, hash: 0, intake: 0 };
for (let round = 0; round < ROUNDS; round += 1) {
  for (const name of ['plain', 'decode', 'hash', 'intake'] as const) {
    best[name] = Math.max(best[name], await speed(cases[name]));
  }
}
console.log(
  `${FILE_BYTES / 1024 / 1024} MiB in one file, chunks of ${CHUNK_BYTES / 1024} KiB, best of ${ROUNDS} rounds`,
);
for (const [what, ours, against, reference] of [
  ['log', best.decode, 'base64+sha256', best.plain],
  ['raw', best.intake, 'sha256', best.hash],
] as const) {
  const ratio = (ours / reference).toFixed(2);
  console.log(`${what} ${ours.toFixed(0)} MB/s, ${against} ${reference.toFixed(0)} MB/s, ratio ${ratio}`);
}
