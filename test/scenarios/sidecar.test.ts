import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { encodeFrames } from '../helpers/encode-frames.js';
import { runOnApiServer } from '../helpers/kubernetes-run.js';
import type { ContainerScript } from '../helpers/api-server.js';
import { digests, MiB, textOf, wanted } from './stage.js';

const FILES = { first: textOf('first', 2 * MiB), second: textOf('second', MiB) };

/** Kills the script that runs as the sidecar of these outputs, as the kernel does when memory is short. */
function killSidecar(marker: string): void {
  let killed = 0;
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      const environment = readFileSync(`/proc/${pid}/environ`, 'utf8');
      if (!environment.includes(marker) || !environment.includes('CNAB_RUN=')) continue;
      process.kill(Number(pid), 'SIGKILL');
      killed += 1;
    } catch {
      // It has ended, or is another user's.
    }
  }
  assert.ok(killed > 0, 'there was a sidecar to kill');
}

/** Sends the frames up to the given place, then waits to be killed. */
const sendsHalf =
  (share: number): ContainerScript =>
  async ({ env, log, terminated, sleep }) => {
    const lines = encodeFrames(
      Object.values(FILES).map((text) => Buffer.from(text)),
      { runId: env['CNAB_RUN'] ?? '' },
    );
    await log(lines[0] ?? '');
    await terminated;
    for (const line of lines.slice(1, Math.floor(lines.length * share))) await log(line);
    await sleep(10 * 60_000);
    return 0;
  };

describe('a sidecar in trouble', () => {
  it('scenario 12: one that is killed in the run is started again, and its second start brings the outputs', async () => {
    const marker = `/cnab/app/outputs/first-${process.pid}`;
    const run = await runOnApiServer({
      operation: { outputs: [...wanted('first', 'second'), { name: 'marker', path: marker, sensitive: false }] },
      invocation: async ({ write, sleep }) => {
        for (const [name, text] of Object.entries(FILES)) write(`/cnab/app/outputs/${name}`, text);
        write(marker, 'marked');
        killSidecar(`first-${process.pid}`);
        // The back-off before its second start.
        await sleep(2500);
        return 0;
      },
    });
    assert.deepEqual([run.result.status, run.result.problems], ['succeeded', []]);
    assert.deepEqual(digests(run.outputs), digests({ ...FILES, marker: 'marked' }));
  });

  it('scenario 12: one that dies in its dump leaves what is whole, names the rest, and the verdict stands', async () => {
    const run = await runOnApiServer({
      operation: { outputs: wanted('first', 'second') },
      sidecar: async (world) => {
        const dump = sendsHalf(0.8)({ ...world, sleep: () => Promise.resolve() });
        await dump;
        return { exitCode: 137, reason: 'OOMKilled' };
      },
      hook: () => Promise.resolve(0),
      invocation: () => 0,
    });
    const { result } = run;
    assert.deepEqual([result.status, result.exitCode, result.error?.code], ['succeeded', 0, 'outputs-incomplete']);
    assert.deepEqual(digests(run.outputs), digests({ first: FILES.first }));
    assert.deepEqual(
      result.problems.map(({ name, kind }) => [name, kind]),
      [['second', 'lost']],
    );
    assert.match(result.error?.message ?? '', /memory/);
  });

  it('scenario 15: one that the hold time ends in its dump is no success: what is missing is named, and the flag to raise', async () => {
    const run = await runOnApiServer({
      settings: { holdTimeMs: 6000 },
      operation: { outputs: wanted('first', 'second') },
      sidecar: sendsHalf(0.8),
      hook: () => Promise.resolve(0),
      invocation: () => 0,
    });
    const { result } = run;
    assert.deepEqual([result.exitCode, result.error?.code], [0, 'outputs-incomplete']);
    assert.deepEqual(digests(run.outputs), digests({ first: FILES.first }));
    assert.deepEqual(
      result.problems.map(({ name, kind }) => [name, kind]),
      [['second', 'lost']],
    );
    const told = [result.error?.message, ...(result.error?.details ?? []), ...(result.error?.suggestions ?? [])].join(
      '\n',
    );
    assert.match(told, /--hold-time/);
  });
});
