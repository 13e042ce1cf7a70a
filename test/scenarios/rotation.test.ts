import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { systemClock } from '../../src/driver/clock.js';
import type { KubeletSettings } from '../../src/driver/sandbox/api-server/kubelet-settings.js';
import { rotateLog } from '../helpers/api-server-jobs.js';
import { ProcessRuntime, ScriptedRuntime, type TestApiServer } from '../helpers/api-server.js';
import { encodeFrames } from '../helpers/encode-frames.js';
import { runOnApiServer, type FinishedRun, type RunParts } from '../helpers/kubernetes-run.js';
import { randomFrom } from '../kill/moments.js';
import { PacedLog } from './paced-log.js';
import { ChangedLog, digests, MiB, setSidecar, textOf, wanted, writes } from './stage.js';

const FILES = { first: textOf('first', 3 * MiB), second: textOf('second', 3 * MiB + 77) };
const NEVER: Partial<KubeletSettings> = { maxLogBytes: 2 ** 40 };

interface Rotating {
  readonly passage: ConstructorParameters<typeof ChangedLog>[0];
  readonly kubelet?: Partial<KubeletSettings>;
  readonly files?: Readonly<Record<string, string>>;
  readonly parts?: RunParts;
}

/** Turns the sidecar's log over, `times` in a row. */
type Rotate = (times: number) => void;

/** Outputs above small by the log: the sidecar makes three passes, each when the one before has been read as far as it can be. */
async function runByLog(given: (rotate: Rotate) => Rotating): Promise<FinishedRun> {
  let server: TestApiServer | undefined;
  const {
    passage,
    kubelet = NEVER,
    files = FILES,
    parts = {},
  } = given((times) => {
    const [pod] = server?.cluster.store.list('pods') ?? [];
    for (let count = 0; server && pod && count < times; count++) rotateLog(server, pod, 'outputs');
    log.rotated();
  });
  const log = new PacedLog(new ProcessRuntime());
  const faults = new ChangedLog(async (chunk, request) => {
    const passed = await passage(chunk, request);
    if (typeof passed !== 'string') for (const piece of passed) log.reached(piece);
    return passed;
  });
  setSidecar(faults, { CNAB_PAUSES: '0 0', CNAB_BEAT: '1' });
  // A kubelet that rotates by itself says nothing of it.
  const otherwise = kubelet === NEVER ? log : new ProcessRuntime();
  const scripts = { invocation: writes(files) };
  return runOnApiServer({
    settings: { outputsVia: 'log' },
    operation: { outputs: wanted(...Object.keys(files)) },
    invocation: scripts.invocation,
    server: {
      faults,
      kubelet,
      ...(parts.sidecar === undefined ? { runtime: new ScriptedRuntime({ scripts, otherwise }) } : {}),
    },
    ...parts,
    meanwhile: (given) => Promise.resolve(void (server = given)),
  });
}

function assertWhole(run: FinishedRun, files: Readonly<Record<string, string>> = FILES): void {
  assert.deepEqual([digests(run.outputs), run.result.problems], [digests(files), []]);
  assert.equal(run.result.status, 'succeeded');
}

const isData = (chunk: Buffer): boolean => chunk.includes(' data ');

