import assert from 'node:assert/strict';
import type { ContainerScript } from '../../helpers/api-server.js';
import { leaveOnLog, withProcesses, type Processes } from '../../helpers/begun-run.js';
import { mustNotRun } from '../../helpers/kubernetes-run.js';
import { RUN_ID } from '../../helpers/operation.js';

/** Goes on whatever it is told, as a shell script that is the first process of its container does. */
const hangs: ContainerScript = async ({ log }) => {
  await log('up');
  return new Promise<number>(() => undefined);
};

const release = ({ withDriver, state }: Processes): Promise<readonly string[]> =>
  withDriver((driver) => driver.release({ runId: RUN_ID, state: state() }));

const running = ({ server }: Processes): number =>
  server.cluster.store
    .list('pods')
    .filter(({ status }) => status.containerStatuses?.some(({ state }) => state?.running !== undefined)).length;

const verbs = ({ server }: Processes, verb: string, resource: string): number =>
  server.faults.requests.filter((request) => request.verb === verb && request.resource === resource).length;

describe('a run that is given up', () => {
  it('runs no more when it is released, though its hold time is long and it heeds no signal', () =>
    withProcesses(
      { invocation: hangs, settings: { gracePeriodMs: 3000, holdTimeMs: 3_600_000 } },
      async (processes) => {
        await processes.run(leaveOnLog());
        assert.equal(running(processes), 1);
        assert.deepEqual(await release(processes), []);
        assert.equal(running(processes), 0);
        assert.deepEqual(processes.server.cluster.store.list('jobs'), []);
      },
    ));

  it('starts no more, where no node had taken it', () =>
    withProcesses(
      { invocation: mustNotRun, faults: (faults) => faults.neverSchedule('0/1 nodes are available') },
      async (processes) => {
        await processes.run({ detach: true });
        assert.deepEqual(await release(processes), []);
        const { store } = processes.server.cluster;
        assert.deepEqual([store.list('jobs'), store.list('pods')], [[], []]);
      },
    ));

  it('keeps its Job, with a warning, where the cluster does not let it be stopped', () =>
    withProcesses({ invocation: hangs, settings: { gracePeriodMs: 1000 } }, async (processes) => {
      await processes.run(leaveOnLog());
      const { server, state, withDriver } = processes;
      server.faults.fail({ verb: 'delete', resource: 'pods', times: 100 }, 503);
      const warnings = await release(processes);
      assert.match(warnings.join(), new RegExp(`^job ${state().job} is left in namespace default: `));
      assert.deepEqual([running(processes), verbs(processes, 'delete', 'jobs')], [1, 0]);
      const never = new AbortController().signal;
      const sight = await withDriver((driver) => driver.look({ runId: RUN_ID, state: state() }, never));
      assert.equal(sight.phase, 'running');
    }));

  it('loses its Job at once where it had ended by itself', () =>
    withProcesses({ invocation: async ({ log }) => (await log('up'), 3) }, async (processes) => {
      await processes.run(leaveOnLog());
      while (running(processes) > 0) await new Promise((go) => setTimeout(go, 20));
      assert.deepEqual(await release(processes), []);
      assert.deepEqual([verbs(processes, 'delete', 'pods'), verbs(processes, 'delete', 'jobs')], [0, 1]);
    }));
});
