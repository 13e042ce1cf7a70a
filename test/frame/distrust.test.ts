import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { copyFile, link, mkdir, readFile, readdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { CnabError } from '../../src/errors.js';
import { Assembler } from '../../src/frame/assemble.js';
import { sealOf } from '../../src/frame/grammar.js';
import { encodeFrames, sha256, type Wanted } from '../helpers/encode-frames.js';
import { withFolder } from '../helpers/staging.js';

const RUN = '01J9ZZZZZZZZZZZZZZZZZZZZZZ';
const MIB = 1_048_576;
const SALT = 'ab'.repeat(32);
const say = (text: string, start = 1): string => `CNABO1 ${RUN} ${start} ${text} .`;
const encode = (wanted: readonly Wanted[], start = 1): string[] => encodeFrames(wanted, { runId: RUN, start });
const bytesOf = (lines: readonly string[]): Buffer => Buffer.from(lines.map((line) => `${line}\n`).join(''), 'latin1');

function trial(
  wanted: number,
  run: (assembler: Assembler, staging: string) => Promise<void>,
  limits = { maxOutputBytes: 16 * MIB, maxTotalBytes: 16 * MIB },
): Promise<void> {
  return withFolder((staging) => run(new Assembler({ runId: RUN, wanted, staging, limits }), staging));
}

const unavailable = (error: unknown): boolean => error instanceof CnabError && error.code === 'unavailable';

describe('Assembler, distrusting what it reads', () => {
  it('stores nothing before a manifest', () =>
    trial(1, async (assembler, staging) => {
      await assembler.accept(bytesOf(encode([Buffer.from('x')]).filter((line) => !line.includes(' manifest '))));
      assert.deepEqual([assembler.complete, assembler.totalBytes], [false, undefined]);
      assert.deepEqual(await readdir(staging), []);
      const { problems } = await assembler.finish();
      assert.equal(assembler.manifest, undefined);
      assert.equal(problems[0]?.kind, 'lost');
    }));

  it('refuses a manifest of which an entry was altered, lost or added', async () => {
    const lines = encode([Buffer.from('x'), 'missing']);
    const entry = lines.findIndex((line) => line.includes(' entry 0 '));
    const damages = [
      lines.with(entry, (lines[entry] ?? '').replace(' file 1 ', ' file 2 ')),
      lines.toSpliced(entry, 1),
      lines.toSpliced(entry, 1, say('entry 0 missing')),
      lines.map((line) => line.replace(' manifest 2 ', ' manifest 3 ')),
    ];
    for (const damaged of damages) {
      await trial(2, async (assembler, staging) => {
        await assembler.accept(bytesOf(damaged));
        assert.equal(assembler.complete, false);
        assert.deepEqual((await assembler.finish()).outputs, []);
        assert.deepEqual(await readdir(staging), []);
      });
    }
  });

  it('refuses a manifest with another number of paths than were asked for', () =>
    trial(1, async (assembler) => {
      await assembler.accept(bytesOf(encode([Buffer.from('x'), Buffer.from('y')])));
      assert.deepEqual([assembler.complete, assembler.totalBytes], [false, undefined]);
      await assembler.finish();
    }));

  it('does not store a byte of a file that is over a limit, even if its blocks come', () =>
    trial(
      3,
      async (assembler, staging) => {
        await assembler.accept(bytesOf(encode([Buffer.alloc(100), Buffer.alloc(101), Buffer.alloc(60)])));
        assert.equal(assembler.complete, true);
        assert.equal(assembler.totalBytes, 100);
        const { outputs, problems } = await assembler.finish();
        assert.deepEqual(
          outputs.map(({ index }) => index),
          [0],
        );
        assert.deepEqual(
          problems.map(({ index, kind, reason }) => `${index} ${kind} ${reason}`),
          [
            '1 too-large has 101 bytes, over the limit of 100 bytes for one output',
            '2 too-large has 60 bytes, with which the outputs exceed 150 bytes together',
          ],
        );
        assert.deepEqual((await readdir(staging)).sort(), ['0', 'manifest']);
      },
      { maxOutputBytes: 100, maxTotalBytes: 150 },
    ));

  it('ignores frames of another run', () =>
    trial(1, async (assembler) => {
      await assembler.accept(bytesOf(encodeFrames([Buffer.from('x')], { runId: 'ANOTHER' })));
      assert.deepEqual([assembler.complete, assembler.mainEnded], [false, false]);
      const { noise } = await assembler.finish();
      assert.equal(noise, 7);
    }));

  it('calls a file changed when its blocks are right one by one and wrong together', () =>
    trial(1, async (assembler, staging) => {
      const [before, after] = [randomBytes(2 * MIB), randomBytes(2 * MIB)];
      const lines = encode([before]).filter((line) => !/ (block|data) 0 1 /.test(line));
      await assembler.accept(bytesOf([...lines, ...encode([after]).filter((line) => / (block|data) 0 1 /.test(line))]));
      assert.equal(assembler.complete, false);
      assert.deepEqual(await readdir(staging), ['manifest']);
      const { outputs, problems } = await assembler.finish();
      assert.deepEqual(outputs, []);
      assert.deepEqual(problems, [{ index: 0, kind: 'changed', reason: 'changed while it was read' }]);
    }));

  it('takes a changed file all the same when a later pass brings what the manifest says', () =>
    trial(1, async (assembler) => {
      const [right, wrong] = [randomBytes(MIB + 1), randomBytes(MIB + 1)];
      const data = (lines: string[]): string[] => lines.filter((line) => / (block|data) /.test(line));
      await assembler.accept(
        bytesOf([...encode([right]).slice(0, 4), ...data(encode([wrong])), ...data(encode([right]))]),
      );
      assert.equal(assembler.complete, true);
      const { outputs } = await assembler.finish();
      assert.deepEqual(await readFile(outputs[0]?.file ?? ''), right);
    }));

  it('calls a file changed when the sidecar says so and it is not whole', () =>
    trial(1, async (assembler) => {
      await assembler.accept(bytesOf([...encode([Buffer.from('x')]).slice(0, 4), say('changed 0')]));
      assert.equal((await assembler.finish()).problems[0]?.kind, 'changed');
    }));

  it('refuses an empty file whose digest is not that of nothing', () =>
    trial(1, async (assembler) => {
      const entry = `entry 0 file 0 ${sha256('x')}`;
      await assembler.accept(bytesOf([say(entry), say(`manifest 1 ${sha256(`${entry}\n`)}`)]));
      assert.equal(assembler.complete, false);
      assert.deepEqual((await assembler.finish()).outputs, []);
    }));

  it('goes by the newest start of the sidecar, and never back', () =>
    trial(1, async (assembler) => {
      const [first, second] = [Buffer.from('first'), Buffer.from('second')];
      await assembler.accept(bytesOf(encode([first])));
      await assembler.accept(bytesOf(encode([second], 2)));
      await assembler.accept(bytesOf(encode([first])));
      assert.equal(assembler.complete, true);
      const { outputs } = await assembler.finish();
      assert.deepEqual(await readFile(outputs[0]?.file ?? ''), second);
    }));

  it('does not mix the blocks of two starts', () =>
    trial(1, async (assembler) => {
      const file = Buffer.from('x'.repeat(20_000));
      await assembler.accept(bytesOf([...encode([file]).slice(0, 6), ...encode([file], 2).slice(6)]));
      assert.equal(assembler.complete, false);
      await assembler.finish();
    }));

  it('trusts nothing any more when one start sends two manifests that contradict each other', () =>
    trial(1, async (assembler) => {
      await assembler.accept(bytesOf([...encode([Buffer.from('a')]), ...encode([Buffer.from('b')])]));
      assert.equal(assembler.complete, false);
      const { outputs, problems } = await assembler.finish();
      assert.deepEqual(outputs, []);
      assert.match(problems[0]?.reason ?? '', /contradict/);
    }));

  it('trusts a restarted sidecar after a start that contradicted itself', () =>
    trial(1, async (assembler) => {
      const file = Buffer.from('b');
      await assembler.accept(bytesOf([...encode([Buffer.from('a')]), ...encode([file]), ...encode([file], 2)]));
      assert.equal(assembler.complete, true);
      assert.deepEqual(await readFile((await assembler.finish()).outputs[0]?.file ?? ''), file);
    }));

  it('writes neither over a file nor through a link that is there already', async () => {
    for (const [name, file] of [
      ['0.part', Buffer.alloc(MIB + 1)],
      ['0.blocks', Buffer.alloc(MIB + 1)],
      ['0', Buffer.from('x')],
    ] as const) {
      for (const isLink of [true, false]) {
        await trial(1, async (assembler, staging) => {
          const victim = join(staging, isLink ? 'victim' : name);
          await writeFile(victim, 'precious');
          if (isLink) await symlink('victim', join(staging, name));
          await assert.rejects(assembler.accept(bytesOf(encode([file]))), unavailable);
          await assembler.finish();
          assert.equal(await readFile(victim, 'utf8'), 'precious', `${name}, ${isLink ? 'a link' : 'a file'}`);
        });
      }
    }
  });

  it('takes what stands where the list of outputs or its salt is written for left by a killed process, and writes nothing through it', async () => {
    const secret = Buffer.from('hunter2');
    const entry = `entry 0 sealed ${secret.length} ${sealOf(SALT, 0, sha256(secret))}`;
    const manifest = bytesOf([say(entry), say(`manifest 1 ${sha256(`${entry}\n`)}`)]);
    for (const name of ['manifest.new', 'salt.new']) {
      for (const put of [symlink, link, copyFile]) {
        await trial(1, async (assembler, staging) => {
          const victim = join(staging, 'victim');
          await writeFile(victim, 'precious');
          await put(victim, join(staging, name));
          await assembler.accept(manifest);
          await assembler.receive(0, 0, secret);
          assert.equal(await assembler.unseal(SALT), true);
          assert.equal(assembler.complete, true);
          await assembler.finish();
          assert.equal(await readFile(victim, 'utf8'), 'precious', `${name}, ${put.name}`);
          assert.deepEqual((await readdir(staging)).sort(), ['0', 'manifest', 'salt', 'victim']);
        });
      }
    }
  });

  it('rejects in one sentence when the disk fails', () =>
    trial(1, async (_, staging) => {
      const gone = join(staging, 'gone');
      await mkdir(gone);
      const assembler = new Assembler({
        runId: RUN,
        wanted: 1,
        staging: join(gone, 'x'),
        limits: { maxOutputBytes: 1, maxTotalBytes: 1 },
      });
      await assert.rejects(assembler.accept(bytesOf(encode([Buffer.from('x')]))), unavailable);
    }));

  it('takes a second call of accept before the first has ended for a bug', () =>
    trial(1, async (assembler) => {
      const first = assembler.accept(bytesOf(encode([Buffer.from('x')])));
      await assert.rejects(assembler.accept(Buffer.from('x')), /before the last call/);
      await first;
      assert.equal(assembler.complete, true);
      await assembler.finish();
    }));

  it('keeps its memory bounded whatever a stream announces and never sends', () =>
    trial(1, async (assembler) => {
      const before = process.memoryUsage().arrayBuffers;
      const junk = Buffer.alloc(65_536, 0x43);
      for (let n = 0; n < 400; n += 1) await assembler.accept(junk);
      for (let start = 1; start < 20_000; start += 1) {
        await assembler.accept(
          Buffer.from(
            `\n${say('entry 0 missing', start)}\n${say(`block 0 ${start} 1048576 87 ${'0'.repeat(64)}`, start)}`,
          ),
        );
      }
      assert.ok(process.memoryUsage().arrayBuffers - before < 8 * MIB);
      await assembler.finish();
    }));
});
