import assert from 'node:assert/strict';
import type { ContainerScript } from '../../helpers/api-server.js';
import { leaveOnLog, withProcesses, type Processes } from '../../helpers/begun-run.js';
import { RUN_ID } from '../../helpers/operation.js';

const never = new AbortController().signal;

/** Says something, and goes on until it may end. */
function waits(): { readonly script: ContainerScript; readonly finish: () => void } {
  let finish = (): void => undefined;
  const finished = new Promise<void>((resolve) => (finish = resolve));
  const script: ContainerScript = async ({ log, terminated }) => {
    await log('up');
    await Promise.race([finished, terminated]);
    return 0;
  };
  return { script, finish };
}

const jobs = ({ server }: Processes): number => server.cluster.store.list('jobs').length;

describe('a Job that was to stay', () => {
  const BEGUN = { settings: { keepJob: true }, takerSettings: {} } as const;

  it('stays for whoever takes the run up, from its own note or from an empty home', async () => {
    for (const noted of [true, false]) {
      const { script, finish } = waits();
      await withProcesses({ invocation: script, ...BEGUN }, async (processes) => {
        const { run, resume, state, withDriver } = processes;
        await run(leaveOnLog());
        assert.equal(state().keepJob, true);
        if (!noted) {
          const [found] = await withDriver((driver) => driver.find('app', never));
          assert.equal(found?.state.keepJob, true);
          const { keepJob: _, ...without } = state();
          processes.setState(without);
        }
        finish();
        const { result, states } = await resume();
        assert.deepEqual([result.status, result.keep], ['succeeded', true]);
        assert.equal(states.at(-1)?.keepJob, true);
        assert.equal(jobs(processes), 1);
      });
    }
  });

  it('stays where whoever takes the run up asks for it, also when that process is killed before it has put all away', async () => {
    const { script, finish } = waits();
    await withProcesses({ invocation: script, takerSettings: { keepJob: true } }, async (processes) => {
      const { run, resume, state, withDriver } = processes;
      await run(leaveOnLog());
      finish();
      const { result } = await resume();
      assert.equal(result.keep, true);
      assert.deepEqual(await withDriver((driver) => driver.release({ runId: RUN_ID, state: state() })), []);
      assert.equal(jobs(processes), 1);
    });
  });

  it('stays when its run is given up: only the run is stopped, and that is seen', async () => {
    const { script } = waits();
    await withProcesses({ invocation: script, ...BEGUN }, async (processes) => {
      const { run, state, withDriver } = processes;
      await run(leaveOnLog());
      assert.deepEqual(await withDriver((driver) => driver.release({ runId: RUN_ID, state: state() })), []);
      assert.equal(jobs(processes), 1);
      const { podUid: _, pod: __, ...without } = state();
      for (const known of [state(), without]) {
        const sight = await withDriver((driver) => driver.look({ runId: RUN_ID, state: known }, never));
        assert.equal(sight.phase, 'ended', JSON.stringify(known));
      }
    });
  });
});
