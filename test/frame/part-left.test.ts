import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { appendFile, mkdtemp, readFile, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Assembler } from '../../src/frame/assemble.js';
import { sealOf } from '../../src/frame/grammar.js';
import { encodeFrames, sha256 } from '../helpers/encode-frames.js';
import { withFolder } from '../helpers/staging.js';

const RUN = '01J9ZZZZZZZZZZZZZZZZZZZZZZ';
const MIB = 1_048_576;
const LIMITS = { maxOutputBytes: 64 * MIB, maxTotalBytes: 64 * MIB };
/** Of each start its own. */
const saltOf = (start: number): string => sha256(`salt ${start}`);
const isData = (line: string): boolean => / (block|data) /.test(line);
const bytesOf = (lines: readonly string[]): Buffer => Buffer.from(lines.map((line) => `${line}\n`).join(''), 'latin1');
const framesOf = (file: Buffer, start: number): string[] => encodeFrames([file], { runId: RUN, start });

/** What a sidecar that was started for the `start`th time says of its only file before any of its bytes. */
function manifestOf(file: Buffer, isSealed: boolean, start: number): Buffer {
  if (!isSealed) return bytesOf(framesOf(file, start).filter((line) => / (entry|manifest) /.test(line)));
  const entry = `entry 0 sealed ${file.length} ${sealOf(saltOf(start), 0, sha256(file))}`;
  const texts = [entry, `manifest 1 ${sha256(`${entry}\n`)}`];
  return bytesOf(texts.map((text) => `CNABO1 ${RUN} ${start} ${text} .`));
}

const byExec = (assembler: Assembler, file: Buffer): Promise<void> => assembler.receive(0, 0, file);
const byLog = (assembler: Assembler, file: Buffer): Promise<void> =>
  assembler.accept(bytesOf(framesOf(file, 1).filter(isData)));
const unseal = (assembler: Assembler): Promise<boolean> => assembler.unseal(saltOf(1));
const wrong = (assembler: Assembler, file: Buffer): Promise<void> => byExec(assembler, randomBytes(file.length));
/** What an exec does that finds a difference to the pod. */
const dropAll = (assembler: Assembler, file: Buffer): Promise<void> =>
  assembler.drop({ index: 0, offset: 0, length: file.length });

type Step = (assembler: Assembler, file: Buffer) => Promise<unknown>;
/** What may happen to the first start's file, and whether it is whole then. */
const PASTS: readonly (readonly [name: string, kind: 'plain' | 'sealed', isWhole: boolean, steps: readonly Step[]])[] =
  [
    ['right by exec', 'plain', true, [byExec]],
    ['right by the log', 'plain', true, [byLog]],
    ['wrong', 'plain', false, [wrong]],
    ['wrong and dropped', 'plain', false, [wrong, dropAll]],
    ['wrong, dropped, right by exec', 'plain', true, [wrong, dropAll, byExec]],
    ['wrong, dropped, right by the log', 'plain', true, [wrong, dropAll, byLog]],
    ['wrong, dropped, wrong, dropped, right', 'plain', true, [wrong, dropAll, wrong, dropAll, byExec]],
    ['wrong, replaced by the log', 'plain', true, [wrong, byLog]],
    ['waiting for its salt', 'sealed', false, [byExec]],
    ['right before its salt', 'sealed', true, [byExec, unseal]],
    ['right after its salt', 'sealed', true, [unseal, byExec]],
    ['wrong before its salt, dropped, right', 'sealed', true, [wrong, unseal, dropAll, byExec]],
    ['wrong after its salt, dropped, right', 'sealed', true, [unseal, wrong, dropAll, byExec]],
  ];
const SIZES: readonly (readonly [name: string, bytes: number])[] = [
  ['a shorter', 100],
  ['an empty', 0],
  ['a longer', 3000],
  ['a longer one, of two blocks', MIB + 5],
];
const FIRST_BYTES = 1000;

type Open = () => Promise<Assembler>;

/** Each `open` is another process: what the one before had open is closed. */
async function trialIn(staging: string, run: (open: Open, staging: string) => Promise<void>): Promise<void> {
  let last: Assembler | undefined;
  const open = async (): Promise<Assembler> => {
    await last?.finish();
    last = await Assembler.open({ runId: RUN, wanted: 1, staging, limits: LIMITS });
    return last;
  };
  try {
    await run(open, staging);
  } finally {
    await last?.finish();
  }
}

