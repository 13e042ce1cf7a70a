import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import fc from 'fast-check';
import { Assembler } from '../../src/frame/assemble.js';
import { encodeFrames, type Wanted } from '../helpers/encode-frames.js';
import { withFolder } from '../helpers/staging.js';

const RUN = '01J9ZZZZZZZZZZZZZZZZZZZZZZ';
const LIMITS = { maxOutputBytes: 1e9, maxTotalBytes: 1e9 };

/** Each takes a position between 0 and 1, so that the same damage means something for any log. */
type Damage = {
  readonly kind: (typeof KINDS)[number];
  readonly at: number;
  readonly other: number;
  readonly text: string;
};
const KINDS = ['drop', 'repeat', 'cut', 'glue', 'foreign', 'move', 'flip', 'splice', 'renumber'] as const;

function damageLog(lines: readonly string[], { kind, at, other, text }: Damage): string[] {
  const index = Math.floor(at * lines.length);
  const target = Math.floor(other * lines.length);
  const line = lines[index] ?? '';
  const cut = Math.floor(other * line.length);
  switch (kind) {
    case 'drop':
      return lines.toSpliced(index, 1 + Math.floor(other * 5));
    case 'repeat':
      return lines.toSpliced(target, 0, ...lines.slice(index, index + 4));
    case 'cut':
      return lines.toSpliced(index, 1, at > other ? line.slice(0, cut) : line.slice(cut));
    case 'glue':
      return lines.toSpliced(index, 2, line + (lines[index + 1] ?? ''));
    case 'foreign':
      return lines.toSpliced(index, 0, text);
    case 'move':
      return lines.toSpliced(index, 1).toSpliced(target, 0, line);
    case 'flip':
      return lines.toSpliced(index, 1, line.slice(0, cut) + (text[0] ?? 'A') + line.slice(cut + 1));
    case 'splice':
      return lines.toSpliced(index, 1, line.slice(0, cut) + (lines[target] ?? '').slice(cut));
    case 'renumber':
      return lines.toSpliced(index, 1, line.replace(/[0-9](?=[^ ]* \.$| )/, String(Math.floor(other * 10))));
  }
}

const damage: fc.Arbitrary<Damage> = fc.record({
  kind: fc.constantFrom(...KINDS),
  at: fc.double({ min: 0, max: 0.999, noNaN: true }),
  other: fc.double({ min: 0, max: 0.999, noNaN: true }),
  text: fc.oneof(fc.string(), fc.constantFrom('{"log":"x"}', `CNABO1 ${RUN} 1 ended .`, `CNABO1 ${RUN} 2 beat .`)),
});
/** Around the length of a line, and for one of them around that of a block. */
const content = fc
  .tuple(
    fc.constantFrom(0, 1, 2, 3, 100, 12_095, 12_096, 12_097, 30_000, 1_048_576, 1_050_000),
    fc.integer({ min: 0, max: 255 }),
  )
  .map(([size, seed]) => Buffer.alloc(size, Buffer.from([seed, 10, 255 - seed, seed, 0])));
const wanted: fc.Arbitrary<Wanted[]> = fc.array(
  fc.oneof({ weight: 5, arbitrary: content }, fc.constantFrom<Wanted>('missing', 'unreadable')),
  { maxLength: 4 },
);

async function assertRight(assembler: Assembler, files: readonly Wanted[]): Promise<number> {
  const { outputs, problems } = await assembler.finish();
  for (const { index, file, size } of outputs) {
    const expected = files[index];
    assert.ok(expected instanceof Uint8Array, `output ${index} came from nothing`);
    assert.equal(size, expected.length);
    assert.ok((await readFile(file)).equals(expected), `output ${index} has wrong bytes`);
  }
  assert.deepEqual(
    [...outputs, ...problems].map(({ index }) => index).sort(),
    files.map((_, index) => index),
  );
  return outputs.length;
}

async function feed(assembler: Assembler, log: Buffer, sizes: readonly number[]): Promise<void> {
  for (let at = 0, n = 0; at < log.length; n += 1) {
    const size = sizes[n % sizes.length] ?? 1;
    await assembler.accept(log.subarray(at, at + size));
    at += size;
  }
}

const textOf = (lines: readonly string[]): Buffer => Buffer.from(lines.map((line) => `${line}\n`).join(''), 'utf8');
const sizes = fc.array(fc.integer({ min: 1000, max: 70_000 }), { minLength: 1, maxLength: 5 });

describe('Frames, damaged on the way', function () {
  this.timeout(180_000);
  it('never become a wrong byte or an exception, and are whole after one undamaged reading', async () => {
    await fc.assert(
      fc.asyncProperty(wanted, fc.array(damage, { maxLength: 12 }), sizes, async (files, damages, pieces) => {
        const lines = encodeFrames(files, { runId: RUN });
        const damaged = damages.reduce((log, one) => damageLog(log, one), lines);
        const options = { runId: RUN, wanted: files.length, limits: LIMITS };
        await withFolder(async (staging) => {
          const assembler = new Assembler({ ...options, staging });
          await feed(assembler, textOf(damaged), pieces);
          await assertRight(assembler, files);
        });
        await withFolder(async (staging) => {
          const assembler = new Assembler({ ...options, staging });
          await feed(assembler, textOf(damaged), pieces);
          assembler.restart();
          await feed(assembler, textOf(lines), pieces);
          assert.equal(assembler.complete, true);
          assert.equal(await assertRight(assembler, files), files.filter((file) => file instanceof Uint8Array).length);
        });
      }),
      { numRuns: 120 },
    );
  });

  it('are dropped, not believed, when bytes are cut out of the stream anywhere', async () => {
    const files = [Buffer.alloc(30_000, 'abc'), Buffer.from('x'), Buffer.alloc(0)];
    const log = textOf(encodeFrames(files, { runId: RUN }));
    const place = fc.integer({ min: 0, max: log.length });
    await fc.assert(
      fc.asyncProperty(place, place, async (a, b) => {
        await withFolder(async (staging) => {
          const assembler = new Assembler({ runId: RUN, wanted: 3, staging, limits: LIMITS });
          await assembler.accept(Buffer.concat([log.subarray(0, Math.min(a, b)), log.subarray(Math.max(a, b))]));
          await assertRight(assembler, files);
        });
      }),
      { numRuns: 150 },
    );
  });
});
