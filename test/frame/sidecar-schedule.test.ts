import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { deliveryOf } from '../../src/frame/delivery.js';
import { sha256 } from '../helpers/encode-frames.js';
import { EXEC, LOG, blocks, isNowhereIn, passes, underEveryShell } from '../helpers/sidecar-trial.js';
import { until } from '../helpers/until.js';

const MIB = 1_048_576;

describe('The sidecar after its manifest', function () {
  this.timeout(60_000);
  const big = randomBytes(5 * MIB + 77);
  const secret = Buffer.from('hunter2hunter2');

  it('sends what is small, holds for what is sensitive, and ends when it is told', () =>
    underEveryShell(
      { wanted: ['a', 'secret', 'none', 'empty'], sensitive: [1], way: EXEC },
      { a: 'public', secret, empty: '' },
      async ({ sidecar, assembler, told, end }) => {
        await end();
        await until('a pass', () => passes(told()) === 1, 10);
        await assembler.accept(sidecar.log());
        assert.deepEqual(deliveryOf(assembler.manifest ?? assert.fail(), EXEC), { byLog: [0], byExec: [1], passes: 1 });
        assert.deepEqual([assembler.whole([0, 2, 3]), assembler.whole([1]), assembler.needsSalt], [true, false, true]);
        assert.equal(await assembler.unseal((await sidecar.send({ verb: 'salt' })).bytes.toString()), true);
        const { code, bytes } = await sidecar.send({ verb: 'files', first: 1, last: 1 });
        assert.equal(code, 0);
        await assembler.receive(1, 0, bytes);
        assert.equal(assembler.complete, true);
        assert.equal((await sidecar.send({ verb: 'done' })).code, 0);
        assert.equal(await sidecar.ended(), 0);
        const { outputs } = await assembler.finish();
        assert.equal(outputs[1]?.sha256, sha256(secret));
        isNowhereIn(sidecar.log(), secret);
      },
    ));

  it('sends nothing of what is large while exec is heard, and all of it by exec: whole, in ranges, with digests', () =>
    underEveryShell(
      { wanted: ['a', 'big', 'none', 'b'], way: EXEC, environment: { CNAB_PATIENCE: '2', CNAB_BEAT: '1' } },
      { a: 'one', big, b: randomBytes(MIB) },
      async ({ sidecar, assembler, outputs, told, end }) => {
        assert.equal((await sidecar.send({ verb: 'files', first: 0, last: 3 })).code, 2, 'no manifest yet');
        await end();
        await assembler.accept(sidecar.log());
        assert.deepEqual(deliveryOf(assembler.manifest ?? assert.fail(), EXEC).byExec, [0, 1, 3]);
        const all = assembler.intake(...assembler.missing());
        const { bytes } = await sidecar.send({ verb: 'files', first: 0, last: 3 });
        assert.deepEqual(bytes, Buffer.concat([Buffer.from('one'), big, await readFile(join(outputs, 'b'))]));
        for (let at = 0; at < bytes.length; at += 700_001) await all.write(bytes.subarray(at, at + 700_001));
        assert.deepEqual([all.received, assembler.complete], [bytes.length, true]);
        for (const n of [0, 2, 4]) {
          const range = { index: 1, offset: n * MIB, length: n === 4 ? MIB + 77 : 2 * MIB };
          const wanted = big.subarray(range.offset, range.offset + range.length);
          assert.deepEqual((await sidecar.send({ verb: 'range', ...range })).bytes, wanted);
          assert.equal(String((await sidecar.send({ verb: 'digest', ...range })).bytes), `${sha256(wanted)}\n`);
          await delay(1000);
        }
        assert.deepEqual([passes(told()), blocks(told())], [0, []]);
        assert.match(told(), / manifest [^]* beat /);
        await sidecar.send({ verb: 'done' });
        assert.equal(await sidecar.ended(), 0);
      },
    ));

  it('falls back to three passes where nobody asks by exec, with nothing sensitive in them, and holds on', () =>
    underEveryShell(
      {
        wanted: ['big', 'secret', 'a'],
        sensitive: [1],
        way: EXEC,
        environment: { CNAB_PATIENCE: '1', CNAB_PAUSES: '1 1' },
      },
      { big, secret, a: 'public' },
      async ({ sidecar, assembler, told, end }) => {
        await end();
        await until('three passes', () => passes(told()) === 3, 10);
        await delay(1500);
        assert.equal(sidecar.child.exitCode, null);
        await assembler.accept(sidecar.log());
        assert.deepEqual([assembler.whole([0, 2]), assembler.complete], [true, false]);
        isNowhereIn(sidecar.log(), secret);
        await assembler.receive(1, 0, (await sidecar.send({ verb: 'files', first: 1, last: 1 })).bytes);
        assert.equal(assembler.complete, false, 'the seal is not open');
        assert.equal(await assembler.unseal(String((await sidecar.send({ verb: 'salt' })).bytes)), true);
        assert.equal(assembler.complete, true);
        await sidecar.send({ verb: 'done' });
        assert.equal(await sidecar.ended(), 0);
      },
    ));

  it('falls back with what the log may carry, and no more', () =>
    underEveryShell(
      { wanted: ['big', 'a'], way: { ...EXEC, maxLogBytes: 100 }, environment: { CNAB_PATIENCE: '1' } },
      { big, a: 'little' },
      async ({ sidecar, told, end }) => {
        await end();
        await until('a pass', () => passes(told()) === 1, 10);
        assert.deepEqual(blocks(told()), ['1 0']);
        await sidecar.send({ verb: 'done' });
        assert.equal(await sidecar.ended(), 0);
      },
    ));

  it('makes three passes by the log, each from another block on and slower than the one before, and ends by itself', () =>
    underEveryShell(
      { wanted: ['big', 'a'], way: LOG, environment: { CNAB_PAUSES: '1 1' } },
      { big, a: 'x' },
      async ({ sidecar, assembler, told, end }) => {
        const began = Date.now();
        await end();
        assert.equal(await sidecar.ended(), 0);
        // A second between them, one after the 4th of the 7 blocks of the second, three in the third.
        const took = Date.now() - began;
        assert.ok(took >= 6000, `${took} ms`);
        const all = ['0 0', '0 1', '0 2', '0 3', '0 4', '0 5', '1 0'];
        const turned = (by: number): string[] => [...all.slice(by), ...all.slice(0, by)];
        assert.deepEqual(blocks(told()), [...all, ...turned(2), ...turned(4)]);
        await assembler.accept(sidecar.log());
        assert.deepEqual([assembler.complete, passes(told())], [true, 3]);
        assert.deepEqual(deliveryOf(assembler.manifest ?? assert.fail(), LOG), {
          byLog: [0, 1],
          byExec: [],
          passes: 3,
        });
      },
    ));

  it('says before any data what is over the limit of the log', () =>
    underEveryShell(
      { wanted: ['big', 'a'], way: { ...LOG, maxLogBytes: MIB } },
      { big, a: 'x' },
      async ({ sidecar, told, end }) => {
        await end();
        assert.equal(await sidecar.ended(), 0);
        assert.match(told(), new RegExp(` entry 0 large ${big.length} \\.`));
        assert.deepEqual(blocks(told()), ['1 0']);
      },
    ));

  it('opens by exec nothing but what the manifest has, and that only as it was', () =>
    underEveryShell(
      { wanted: ['link', 'swapped', 'shrunk', 'none'], way: EXEC },
      { swapped: big, shrunk: 'long enough' },
      async ({ sidecar, outputs, end }) => {
        await symlink('/etc/passwd', join(outputs, 'link'));
        await end();
        await writeFile(join(outputs, 'shrunk'), 'short');
        await writeFile(join(outputs, 'other'), 'SECRET');
        await rm(join(outputs, 'swapped'));
        await symlink('other', join(outputs, 'swapped'));
        for (const [index, code] of [
          [0, 2],
          [1, 3],
          [2, 3],
          [3, 2],
          [4, 2],
        ] as const) {
          const one =
            index === 2
              ? { verb: 'files' as const, first: 2, last: 2 }
              : { verb: 'range' as const, index, offset: 0, length: MIB };
          const answer = await sidecar.send(one);
          assert.deepEqual([index, answer.code, answer.bytes.length], [index, code, 0]);
        }
      },
    ));

  it('can be told by exec that the invocation has ended, where no kubelet says so', () =>
    underEveryShell({ wanted: ['a'], way: EXEC }, { a: 'x' }, async ({ sidecar, told }) => {
      await sidecar.ready();
      assert.equal((await sidecar.send({ verb: 'term' })).code, 0);
      assert.equal(await sidecar.ended(), 0);
      assert.equal(passes(told()), 1);
    }));
});
