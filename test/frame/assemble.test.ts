import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readFile, readdir, stat } from 'node:fs/promises';
import { Assembler, type Assembly } from '../../src/frame/assemble.js';
import { encodeFrames, sha256, type Wanted } from '../helpers/encode-frames.js';
import { withFolder } from '../helpers/staging.js';

const RUN = '01J9ZZZZZZZZZZZZZZZZZZZZZZ';
const MIB = 1_048_576;
const LIMITS = { maxOutputBytes: 16 * MIB, maxTotalBytes: 16 * MIB };
const say = (text: string, start = 1): string => `CNABO1 ${RUN} ${start} ${text} .`;
const encode = (wanted: readonly Wanted[], start = 1): string[] => encodeFrames(wanted, { runId: RUN, start });
const bytesOf = (lines: readonly string[]): Buffer => Buffer.from(lines.map((line) => `${line}\n`).join(''), 'latin1');

interface Trial {
  readonly assembler: Assembler;
  readonly staging: string;
  readonly feed: (lines: readonly string[]) => Promise<void>;
  /** Bytes of each output by its index, after `finish`. */
  readonly contents: (assembly: Assembly) => Promise<Map<number, Buffer>>;
}

async function trial(wanted: number, run: (trial: Trial) => Promise<void>, limits = LIMITS): Promise<void> {
  await withFolder(async (staging) => {
    const assembler = new Assembler({ runId: RUN, wanted, staging, limits });
    await run({
      assembler,
      staging,
      feed: (lines) => assembler.accept(bytesOf(lines)),
      contents: async ({ outputs }) =>
        new Map(await Promise.all(outputs.map(async ({ index, file }) => [index, await readFile(file)] as const))),
    });
  });
}

const big = randomBytes(2 * MIB + 5000);
const files = [Buffer.from('one'), Buffer.alloc(0), big, Buffer.from([0, 255, 10, 13])];

