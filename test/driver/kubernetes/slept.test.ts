import assert from 'node:assert/strict';
import type { Clock } from '../../../src/driver/clock.js';
import type { RunState } from '../../../src/driver/driver.js';
import { BEAT_MS } from '../../../src/driver/kubernetes/holder.js';
import type { ContainerScript } from '../../helpers/api-server.js';
import { withProcesses, type Processes } from '../../helpers/begun-run.js';
import { fastClock } from '../../helpers/fast-clock.js';
import { testDriver } from '../../helpers/kubernetes-run.js';
import { operation, RUN_ID } from '../../helpers/operation.js';
import { withFolder } from '../../helpers/staging.js';

const SECRET = { name: 'secret', path: '/cnab/app/outputs/secret', sensitive: true };
const SLEPT_MS = 40_000;

/** Of a process whose next beat never comes before it does something else, as after a sleep; `wake`: the time has passed. */
function sleeper(faster: number): Clock & { readonly wake: () => void } {
  const clock = fastClock(faster);
  let slept = 0;
  return {
    now: () => clock.now() + slept,
    sleep: (ms, signal) => clock.sleep(ms === BEAT_MS ? 100 * BEAT_MS : ms, signal),
    wake: () => void (slept = SLEPT_MS),
  };
}

/** A bundle that ends when it is told to. */
function bundle(): { readonly script: ContainerScript; readonly up: Promise<void>; readonly finish: () => void } {
  let finish = (): void => undefined;
  let tell = (): void => undefined;
  const told = new Promise<void>((resolve) => (finish = resolve));
  const up = new Promise<void>((resolve) => (tell = resolve));
  const script: ContainerScript = async ({ log, write }) => {
    await log('one');
    tell();
    await told;
    write(SECRET.path, 'the secret');
    return 0;
  };
  return { script, up, finish };
}

interface Sleeping {
  readonly processes: Processes;
  /** What the other one goes by. */
  readonly state: () => RunState;
  readonly wake: () => void;
  readonly finish: () => void;
  /** How its run ends here, without its release. */
  readonly ended: Promise<string>;
  readonly release: () => Promise<readonly string[]>;
}

/** A run whose process sleeps while the bundle is up. */
function whileItSleeps(act: (sleeping: Sleeping) => Promise<void>, faster = 6): Promise<void> {
  const { script, up, finish } = bundle();
  return withProcesses({ named: true, invocation: script, operation: { outputs: [SECRET] } }, (processes) =>
    withFolder(async (staging) => {
      const clock = sleeper(faster);
      const driver = testDriver(processes.server, { clock, process: { host: 'laptop', pid: 7 } });
      let state: RunState = {};
      try {
        const io = {
          staging,
          signal: new AbortController().signal,
          onLog: () => undefined,
          onProgress: () => undefined,
        };
        const onState = (now: RunState): Promise<void> => Promise.resolve(void (state = now));
        const running = driver.run(operation({ outputs: [SECRET] }), { ...io, onState });
        await up;
        await act({
          processes,
          state: () => state,
          wake: clock.wake,
          finish,
          ended: running.then(({ status }) => status),
          release: () => driver.release({ runId: RUN_ID, state }),
        });
        await running;
      } finally {
        finish();
        await driver.close();
      }
    }),
  );
}

const doneVerbs = ({ server }: Processes): number =>
  server.faults.requests.filter(({ query }) => query.getAll('command').includes('done')).length;

const asked = ({ server }: Processes): number =>
  server.faults.requests.filter(({ verb, resource }) => verb === 'get' && resource === 'jobs').length;

/** Takes hold of the run as the process of another machine. */
const take = ({ withDriver }: Processes, { holder: _, ...state }: RunState): Promise<void> => {
  const how = { takeOver: true, onProgress: () => undefined, signal: new AbortController().signal };
  return withDriver((driver) => driver.hold({ runId: RUN_ID, state }, how));
};

describe('a process that slept while another one took its run over', () => {
  it('neither lets the sidecar end nor removes the Job, though it wakes with every output before its next beat', () =>
    whileItSleeps(async ({ processes, state, wake, finish, ended, release }) => {
      await take(processes, state());
      wake();
      finish();
      await ended;
      assert.deepEqual(await release(), []);
      assert.equal(doneVerbs(processes), 0);
      assert.equal(processes.server.cluster.store.list('jobs').length, 1);
      const { holder: _, ...known } = state();
      const other = await processes.takeUp(known);
      assert.deepEqual([other.result.status, other.result.error], ['succeeded', undefined]);
      assert.deepEqual(other.outputs, { secret: 'the secret' });
    }));

  it('leaves the Job where the cluster does not say who is on the run, and says so', () =>
    whileItSleeps(async ({ processes, wake, finish, ended, release }) => {
      finish();
      assert.equal(await ended, 'succeeded');
      wake();
      processes.server.faults.fail({ verb: 'get', resource: 'jobs' }, 503);
      assert.match(
        (await release()).join(),
        /^job .* is left in namespace default: nothing tells whether another process/,
      );
      assert.equal(processes.server.cluster.store.list('jobs').length, 1);
    }));

  it('asks once before the sidecar is told, and once before the Job goes, and removes what is its own where nobody came', () =>
    whileItSleeps(async ({ processes, wake, finish, ended, release }) => {
      wake();
      const before = asked(processes);
      finish();
      assert.equal(await ended, 'succeeded');
      assert.deepEqual(await release(), []);
      assert.deepEqual([asked(processes), doneVerbs(processes)], [before + 2, 1]);
      assert.deepEqual(processes.server.cluster.store.list('jobs'), []);
    }));

  it('is not looked for where the run is younger than a beat: a short one costs no request more', () =>
    whileItSleeps(async ({ processes, finish, ended, release }) => {
      const before = asked(processes);
      finish();
      assert.equal(await ended, 'succeeded');
      assert.deepEqual(await release(), []);
      assert.equal(asked(processes), before);
    }, 1));
});
