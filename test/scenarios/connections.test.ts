import assert from 'node:assert/strict';
import { runOnApiServer } from '../helpers/kubernetes-run.js';
import { warpClock } from '../helpers/warp-clock.js';
import { ChangedLog, digests, MiB, textOf, wanted, writes } from './stage.js';

const FILES = { first: textOf('first', 2 * MiB + 5), second: textOf('second', MiB) };
const following = { resource: 'pods/log', container: 'outputs', follow: true } as const;

describe('a connection that breaks while outputs come', () => {
  it('scenario 1: a stream that ends cleanly in the middle of a block is not taken for complete', async () => {
    const run = await runOnApiServer({
      operation: { outputs: wanted('first', 'second') },
      faults: (faults) => faults.body({ ...following, times: 1 }, { afterBytes: 1_000_000, then: 'end' }),
      invocation: writes(FILES, 3),
    });
    assert.deepEqual(digests(run.outputs), digests(FILES));
    assert.deepEqual([run.result.status, run.result.exitCode, run.result.problems], ['failed', 3, []]);
    const opened = run.faults.requests.filter(
      ({ subresource, query }) => subresource === 'log' && query.get('container') === 'outputs',
    );
    assert.ok(opened.length > 1, 'another connection was needed');
  });

  it('scenario 2: resets in the middle of lines cost no byte, and nothing is stored twice', async () => {
    const run = await runOnApiServer({
      operation: { outputs: wanted('first', 'second') },
      faults: (faults) => {
        for (const [skip, afterBytes] of [310_007, 900_001, 1_700_013].entries()) {
          faults.body({ ...following, skip, times: 1 }, { afterBytes, then: 'reset' });
        }
      },
      invocation: writes(FILES),
    });
    assert.deepEqual(digests(run.outputs), digests(FILES));
    assert.deepEqual([run.result.status, run.result.problems], ['succeeded', []]);
    const received = run.progress.map(({ receivedBytes = 0 }) => receivedBytes);
    assert.ok(Math.max(...received) <= FILES.first.length + FILES.second.length, 'no byte counts twice');
  });

  it('scenario 3: a connection that is half open and silent is given up and replaced within a minute', async () => {
    const clock = warpClock(6);
    let stalledAt: number | undefined;
    let seconds: number | undefined;
    let replaced = (): void => undefined;
    let bytes = 0;
    const faults = new ChangedLog(async (chunk) => {
      bytes += chunk.length;
      if (bytes >= 1_000_000 && stalledAt === undefined) {
        // What is left of the minute is left to a loaded machine.
        clock.speed = 2;
        stalledAt = clock.now();
        await new Promise<void>((resolve) => (replaced = resolve));
        return 'end';
      }
      if (stalledAt !== undefined) seconds ??= (clock.now() - stalledAt) / 1000;
      clock.speed = 6;
      replaced();
      return [chunk];
    });
    const run = await runOnApiServer({
      clock,
      server: { clock, faults },
      operation: { outputs: wanted('first', 'second') },
      invocation: writes(FILES, 1),
    });
    assert.deepEqual(digests(run.outputs), digests(FILES));
    assert.equal(run.result.exitCode, 1);
    assert.ok(seconds !== undefined && seconds < 60, `${seconds} s`);
  });
});