const trial = (run: (open: Open, staging: string) => Promise<void>): Promise<void> =>
  withFolder((staging) => trialIn(staging, run));

/** What is in the folder beside what tells of the manifest. */
const filesIn = async (staging: string): Promise<string[]> =>
  (await readdir(staging)).filter((name) => name !== 'manifest' && name !== 'salt').sort();

/** The file is handed on with its bytes, all of them and no other, and nothing else is left. */
async function assertHandedOn(assembler: Assembler, staging: string, file: Buffer, name: string): Promise<void> {
  assert.deepEqual([assembler.complete, await filesIn(staging)], [true, ['0']], name);
  const [output] = (await assembler.finish()).outputs;
  assert.ok((await readFile(output?.file ?? '')).equals(file), `${name}: other bytes than were announced`);
}

/** Brings the second start's file in the way that asks most of a part: a sealed one before the salt that proves it. */
async function bring(assembler: Assembler, file: Buffer, isSealed: boolean): Promise<void> {
  await assembler.accept(manifestOf(file, isSealed, 2));
  await byExec(assembler, file);
  if (isSealed) await assembler.unseal(saltOf(2));
}

describe('What is left of a part', function () {
  this.timeout(60_000);

  for (const [past, kind, isWhole, steps] of PASTS) {
    const begin = async (assembler: Assembler, first: Buffer): Promise<void> => {
      await assembler.accept(manifestOf(first, kind === 'sealed', 1));
      for (const step of steps) await step(assembler, first);
    };

    it(`is ${isWhole ? 'nothing' : 'what goes on'}, after a ${kind} file came ${past}`, () =>
      trial(async (open, staging) => {
        const first = randomBytes(FIRST_BYTES);
        const assembler = await open();
        await begin(assembler, first);
        if (isWhole) await assertHandedOn(assembler, staging, first, past);
        else assert.deepEqual([assembler.complete, await filesIn(staging)], [false, ['0.part']]);
      }));

    for (const who of ['the same process', 'another process']) {
      it(`is not in a restarted sidecar's file, for ${who} after a ${kind} file came ${past}`, () =>
        withFolder(async (folder) => {
          for (const [size, bytes] of SIZES) {
            for (const isSealed of [true, false]) {
              await trialIn(await mkdtemp(join(folder, 'staging-')), async (open, staging) => {
                const first = await open();
                await begin(first, randomBytes(FIRST_BYTES));
                const assembler = who === 'another process' ? await open() : first;
                const second = randomBytes(bytes);
                await bring(assembler, second, isSealed);
                await assertHandedOn(assembler, staging, second, `${size}, ${isSealed ? 'sealed' : 'plain'} file`);
              });
            }
          }
        }));
    }
  }

  it('is removed where it lies beside its whole file, when another process takes that up', async () => {
    for (const left of [['0.part'], ['0.blocks'], ['0.part', '0.blocks']]) {
      await trial(async (open, staging) => {
        const first = randomBytes(FIRST_BYTES);
        await (await open()).accept(bytesOf(framesOf(first, 1)));
        for (const name of left) await writeFile(join(staging, name), randomBytes(5000));
        await assertHandedOn(await open(), staging, first, left.join());
        const later = await open();
        const second = randomBytes(100);
        await bring(later, second, true);
        await assertHandedOn(later, staging, second, left.join());
      });
    }
  });

  it('is not taken up when it is longer than its file, nor is a file that lies where the whole goes', async () => {
    const file = randomBytes(2 * MIB + 5);
    const harms: readonly (readonly [name: string, harm: (staging: string) => Promise<void>])[] = [
      ['longer', (staging) => appendFile(join(staging, '0.part'), 'more')],
      ['beside a cut whole', (staging) => writeFile(join(staging, '0'), 'cut')],
    ];
    for (const [name, harm] of harms) {
      for (const next of [file, randomBytes(100)]) {
        await trial(async (open, staging) => {
          const first = await open();
          await first.accept(manifestOf(file, false, 1));
          await first.receive(0, MIB, file.subarray(MIB));
          await harm(staging);
          const later = await open();
          if (next === file) await byExec(later, file);
          else await bring(later, next, false);
          await assertHandedOn(later, staging, next, `${name}, ${next.length} bytes`);
        });
      }
    }
  });
});