describe('Assembler', () => {
  it('gives back every byte of every file, and says in order what has happened', () =>
    trial(4, async ({ assembler, feed, contents }) => {
      const lines = encode(files);
      assert.deepEqual([assembler.mainEnded, assembler.totalBytes], [false, undefined]);
      await feed(lines.slice(0, 1));
      assert.equal(assembler.mainEnded, false);
      await feed(lines.slice(1, 7));
      assert.equal(assembler.mainEnded, true);
      assert.equal(assembler.totalBytes, big.length + 7);
      assert.deepEqual([assembler.complete, assembler.receivedBytes], [false, 0]);
      await feed(lines.slice(7, -1));
      assert.deepEqual([assembler.complete, assembler.receivedBytes], [true, big.length + 7]);
      await feed(lines.slice(-1));
      const assembly = await assembler.finish();
      assert.deepEqual(await contents(assembly), new Map(files.map((file, index) => [index, file])));
      assert.deepEqual(
        assembly.outputs.map(({ size, sha256 }) => ({ size, sha256 })),
        files.map((file) => ({ size: file.length, sha256: sha256(file) })),
      );
      assert.deepEqual([assembly.problems, assembly.noise], [[], 0]);
    }));

  it('has news with what it tells of, and none with the lines in the middle of a block', () =>
    trial(4, async ({ assembler }) => {
      const news: string[] = [];
      for (const line of encode(files)) {
        const waiting = assembler.push(bytesOf([line]));
        if (waiting === undefined) continue;
        await waiting;
        news.push(/ 1 ([a-z]+(?: \d(?= ))?)/.exec(line)?.[1] ?? line);
      }
      const blocks = ['data 0', 'data 2', 'data 2', 'data 2', 'data 3'];
      assert.deepEqual(news, ['hello 4', 'ended', 'manifest 4', ...blocks, 'end']);
    }));

  it('has news with each block of a pass over what is there, so that its reader need not go back behind it', () =>
    trial(1, async ({ assembler, feed }) => {
      const lines = encode([big]);
      await feed(lines);
      for (const line of lines.filter((each) => / block /.test(each))) {
        const news = assembler.push(bytesOf([line]));
        assert.ok(news !== undefined);
        await news;
      }
    }));

  it('takes a manifest that comes again as known: between any two lines, in the middle of a block too', () =>
    trial(4, async ({ assembler, feed, contents }) => {
      const lines = encode(files);
      const again = lines.slice(2, 7);
      assert.match(again.join(), /^\S+ \S+ 1 entry 0 .* manifest 4 \w+ \.$/);
      await feed(lines.slice(0, 7));
      const { manifest } = assembler;
      for (const line of lines.slice(7)) await feed([line, ...again]);
      assert.equal(assembler.manifest, manifest);
      assert.equal(assembler.complete, true);
      const assembly = await assembler.finish();
      assert.deepEqual(await contents(assembly), new Map(files.map((file, index) => [index, file])));
      assert.deepEqual([assembly.problems, assembly.noise], [[], 0]);
    }));

  it('writes files that only their owner can read', () =>
    trial(1, async ({ assembler, feed }) => {
      await feed(encode([Buffer.from('secret')]));
      const [output] = (await assembler.finish()).outputs;
      assert.equal((await stat(output?.file ?? '')).mode & 0o777, 0o600);
    }));

  it('is complete without any wanted output as soon as the sidecar has said so', () =>
    trial(0, async ({ assembler, feed }) => {
      assert.equal(assembler.complete, false);
      await feed(encode([]));
      assert.equal(assembler.complete, true);
      const { outputs, problems } = await assembler.finish();
      assert.deepEqual([outputs, problems, assembler.manifest?.start], [[], [], 1]);
    }));

  it('does not take a stream that ends cleanly in the middle of a block for complete', () =>
    trial(4, async ({ assembler, staging, feed }) => {
      await feed(encode(files).slice(0, 150));
      assert.equal(assembler.complete, false);
      const { outputs, problems } = await assembler.finish();
      assert.deepEqual(
        outputs.map(({ index }) => index),
        [0, 1],
      );
      assert.deepEqual(problems, [
        { index: 2, kind: 'lost', reason: 'is lost: 1 of 3 blocks arrived' },
        { index: 3, kind: 'lost', reason: 'is lost: 0 of 1 block arrived' },
      ]);
      assert.deepEqual((await readdir(staging)).sort(), ['0', '1', '2.blocks', '2.part', 'manifest']);
    }));

  it('takes up the stream after a cut in the middle of a line, whatever the next connection repeats', () =>
    trial(4, async ({ assembler, contents }) => {
      const log = bytesOf(encode(files));
      for (const [from, to] of [
        [0, 5000],
        [0, 900_000],
        [800_000, 2_000_000],
        [1_000_000, 2_500_000],
        [0, log.length],
      ] as const) {
        assembler.restart();
        await assembler.accept(log.subarray(from, to));
      }
      assert.equal(assembler.complete, true);
      assert.deepEqual(await contents(await assembler.finish()), new Map(files.map((file, index) => [index, file])));
    }));

  it('stores a block once, however often it comes', () =>
    trial(4, async ({ assembler, feed, contents }) => {
      for (let n = 0; n < 3; n += 1) await feed(encode(files));
      assert.equal(assembler.receivedBytes, assembler.totalBytes);
      assert.deepEqual(await contents(await assembler.finish()), new Map(files.map((file, index) => [index, file])));
    }));

  it('takes blocks in any order', () =>
    trial(1, async ({ assembler, feed, contents }) => {
      const lines = encode([big]);
      const blocks = [0, 1, 2].map((block) =>
        lines.filter((line) => line.includes(` block 0 ${block} `) || line.includes(` data 0 ${block} `)),
      );
      await feed([...lines.slice(0, 4), ...[2, 0, 1].flatMap((block) => blocks[block] ?? []), ...lines.slice(-1)]);
      assert.equal(assembler.complete, true);
      assert.deepEqual(await contents(await assembler.finish()), new Map([[0, big]]));
    }));

  it('skips foreign lines between frames, and loses only the block whose line has text glued to it', () =>
    trial(4, async ({ assembler, feed }) => {
      const lines = encode(files).flatMap((line) => [line, 'failed to watch file "/var/log/pods/x": no such file']);
      const at = lines.findIndex((line) => line.includes(' data 2 1 7 '));
      lines[at] = `${lines[at] ?? ''}failed to read log`;
      await feed(lines);
      assert.equal(assembler.complete, false);
      const { outputs, problems, noise } = await assembler.finish();
      assert.deepEqual(
        outputs.map(({ index }) => index),
        [0, 1, 3],
      );
      assert.deepEqual(problems, [{ index: 2, kind: 'lost', reason: 'is lost: 2 of 3 blocks arrived' }]);
      assert.ok(noise > lines.length / 2);
    }));

  it('loses the block of which a line is missing, and has it when that comes again', () =>
    trial(1, async ({ assembler, feed }) => {
      const lines = encode([big]);
      await feed(lines.filter((line) => !line.includes(' data 0 1 50 ')));
      assert.equal(assembler.complete, false);
      await feed(lines.filter((line) => line.includes(' block 0 1 ') || line.includes(' data 0 1 ')));
      assert.equal(assembler.complete, true);
      await assembler.finish();
    }));

  it('says of each path what the sidecar found in its place', () =>
    trial(6, async ({ assembler, feed }) => {
      const entries = [
        'entry 0 missing',
        'entry 1 unreadable',
        'entry 2 special symlink',
        'entry 3 special link-above',
        'entry 4 special fifo',
        'entry 5 large 1099511627776',
      ];
      await feed([...entries.map((text) => say(text)), say(`manifest 6 ${sha256(entries.join('\n') + '\n')}`)]);
      assert.equal(assembler.complete, true);
      const { outputs, problems } = await assembler.finish();
      assert.deepEqual(outputs, []);
      assert.deepEqual(
        problems.map(({ kind, reason }) => `${kind}: ${reason}`),
        [
          'missing: was not written',
          'unreadable: could not be read (its permissions, or an error of the disk)',
          'not-regular: is a symbolic link',
          'not-regular: lies below a symbolic link',
          'not-regular: is a FIFO',
          'too-large: has 1 TiB, over the limit of 16 MiB for one output',
        ],
      );
    }));

  it('tells why a sidecar gave up', () =>
    trial(1, async ({ assembler, feed }) => {
      await feed([say('fault tool base64')]);
      assert.deepEqual(assembler.fault, { what: 'tool', detail: 'base64' });
      await feed([say('hello 1', 2)]);
      assert.equal(assembler.fault, undefined, 'the next start has what it needs');
    }));
});
