import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import type { Clock } from '../../../src/driver/clock.js';
import type { ContainerScript } from '../../helpers/api-server.js';
import { leaveOnLog, withProcesses } from '../../helpers/begun-run.js';
import { fastClock } from '../../helpers/fast-clock.js';
import { runOnApiServer, testDriver, type RunParts } from '../../helpers/kubernetes-run.js';
import { operation, RUN_ID } from '../../helpers/operation.js';
import { withFolder } from '../../helpers/staging.js';

const HOUR = 3_600_000;
const SECRET = { name: 'secret', path: '/cnab/app/outputs/secret', sensitive: true };

const secretAlone: Pick<RunParts, 'invocation' | 'operation'> = {
  operation: { outputs: [SECRET] },
  invocation: ({ write }) => (write(SECRET.path, 'x'), 0),
};

function offBy(ms: number): Clock {
  const clock = fastClock(6);
  return { now: () => clock.now() + ms, sleep: (pause, signal) => clock.sleep(pause, signal) };
}

/** Takes its time to end, long enough for several looks. */
const slowToEnd: ContainerScript = async ({ log, terminated, write }) => {
  await log('up');
  await terminated;
  await delay(1000);
  write('/cnab/app/outputs/greeting', 'saved');
  return 5;
};

for (const [what, ms] of [
  ['ahead', HOUR],
  ['behind', -HOUR],
] as const) {
  describe(`a computer whose clock is ${what}`, () => {
    it('waits for a run that it stopped, and takes no node for lost', async () => {
      const stop = new AbortController();
      const { result, outputs } = await runOnApiServer({
        clock: offBy(ms),
        invocation: slowToEnd,
        signal: stop.signal,
        io: { onLog: () => stop.abort({ kind: 'signal', signal: 'SIGINT' }) },
      });
      assert.deepEqual([result.status, result.exitCode, outputs], ['canceled', 5, { greeting: 'saved' }]);
    });

    it('is told by its own clock until when outputs are held', async () => {
      const clock = offBy(ms);
      const { result, progress } = await runOnApiServer({
        ...secretAlone,
        clock,
        settings: { holdTimeMs: HOUR / 2 },
      });
      assert.equal(result.status, 'succeeded');
      const held = progress.flatMap(({ heldUntil }) => (heldUntil === undefined ? [] : [heldUntil]));
      assert.ok(held.length > 0);
      for (const until of held) {
        const left = until - clock.now();
        assert.ok(left > 0 && left < HOUR / 2 + 10_000, `${left} ms are left of half an hour`);
      }
    });

    it('knows a sidecar that was killed for its time', () =>
      withProcesses({ ...secretAlone, settings: { holdTimeMs: 9000 } }, ({ run, server, state }) =>
        withFolder(async (staging) => {
          await run({ detach: true });
          const isOver = (): boolean => server.cluster.store.list('pods')[0]?.status.phase === 'Succeeded';
          while (!isOver()) await delay(20);
          const driver = testDriver(server, { clock: offBy(ms) });
          const io = {
            ...{ staging, signal: new AbortController().signal, onState: () => Promise.resolve() },
            ...{ onLog: () => undefined, onProgress: () => undefined },
          };
          const { error } = await driver.resume({ ...operation(secretAlone.operation), state: state() }, io);
          assert.match(error?.message ?? '', /the time was over for which the pod holds its outputs/);
          await driver.close();
        }),
      ));

    it('sees that a run which is given up still runs, and begins nothing beside it', () =>
      withProcesses({ invocation: slowToEnd }, async ({ run, server, state }) => {
        await run(leaveOnLog());
        const [pod] = server.cluster.store.list('pods');
        const path = `/api/v1/namespaces/default/pods/${pod?.metadata.name}`;
        await server.request('DELETE', path, { gracePeriodSeconds: 30 });
        const driver = testDriver(server, { clock: offBy(ms) });
        const asked = { runId: RUN_ID, state: state() };
        const sight = await driver.look(asked, new AbortController().signal);
        assert.deepEqual([sight.phase, /is being stopped/.test(sight.detail)], ['running', true]);
        assert.deepEqual(await driver.release(asked), []);
        const running = server.cluster.store
          .list('pods')
          .flatMap(({ status }) => status.containerStatuses ?? [])
          .filter(({ state: each }) => each?.running !== undefined);
        assert.deepEqual(running, []);
        await driver.close();
      }));
  });
}
