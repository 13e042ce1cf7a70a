import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readFile, readdir, rm, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Assembler, type AssemblerOptions } from '../../src/frame/assemble.js';
import { sealOf } from '../../src/frame/grammar.js';
import { encodeFrames, sha256, type Wanted } from '../helpers/encode-frames.js';
import { withFolder } from '../helpers/staging.js';

const RUN = '01J9ZZZZZZZZZZZZZZZZZZZZZZ';
const MIB = 1_048_576;
const LIMITS = { maxOutputBytes: 64 * MIB, maxTotalBytes: 64 * MIB };
const SALT = 'ab'.repeat(32);
const say = (text: string, start = 1): string => `CNABO1 ${RUN} ${start} ${text} .`;
const encode = (wanted: readonly Wanted[], start = 1): string[] => encodeFrames(wanted, { runId: RUN, start });
const bytesOf = (lines: readonly string[]): Buffer => Buffer.from(lines.map((line) => `${line}\n`).join(''), 'latin1');
const isData = (line: string): boolean => / (block|data) /.test(line);
const without = (lines: readonly string[], pattern: RegExp): string[] => lines.filter((line) => !pattern.test(line));

/** Each `open` is another process: what the one before had open is closed. */
function trial(
  wanted: number,
  run: (open: (more?: Partial<AssemblerOptions>) => Promise<Assembler>, staging: string) => Promise<void>,
): Promise<void> {
  return withFolder(async (staging) => {
    let last: Assembler | undefined;
    const open = async (more?: Partial<AssemblerOptions>): Promise<Assembler> => {
      await last?.finish();
      last = await Assembler.open({ runId: RUN, wanted, staging, limits: LIMITS, ...more });
      return last;
    };
    await run(open, staging);
    await last?.finish();
  });
}

const big = randomBytes(3 * MIB + 1000);
const [half, rest] = [big.subarray(0, 2 * MIB), big.subarray(2 * MIB)];

/** What a sidecar says of one sensitive file. */
function sealed(content: Buffer, start = 1, salt = SALT): string[] {
  const entry = `entry 0 sealed ${content.length} ${sealOf(salt, 0, sha256(content))}`;
  return [say(entry, start), say(`manifest 1 ${sha256(`${entry}\n`)}`, start)];
}

