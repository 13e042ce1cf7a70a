import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { Assembler } from '../../src/frame/assemble.js';
import { encodeFrames, sha256 } from '../helpers/encode-frames.js';
import { runOnApiServer } from '../helpers/kubernetes-run.js';
import { withFolder } from '../helpers/staging.js';
import { randomFrom } from '../kill/moments.js';
import { ChangedLog, digests, MiB, textOf, wanted, writes } from './stage.js';

const RUN = '01J9ZZZZZZZZZZZZZZZZZZZZZZ';
const FILES = [Buffer.from(textOf('one', MiB + 4097)), Buffer.from(textOf('two', 70_000)), Buffer.alloc(0)];
const LINES = encodeFrames(FILES, { runId: RUN });

/** Gives an assembler these texts, one as each connection, and resolves with the files that it has proven, in order. */
async function assembled(connections: readonly string[]): Promise<{ complete: boolean; files: Buffer[] }> {
  return withFolder(async (staging) => {
    const limits = { maxOutputBytes: 2 ** 30, maxTotalBytes: 2 ** 30 };
    const assembler = await Assembler.open({ runId: RUN, wanted: FILES.length, staging, limits });
    for (const text of connections) {
      assembler.restart();
      const bytes = Buffer.from(text);
      for (let at = 0; at < bytes.length; at += 50_000) await assembler.accept(bytes.subarray(at, at + 50_000));
    }
    const { complete } = assembler;
    const { outputs } = await assembler.finish();
    return { complete, files: await Promise.all(outputs.map(({ file }) => readFile(file))) };
  });
}

const digest = (file: Buffer): string => `${file.length} ${sha256(file)}`;
const stamp = (index: number): string => new Date(1_796_000_000_000 + index).toISOString().replace('Z', '000000Z');

describe('the records of a log', () => {
  it('scenario 9: lines that were cut into records anywhere, with a timestamp inside, are noise and come again', async () => {
    const random = randomFrom(9);
    // CRI-O cuts where a read of at most 8192 bytes ended, and an old kubelet puts a timestamp before each piece.
    const cut = (withTimestamps: boolean): string =>
      LINES.map((line, index) => {
        const pieces: string[] = [];
        for (let rest = line; rest !== '';) {
          const length = Math.min(rest.length, random() < 0.2 ? 1 + Math.floor(random() * 8191) : 8192 * 2);
          pieces.push(rest.slice(0, length));
          rest = rest.slice(length);
        }
        const glue = withTimestamps ? ` ${stamp(index)} ` : '';
        return `${withTimestamps ? `${stamp(index)} ` : ''}${pieces.join(glue)}\n`;
      }).join('');
    const whole = LINES.map((line) => `${line}\n`).join('');
    const stamped = LINES.map((line, index) => `${stamp(index)} ${line}\n`).join('');
    for (const [what, connections] of Object.entries({
      'pieces joined again': [cut(false)],
      'damaged, then whole': [cut(true), whole],
      'damaged, then with timestamps': [cut(true), stamped],
    })) {
      const { complete, files } = await assembled(connections);
      assert.deepEqual([complete, files.map(digest)], [true, FILES.map(digest)], what);
    }
    const { complete, files } = await assembled([cut(true)]);
    assert.equal(complete, false, 'damage alone proves nothing');
    for (const file of files)
      assert.ok(
        FILES.some((each) => each.equals(file)),
        'no wrong byte',
      );
  });

  it("scenario 10: a kubelet's error in the middle of a frame and other programs' lines are skipped, and fail nothing", async () => {
    const files = { one: textOf('one', 2 * MiB), two: 'two\n' };
    let pieces = 0;
    const faults = new ChangedLog((chunk, { query }) => {
      pieces += 1;
      // The last reading, which does not follow, is whole, as it is when the kubelet has recovered.
      if (query.get('follow') !== 'true' || pieces % 5 !== 0) return [chunk];
      const error = Buffer.from('failed to watch file "/var/log/pods/x": no such file or directory');
      const noise = Buffer.from('\nCNABO1 is not a frame\nwarning: locale not found\nCNABO1 other 1 ended .\n');
      return [chunk.subarray(0, chunk.length >> 1), error, chunk.subarray(chunk.length >> 1), noise];
    });
    const run = await runOnApiServer({
      server: { faults },
      operation: { outputs: wanted('one', 'two') },
      invocation: writes(files),
    });
    assert.deepEqual([digests(run.outputs), run.result.status, run.result.problems], [digests(files), 'succeeded', []]);
    assert.ok(pieces >= 5, 'there was noise');
  });

  it('scenario 11: what comes twice, in another order or from the same second again is stored once', async () => {
    const header = LINES.findIndex((line) => line.includes(' block '));
    const head = LINES.slice(0, header);
    // Blocks in reverse, each twice, then the whole log from its beginning, by a clock that went back two seconds.
    const blocks: string[][] = [];
    for (const line of LINES.slice(header)) {
      if (line.includes(' block ')) blocks.push([]);
      blocks.at(-1)?.push(line);
    }
    const reverse = [...blocks].reverse().flatMap((block) => [...block, ...block]);
    const connections = [
      [...head, ...reverse].map((line, index) => `${stamp(index)} ${line}\n`).join(''),
      LINES.map((line, index) => `${stamp(index - 2000)} ${line}\n`).join(''),
    ];
    const { complete, files: proven } = await assembled(connections);
    assert.deepEqual([complete, proven.map(digest)], [true, FILES.map(digest)]);

    const files = { one: textOf('one', 2 * MiB + 1) };
    const run = await runOnApiServer({
      operation: { outputs: wanted('one') },
      faults: (faults) => {
        for (const [skip, bytes] of [900, 400_000, 1_000_000].entries()) {
          faults.body(
            { resource: 'pods/log', container: 'outputs', skip, times: 1 },
            { afterBytes: 1_200_000, then: 'repeat', bytes },
          );
        }
      },
      invocation: writes(files),
    });
    assert.deepEqual([digests(run.outputs), run.result.status], [digests(files), 'succeeded']);
  });
});
