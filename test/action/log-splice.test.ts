import assert from 'node:assert/strict';
import fc from 'fast-check';
import { LogSplice } from '../../src/action/log-splice.js';

/** Lays `told`, cut into chunks of `size` bytes, over `recorded`; gives what the record then is and whether a gap is told. */
async function lay(recorded: Buffer, told: Buffer, size = 1000): Promise<{ record: Buffer; gap: boolean }> {
  const splice = new LogSplice(
    (from, length) => Promise.resolve(recorded.subarray(from, from + length)),
    recorded.length,
  );
  let record = recorded;
  let gap = false;
  const take = (fresh: { bytes: Buffer; cutTo?: number; gap?: true }): void => {
    if (fresh.cutTo !== undefined) record = record.subarray(0, fresh.cutTo);
    gap ||= fresh.gap === true;
    record = Buffer.concat([record, fresh.bytes]);
  };
  for (let at = 0; at < told.length; at += size) take(await splice.push(told.subarray(at, at + size)));
  take(splice.end());
  return { record, gap };
}

const lines = (from: number, to: number): Buffer =>
  Buffer.from(Array.from({ length: to - from }, (_, at) => `${from + at} the line of a log\n`).join(''));
const waiting = (count: number): Buffer => Buffer.from('waiting for it\n'.repeat(count));

describe('a log that is told once more', () => {
  it('adds what is new, wherever the record ends, in chunks of any size', async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(400), fc.integer({ min: 1, max: 500 }), fc.nat(400), async (count, size, kept) => {
        const whole = lines(0, count);
        const recorded = whole.subarray(0, Math.min(whole.length, kept * 20));
        assert.deepEqual(await lay(recorded, whole, size), { record: whole, gap: false });
      }),
      { numRuns: 60 },
    );
  });

  it('adds nothing where it is shorter than the record: the cluster has lost it', async () => {
    const recorded = lines(0, 100);
    for (const told of [Buffer.alloc(0), recorded.subarray(0, 700), recorded]) {
      assert.deepEqual(await lay(recorded, told), { record: recorded, gap: false });
    }
  });

  it('is laid exactly where it begins later, because its oldest part is gone', async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(180), fc.integer({ min: 1, max: 5000 }), fc.nat(300), async (from, size, more) => {
        const recorded = lines(0, 200);
        const told = lines(from, 200 + more);
        assert.deepEqual(await lay(recorded, told, size), { record: lines(0, 200 + more), gap: false });
      }),
      { numRuns: 60 },
    );
  });

  it('is laid by its longest overlap where its lines are all alike', async () => {
    const recorded = Buffer.concat([lines(0, 10), waiting(50_000), lines(10, 30), waiting(20)]);
    const told = Buffer.concat([waiting(20_000), lines(10, 30), waiting(25), lines(30, 40)]);
    const record = Buffer.concat([recorded, waiting(5), lines(30, 40)]);
    assert.deepEqual(await lay(recorded, told, 4096), { record, gap: false });
  });

  it('says that a part is missing where nothing agrees', async () => {
    const recorded = lines(0, 100);
    const told = lines(120, 140);
    assert.deepEqual(await lay(recorded, told), { record: Buffer.concat([recorded, told]), gap: true });
  });

  it('takes a few bytes that agree for chance', async () => {
    const recorded = Buffer.concat([lines(0, 100), waiting(3)]);
    const told = Buffer.concat([waiting(3), lines(200, 210)]);
    assert.deepEqual(await lay(recorded, told), { record: Buffer.concat([recorded, told]), gap: true });
    const short = Buffer.from('50 the line of a log\n');
    assert.deepEqual(await lay(recorded, short), { record: Buffer.concat([recorded, short]), gap: true });
  });

  it('puts right a record that has a gap, where all is told again', async () => {
    const recorded = Buffer.concat([lines(0, 50), Buffer.from('[a mark]\n'), lines(70, 90)]);
    assert.deepEqual(await lay(recorded, lines(0, 120), 333), { record: lines(0, 120), gap: false });
  });

  it('costs as much as the log is long, however much its lines are alike', async function () {
    this.timeout(60_000);
    const recorded = waiting(700_000);
    const told = Buffer.concat([waiting(350_000), Buffer.from('at last\n')]);
    const { record } = await lay(recorded, told, 65_536);
    assert.equal(record.subarray(-8).toString(), 'at last\n');
  });
});

describe('a record of a log that another process began', () => {
  it('takes no block of the record twice, and ends where the log ends', async () => {
    const whole = lines(0, 200_000);
    const { record, gap } = await lay(whole.subarray(0, 3_000_000), whole, 65_536);
    assert.ok(record.equals(whole));
    assert.equal(gap, false);
  });
});