describe('Assembler, taken up by another process', () => {
  it('asks for what is missing alone, and takes whichever way brings it', () =>
    trial(2, async (open) => {
      const lines = encode([big, Buffer.from('small')]);
      const first = await open();
      await first.accept(bytesOf(without(lines, / (block|data) (0 [13]|1 0) /)));
      const missing = [
        { index: 0, offset: MIB, length: MIB },
        { index: 0, offset: 3 * MIB, length: 1000 },
        { index: 1, offset: 0, length: 5 },
      ];
      assert.deepEqual(first.missing(), missing);
      const second = await open();
      assert.deepEqual([second.missing(), second.receivedBytes], [missing, 2 * MIB]);
      assert.equal(second.mainEnded, true);
      await second.receive(0, MIB, big.subarray(MIB, 2 * MIB));
      await second.accept(bytesOf(lines));
      assert.deepEqual([second.complete, second.arriving, second.missing()], [true, 1, []]);
      const third = await open();
      assert.equal(third.complete, true);
      assert.ok((await readFile((await third.finish()).outputs[0]?.file ?? '')).equals(big));
    }));

  it('takes a log and raw bytes of the same file at the same time, and counts each block once', () =>
    trial(1, async (open) => {
      const assembler = await open();
      const lines = encode([big]);
      await assembler.accept(bytesOf(without(lines, / (block|data) /)));
      const intake = assembler.intake(...assembler.missing());
      const log = bytesOf(lines.filter(isData));
      const pieces = Array.from({ length: 50 }, (_, n) => n);
      const cut = (bytes: Buffer, n: number): Buffer =>
        bytes.subarray(Math.floor((bytes.length * n) / 50), Math.floor((bytes.length * (n + 1)) / 50));
      await Promise.all([
        pieces.reduce((last, n) => last.then(() => assembler.accept(cut(log, n))), Promise.resolve()),
        pieces.reduce((last, n) => last.then(() => intake.write(cut(big, n))), Promise.resolve()),
      ]);
      assert.deepEqual([assembler.complete, assembler.receivedBytes, intake.received], [true, big.length, big.length]);
    }));

  it('trusts no file that it finds: one that was altered, cut or replaced is asked for again', async () => {
    const ways: readonly (readonly [string, (staging: string) => Promise<void>])[] = [
      ['altered', (staging) => writeFile(join(staging, '0'), randomBytes(big.length))],
      ['cut', (staging) => truncate(join(staging, '0'), 2 * MIB)],
    ];
    for (const [name, harm] of ways) {
      await trial(1, async (open, staging) => {
        await (await open()).accept(bytesOf(encode([big])));
        await harm(staging);
        const assembler = await open();
        assert.deepEqual(assembler.missing(), [{ index: 0, offset: 0, length: big.length }], name);
        await assembler.accept(bytesOf(encode([big])));
        assert.equal(assembler.complete, true, name);
      });
    }
  });

  it('does without the end of a part that a power failure took', () =>
    trial(1, async (open, staging) => {
      await (await open()).accept(bytesOf(without(encode([big]), / (block|data) 0 3 /)));
      await truncate(join(staging, '0.part'), 2 * MIB + 10);
      assert.deepEqual((await open()).missing(), [{ index: 0, offset: 2 * MIB, length: rest.length }]);
    }));

  it('does not take a file of one block for whole whose writing was cut short, by its process or by a power failure', () =>
    trial(1, async (open, staging) => {
      const small = big.subarray(0, 1000);
      for (const left of [small.subarray(0, 100), Buffer.alloc(small.length)]) {
        await (await open()).accept(bytesOf(without(encode([small]), / (block|data) /)));
        await writeFile(join(staging, '0'), left);
        const next = await open();
        assert.deepEqual(next.missing(), [{ index: 0, offset: 0, length: small.length }]);
        await next.accept(bytesOf(encode([small])));
        assert.equal(next.complete, true);
        assert.deepEqual(await readFile(join(staging, '0')), small);
        await rm(join(staging, '0'));
      }
    }));

  it('begins anew where nothing says what lies there', () =>
    trial(1, async (open, staging) => {
      await writeFile(join(staging, 'manifest'), 'CNABO1');
      await writeFile(join(staging, '0.part'), 'x');
      const assembler = await open();
      assert.deepEqual([assembler.manifest, await readdir(staging)], [undefined, ['manifest']]);
      await assembler.accept(bytesOf(encode([big])));
      assert.equal(assembler.complete, true);
    }));

  it('keeps over a restart of the sidecar what its new manifest has to the letter, and drops the rest', () =>
    trial(2, async (open) => {
      await (await open()).accept(bytesOf(without(encode([big, half]), / (block|data) [01] 1 /)));
      const assembler = await open();
      await assembler.accept(
        bytesOf(
          encode([big, rest], 2)
            .slice(0, -1)
            .filter((line) => !isData(line)),
        ),
      );
      assert.deepEqual(assembler.missing(), [
        { index: 0, offset: MIB, length: MIB },
        { index: 1, offset: 0, length: rest.length },
      ]);
      assert.equal((await open()).manifest?.start, 2);
    }));

  it('proves a sealed file with the salt, before or after its bytes, and takes none of it from the log', () =>
    trial(1, async (open) => {
      const secret = Buffer.from('hunter2');
      const first = await open();
      await first.accept(bytesOf([...sealed(secret), ...encode([secret]).filter(isData)]));
      assert.deepEqual([first.receivedBytes, first.needsSalt], [0, true]);
      await first.receive(0, 0, secret);
      assert.deepEqual([first.complete, first.missing()], [false, []]);
      assert.equal(await first.unseal('not a salt'), false);
      assert.equal(await first.unseal(`${SALT}\n`), true);
      assert.equal(first.complete, true);
      const second = await open();
      assert.deepEqual([second.complete, second.needsSalt], [true, false]);
      assert.equal((await second.finish()).outputs[0]?.sha256, sha256(secret));
    }));

  it('asks for the salt of a restarted sidecar, whatever was known of the one before', () =>
    trial(1, async (open) => {
      const secret = Buffer.from('hunter2');
      const salt = 'cd'.repeat(32);
      const first = await open();
      await first.accept(bytesOf(sealed(secret)));
      assert.equal(await first.unseal(SALT), true);
      await first.accept(bytesOf(sealed(secret, 2, salt)));
      const second = await open();
      assert.equal(second.needsSalt, true);
      await second.receive(0, 0, secret);
      assert.equal(await second.unseal(salt), true);
      assert.deepEqual([second.complete, second.doubtful()], [true, []]);
    }));

  it('refuses a sealed file that is not what was sealed', () =>
    trial(1, async (open) => {
      const assembler = await open();
      await assembler.accept(bytesOf(sealed(Buffer.from('hunter2'))));
      await assembler.unseal(SALT);
      await assembler.receive(0, 0, Buffer.from('hunter3'));
      assert.equal(assembler.complete, false);
      assert.deepEqual(assembler.doubtful(), [{ index: 0, offset: 0, length: 7 }]);
    }));

  it('keeps what came by exec and is wrong as a whole, until the wrong part is found and comes again', () =>
    trial(1, async (open) => {
      const first = await open();
      await first.accept(bytesOf(without(encode([big]), / (block|data) /)));
      await first.receive(0, 0, Buffer.concat([big.subarray(0, MIB), randomBytes(MIB), rest]));
      assert.deepEqual([first.complete, first.missing()], [false, []]);
      const assembler = await open();
      assert.deepEqual(
        assembler.doubtful(),
        [{ index: 0, offset: 0, length: big.length }],
        'also for the next process',
      );
      const bad = { index: 0, offset: MIB, length: MIB };
      assert.equal(await assembler.digestOf({ ...bad, offset: 0 }), sha256(big.subarray(0, MIB)));
      assert.notEqual(await assembler.digestOf(bad), sha256(big.subarray(MIB, 2 * MIB)));
      await assembler.drop(bad);
      assert.deepEqual(assembler.missing(), [bad]);
      await assembler.receive(0, MIB, big.subarray(MIB, 2 * MIB));
      assert.equal(assembler.complete, true);
    }));

  it('lets the log, whose blocks prove themselves, replace what came by exec and is in doubt', () =>
    trial(1, async (open) => {
      const assembler = await open();
      await assembler.accept(bytesOf(without(encode([big]), / (block|data) /)));
      await assembler.receive(0, 0, randomBytes(big.length));
      assert.deepEqual((await assembler.finish()).problems, [
        { index: 0, kind: 'lost', reason: 'is lost: what arrived of it is not what the pod announced' },
      ]);
      const next = await open();
      await next.accept(bytesOf(encode([big])));
      assert.equal(next.complete, true);
    }));

  it('stores nothing where the disk cannot take all that is to come, and says how much is missing', () =>
    trial(1, async (open, staging) => {
      const assembler = await open({ freeBytes: () => Promise.resolve(MIB) });
      await assembler.accept(bytesOf(encode([big])));
      assert.deepEqual(assembler.shortage, { needed: big.length, free: MIB });
      assert.deepEqual([assembler.missing(), await readdir(staging)], [[], ['manifest']]);
      assert.match((await assembler.finish()).problems[0]?.reason ?? '', /no room/);
      const later = await open({ freeBytes: () => Promise.resolve(big.length) });
      assert.deepEqual([later.shortage, later.missing().length], [undefined, 1], 'there is room by now');
    }));

  it('drops bytes that nobody asked for, and refuses a range that begins within a block', () =>
    trial(1, async (open) => {
      const assembler = await open();
      await assembler.accept(bytesOf(without(encode([big]), / (block|data) /)));
      const intake = assembler.intake({ index: 0, offset: 2 * MIB, length: MIB + 1000 });
      await intake.write(Buffer.concat([rest, Buffer.from('more')]));
      assert.deepEqual([intake.received, assembler.receivedBytes], [rest.length + 4, rest.length]);
      assert.throws(() => assembler.intake({ index: 0, offset: 1, length: 2 }), RangeError);
      await assembler.receive(0, 0, Buffer.alloc(1000));
      await assembler.receive(7, 0, Buffer.alloc(1000));
      assert.equal(assembler.receivedBytes, rest.length, 'half a block and an unknown file are nothing');
    }));

  it('leaves what is not whole for the next process when it finishes', () =>
    trial(1, async (open, staging) => {
      const first = await open();
      await first.accept(bytesOf(without(encode([big]), / (block|data) 0 3 /)));
      await first.finish();
      await first.receive(0, 3 * MIB, big.subarray(3 * MIB));
      assert.deepEqual((await readdir(staging)).sort(), ['0.blocks', '0.part', 'manifest']);
      assert.deepEqual((await open()).missing(), [{ index: 0, offset: 3 * MIB, length: 1000 }]);
    }));
});