describe('a log that is rotated while outputs above small come by it', function () {
  this.timeout(60_000);

  it('scenario 4: a reader that still catches up, and whose stream stalls with the rotation, gets the rest in the next pass', async () => {
    let lost = 0;
    let follows = 0;
    const run = await runByLog((rotate) => ({
      passage: (chunk, { query }) => {
        if (query.get('follow') !== 'true' || !isData(chunk) || lost > 0) return [chunk];
        follows += 1;
        // The kubelet's reader has not seen the new file: no more comes, and no end. Meanwhile two files are gone.
        if (follows < 10) return [chunk];
        lost += 1;
        rotate(2);
        return delay(500).then(() => 'reset' as const);
      },
    }));
    assert.equal(lost, 1);
    assertWhole(run);
  });

  it('scenario 5: two rotations while the client is blocked lose a file in between, and a later pass brings it', async () => {
    let pieces = 0;
    const run = await runByLog((rotate) => ({
      passage: async (chunk) => {
        if (isData(chunk) && ++pieces === 5) {
          rotate(1);
          await delay(300);
          rotate(1);
          await delay(300);
        }
        return [chunk];
      },
    }));
    assert.ok(pieces > 100, 'more than one pass was read');
    assertWhole(run);
  });

  it('what no pass brings is lost, and no other process is blamed for it', async () => {
    const run = await runByLog(() => ({
      passage: (chunk) => [Buffer.from(chunk.toString('latin1').replaceAll(' block 1 0 ', ' block - 0 '), 'latin1')],
    }));
    assert.deepEqual(Object.keys(run.outputs), ['first']);
    assert.equal(run.result.status, 'succeeded');
    const { problems, error } = run.result;
    assert.deepEqual(problems, [{ name: 'second', kind: 'lost', reason: 'is lost: 3 of 4 blocks arrived' }]);
    assert.doesNotMatch(error?.message ?? assert.fail(), /another process/);
  });

  it('scenario 6: of a container that ends right after a rotation the new file is read once more, and nothing is missing', async () => {
    const files = { first: textOf('first', MiB), second: textOf('second', MiB) };
    const content = Object.values(files).map((text) => Buffer.from(text));
    let isRotated = false;
    let readAgain = 0;
    let halfHasCome = (): void => undefined;
    const half = new Promise<void>((resolve) => (halfHasCome = resolve));
    const run = await runByLog((rotate) => ({
      files,
      passage: (chunk, { query }) => {
        if (chunk.includes('half of it')) halfHasCome();
        // Each follow ends cleanly at the rotation, without a byte of the new file.
        if (!isRotated) return [chunk];
        if (query.get('follow') === 'true') return 'end';
        readAgain += 1;
        return [chunk];
      },
      parts: {
        // What is on its way when the container ends is waited for by this clock.
        clock: systemClock,
        hook: () => Promise.resolve(0),
        sidecar: async ({ env, log, terminated }) => {
          const lines = encodeFrames(content, { runId: env['CNAB_RUN'] ?? '' });
          await log(lines[0] ?? '');
          await terminated;
          const second = lines.findIndex((line) => line.includes(' block 1 0 '));
          for (const line of lines.slice(1, second)) await log(line);
          await log('half of it');
          await half;
          isRotated = true;
          rotate(1);
          for (const line of lines.slice(second)) await log(line);
          return 0;
        },
      },
    }));
    assert.ok(readAgain > 0, 'the new file came by another reading');
    assertWhole(run, files);
  });

  it('scenario 7: connections that break at random while the log is rotated cost no byte', async () => {
    const files = { one: textOf('one', 4 * MiB), two: textOf('two', 3 * MiB), three: textOf('three', 3 * MiB) };
    const random = randomFrom(7);
    const blocks = Object.values(files).flatMap((text, index) =>
      Array.from({ length: text.length / MiB }, (_, block) => ` block ${index} ${block} `),
    );
    // Where these blocks begin, the connection breaks, once for each; with two of the breaks the log is rotated too.
    const pending = new Set(blocks.filter(() => random() < 0.7));
    const all = pending.size;
    const run = await runByLog((rotate) => ({
      files,
      passage: (chunk) => {
        const begun = [...pending].find((block) => chunk.includes(block));
        if (begun === undefined) return [chunk];
        pending.delete(begun);
        if (![3, 6].includes(all - pending.size)) return random() < 0.5 ? 'reset' : 'end';
        // A reset would take with it what is on its way, from a file that is gone.
        rotate(1);
        return 'end';
      },
    }));
    assert.ok(all >= 8 && pending.size <= 1, `${all - pending.size} breaks of ${all}`);
    assertWhole(run, files);
  });

  it('scenario 8: a runtime that truncates its log at 1 MiB loses nothing for good: all comes, or each file that did not is named', async () => {
    const run = await runByLog(() => ({
      // As CRI-O with log_size_max: no rotated file is kept, and the reader is slower than the writer.
      kubelet: { maxLogBytes: MiB, logCheckMs: 50, maxLogFiles: 1 },
      passage: (chunk) => delay(2).then(() => [chunk]),
    }));
    const told = new Map(run.result.problems.map(({ name, kind }) => [name, kind]));
    for (const name of Object.keys(FILES))
      assert.ok(name in run.outputs !== told.has(name), `${name} is there or named`);
    for (const [name, text] of Object.entries(run.outputs)) assert.equal(text, FILES[name as keyof typeof FILES]);
    if (told.size > 0) assert.equal(run.result.error?.code, 'outputs-incomplete');
  });
});
