import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Assembler } from '../../src/frame/assemble.js';
import type { Problem } from '../../src/frame/problem.js';
import { encodeFrames } from '../helpers/encode-frames.js';
import { withFolder } from '../helpers/staging.js';

const RUN = '01J9ZZZZZZZZZZZZZZZZZZZZZZ';
const MIB = 1_048_576;
const LIMITS = { maxOutputBytes: 64 * MIB, maxTotalBytes: 64 * MIB };
const FILE = randomBytes(2 * MIB + 100);
const ALL = { index: 0, offset: 0, length: FILE.length };

const isData = (line: string): boolean => / (?:block|data) /.test(line);
const frames = encodeFrames([FILE], { runId: RUN, start: 1 });
const bytesOf = (lines: readonly string[]): Buffer => Buffer.from(lines.map((line) => `${line}\n`).join(''), 'latin1');
const manifest = bytesOf(frames.filter((line) => / (?:entry|manifest) /.test(line)));
const block = (number: number): Buffer =>
  bytesOf(frames.filter((line) => line.includes(` block 0 ${number} `) || line.includes(` data 0 ${number} `)));
const changedWord = bytesOf([`CNABO1 ${RUN} 1 changed 0 .`]);

const damaged = (bytes: Buffer): Buffer => {
  const copy = Buffer.from(bytes);
  copy.writeUInt8(copy.readUInt8(MIB + 7) ^ 1, MIB + 7);
  return copy;
};

const CHANGED = { index: 0, kind: 'changed', reason: 'changed while it was read' } as const;
const lost = (why: string): Problem => ({ index: 0, kind: 'lost', reason: `is lost: ${why}` });
const NOT_AS_TOLD = lost('what arrived of it is not what the pod announced');

interface Case {
  readonly title: string;
  /** What happened before the process was killed; none: it begins here. */
  readonly before?: (assembler: Assembler) => Promise<void>;
  /** What became of the disk then. */
  readonly disk?: (staging: string) => Promise<void>;
  readonly steps: (assembler: Assembler) => Promise<void>;
  readonly told: Problem;
}

const zeroes = (staging: string): Promise<void> => writeFile(join(staging, '0.part'), Buffer.alloc(FILE.length));
const allByLog = async (assembler: Assembler): Promise<void> => {
  for (const number of [0, 1]) await assembler.accept(block(number));
};

const CASES: readonly Case[] = [
  {
    title: 'came damaged and is in doubt: it is lost',
    steps: (assembler) => assembler.receive(0, 0, damaged(FILE)),
    told: NOT_AS_TOLD,
  },
  {
    title: 'came damaged, and the bad block was dropped and did not come again: it is lost',
    steps: async (assembler) => {
      await assembler.receive(0, 0, damaged(FILE));
      await assembler.drop({ index: 0, offset: MIB, length: MIB });
    },
    told: lost('2 of 3 blocks arrived'),
  },
  {
    title: 'is in the pod as it is here, and not as it was announced: it has changed',
    steps: async (assembler) => {
      await assembler.receive(0, 0, damaged(FILE));
      assert.deepEqual(assembler.doubtful(), [ALL]);
      assembler.sayChanged(0);
      assert.deepEqual(assembler.doubtful(), [], 'and is in doubt no more');
    },
    told: CHANGED,
  },
  {
    title: 'has changed as the pod says, and came damaged as well: it has changed',
    steps: async (assembler) => {
      await assembler.accept(changedWord);
      await assembler.receive(0, 0, damaged(FILE));
      await assembler.drop(ALL);
    },
    told: CHANGED,
  },
  {
    title: 'is marked as whole, and its blocks are not on the disk after a power failure: it is lost',
    before: allByLog,
    disk: zeroes,
    steps: async (assembler) => {
      assert.deepEqual(assembler.missing(), [{ index: 0, offset: 2 * MIB, length: 100 }]);
      await assembler.accept(block(2));
    },
    told: lost('0 of 3 blocks arrived'),
  },
  {
    title: 'had all its marks before a power failure: it is lost',
    before: async (assembler) => {
      await allByLog(assembler);
      await assembler.receive(0, 2 * MIB, randomBytes(100));
    },
    disk: zeroes,
    steps: () => Promise.resolve(),
    told: NOT_AS_TOLD,
  },
];

describe('an output that is not whole', () => {
  for (const { title, before, disk, steps, told } of CASES) {
    it(title, () =>
      withFolder(async (staging) => {
        const open = (): Promise<Assembler> => Assembler.open({ runId: RUN, wanted: 1, staging, limits: LIMITS });
        const first = await open();
        await first.accept(manifest);
        await before?.(first);
        if (before !== undefined) await first.finish();
        await disk?.(staging);
        const assembler = before === undefined ? first : await open();
        await steps(assembler);
        assert.deepEqual((await assembler.finish()).problems, [told]);
      }),
    );
  }

  it('has changed where each block proved itself in this process and the whole is wrong, and is taken when it comes as announced', () =>
    withFolder(async (staging) => {
      const other = encodeFrames([damaged(FILE)], { runId: RUN, start: 1 }).filter(isData);
      const assembler = await Assembler.open({ runId: RUN, wanted: 1, staging, limits: LIMITS });
      await assembler.accept(manifest);
      await assembler.accept(bytesOf(other));
      assert.equal(assembler.complete, false);
      await assembler.accept(block(0));
      assert.deepEqual((await assembler.finish()).problems, [CHANGED]);
      const next = await Assembler.open({ runId: RUN, wanted: 1, staging, limits: LIMITS });
      await next.accept(bytesOf(frames));
      assert.equal(next.complete, true);
    }));
});
