import assert from 'node:assert/strict';
import type { RunState } from '../../../src/driver/driver.js';
import type { ContainerScript } from '../../helpers/api-server.js';
import { leaveOnLog, withProcesses, type Processes } from '../../helpers/begun-run.js';
import { until } from '../../helpers/until.js';

const sigint = { kind: 'signal', signal: 'SIGINT' } as const;

const untilStopped: ContainerScript = async ({ log, terminated, write }) => {
  await log('up');
  await terminated;
  await log('down');
  write('/cnab/app/outputs/greeting', 'saved');
  return 5;
};

/** Takes a while to end, so that others can come in between. */
const slowly: ContainerScript = async (bundle) => {
  await bundle.log('up');
  await bundle.terminated;
  await bundle.sleep(1500);
  return untilStopped({ ...bundle, log: (text) => (text === 'up' ? Promise.resolve() : bundle.log(text)) });
};

async function deleteJob({ server, state }: Processes): Promise<void> {
  const path = `/apis/batch/v1/namespaces/default/jobs/${state().job}`;
  const answer = await server.request('DELETE', path, { propagationPolicy: 'Background' });
  assert.equal(answer.status, 200);
}

describe('a stop', () => {
  it('is saved before the cluster is told', () =>
    withProcesses({ invocation: untilStopped }, async ({ run, server }) => {
      const stop = new AbortController();
      const seen: (RunState & { readonly deletions: number })[] = [];
      await run({
        signal: stop.signal,
        onLog: () => stop.abort(sigint),
        onState: (state) => {
          const deletions = server.faults.requests.filter(({ verb }) => verb === 'delete').length;
          return Promise.resolve(void seen.push({ ...state, deletions }));
        },
      });
      const last = seen.at(-1);
      assert.deepEqual([last?.stop, last?.deletions], [sigint, 0]);
      assert.ok(last?.podUid !== undefined, 'what was known before is kept');
    }));

  it('that was saved and not carried out is completed by whoever takes the run up', () =>
    withProcesses({ invocation: untilStopped }, async ({ run, resume, state }) => {
      await run(leaveOnLog());
      const { result, log, outputs } = await resume({ state: { ...state(), stop: sigint } });
      assert.deepEqual([result.status, result.ran, result.exitCode], ['canceled', 'yes', 5]);
      assert.equal(result.error?.code, 'interrupted');
      assert.deepEqual([log, outputs], ['up\ndown\n', { greeting: 'saved' }]);
    }));

  for (const [whose, given, seconds] of [
    ['that it was begun with', {}, 77],
    ['that is asked for now', { gracePeriodGiven: true }, 9],
  ] as const) {
    it(`that is completed by somebody else gives the run the grace period ${whose}`, () => {
      const seen: unknown[] = [];
      let lookAt = (): void => undefined;
      const invocation: ContainerScript = async ({ log, terminated }) => {
        await log('up');
        await terminated;
        lookAt();
        return 5;
      };
      const parts = {
        invocation,
        settings: { gracePeriodMs: 77_000 },
        takerSettings: { gracePeriodMs: 9000, ...given },
      };
      return withProcesses(parts, async ({ run, resume, state, server }) => {
        lookAt = () => void seen.push(server.cluster.store.list('pods')[0]?.metadata.deletionGracePeriodSeconds);
        await run(leaveOnLog());
        const { result } = await resume({ state: { ...state(), stop: sigint } });
        assert.deepEqual([result.status, result.exitCode, seen], ['canceled', 5, [seconds]]);
      });
    });
  }

  it('that a process was killed in is completed, with log, outputs and exit code', () =>
    withProcesses({ invocation: slowly }, async ({ run, resume, state, server }) => {
      await run(leaveOnLog());
      // What that process had done: the pod is on its way out.
      const { pod } = state();
      await server.request('DELETE', `/api/v1/namespaces/default/pods/${pod}`, { gracePeriodSeconds: 30 });
      const { result, log, outputs } = await resume({ state: { ...state(), stop: { kind: 'timeout' } } });
      assert.deepEqual([result.status, result.exitCode, result.error?.code], ['failed', 5, 'timed-out']);
      assert.deepEqual([log, outputs], ['up\ndown\n', { greeting: 'saved' }]);
    }));

  it('that was saved too late changes nothing of a run that had ended by itself', () =>
    withProcesses({ invocation: async ({ log }) => (await log('up'), 0) }, async ({ run, resume, state, server }) => {
      await run(leaveOnLog());
      await until('the end of the pod', () => server.cluster.store.list('pods')[0]?.status.phase === 'Succeeded');
      const { result } = await resume({ state: { ...state(), stop: sigint } });
      assert.deepEqual([result.status, result.exitCode], ['succeeded', 0]);
    }));

  it('whose pod and Job are gone is told as one, and the exit code is not known', () =>
    withProcesses({ invocation: untilStopped }, async (processes) => {
      const { run, resume, state, server } = processes;
      await run(leaveOnLog());
      await deleteJob(processes);
      await until('the pod is gone', () => server.cluster.store.list('pods').length === 0);
      const { result } = await resume({ state: { ...state(), stop: sigint } });
      assert.deepEqual([result.status, result.ran, result.exitCode], ['canceled', 'unknown', undefined]);
      assert.equal(result.logComplete, false);
    }));

  it('before the Job was posted leaves nothing to stop', () =>
    withProcesses({}, async ({ resume }) => {
      const { result } = await resume({ state: { namespace: 'default', job: 'j', stop: sigint } });
      assert.deepEqual([result.status, result.ran, result.error?.code], ['canceled', 'no', 'interrupted']);
    }));

  it('of the process that takes the run up is one like any other', () =>
    withProcesses({ invocation: untilStopped }, async ({ run, resume, state }) => {
      await run(leaveOnLog());
      const { result, states } = await resume({}, { signal: AbortSignal.abort(sigint) });
      assert.deepEqual([result.status, result.exitCode], ['canceled', 5]);
      assert.deepEqual([states.at(-1)?.stop, state().stop], [sigint, sigint]);
    }));
});

describe('a run whose pod is gone', () => {
  it('with its Job has an unknown end', () =>
    withProcesses({ invocation: untilStopped }, async (processes) => {
      const { run, resume, server } = processes;
      await run(leaveOnLog());
      await deleteJob(processes);
      await until('the pod is gone', () => server.cluster.store.list('pods').length === 0);
      const { result } = await resume();
      assert.deepEqual([result.status, result.ran, result.error?.code], ['unknown', 'unknown', 'contact-lost']);
    }));

  it('with its Job only in a while has the end that its pod tells', () =>
    withProcesses({ invocation: slowly }, async (processes) => {
      await processes.run(leaveOnLog());
      await deleteJob(processes);
      const { result, outputs } = await processes.resume();
      assert.deepEqual([result.status, result.exitCode, outputs], ['failed', 5, { greeting: 'saved' }]);
    }));

  it('while its Job is there has an unknown end, at once, and is not called one that never started', () =>
    withProcesses({ invocation: untilStopped }, async ({ run, resume, state, server }) => {
      await run(leaveOnLog());
      await server.request('DELETE', `/api/v1/namespaces/default/pods/${state().pod}`, { gracePeriodSeconds: 1 });
      await until('the pod is gone', () => server.cluster.store.list('pods').length === 0);
      const { namespace = '', job = '' } = state();
      // As a process knows it that was killed before it saw the pod.
      const { result } = await resume({ state: { namespace, job } });
      assert.deepEqual([result.status, result.ran, result.error?.code], ['unknown', 'unknown', 'contact-lost']);
    }));
});
