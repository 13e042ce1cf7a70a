import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { ContainerExit } from '../../src/driver/sandbox/api-server/container-runtime.js';
import type { Pod } from '../../src/driver/sandbox/api-server/pod-objects.js';
import { evictPod } from '../helpers/api-server-jobs.js';
import type { ContainerScript, TestApiServer } from '../helpers/api-server.js';
import { runOnApiServer } from '../helpers/kubernetes-run.js';
import { digests, MiB, textOf, wanted } from './stage.js';

const FILES = { report: textOf('report', 300_000), state: 'half\n' };

/** Writes the files, then ends as told. */
const endsWith =
  (end: number | ContainerExit): ContainerScript =>
  async ({ write, log }) => {
    for (const [name, text] of Object.entries(FILES)) write(`/cnab/app/outputs/${name}`, text);
    await log('done');
    return end;
  };

const untilTerminated: ContainerScript = async ({ write, terminated }) => {
  for (const [name, text] of Object.entries(FILES)) write(`/cnab/app/outputs/${name}`, text);
  await terminated;
  return 7;
};

/** The run's pod, as soon as it is as wanted. */
async function podWhen(server: TestApiServer, isWanted: (pod: Pod) => boolean): Promise<Pod> {
  for (;;) {
    const pod = server.cluster.store.list('pods').find(isWanted);
    if (pod !== undefined) return pod;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

const isRunning = ({ status }: Pod): boolean => status.containerStatuses?.[0]?.state.running !== undefined;
const hasEnded = ({ status }: Pod): boolean => status.containerStatuses?.[0]?.state.terminated !== undefined;

describe('a bundle or pod that ends badly', () => {
  for (const [what, end, reason] of [
    ['an exit code of 3', 3, /exit code 3/],
    ['being killed for want of memory', { exitCode: 137, reason: 'OOMKilled' }, /memory/],
    ['SIGKILL', { exitCode: 137, signal: 'SIGKILL' }, /137/],
  ] satisfies [string, number | ContainerExit, RegExp][]) {
    it(`scenario 13: after ${what} its outputs are collected all the same, and its own code is told`, async () => {
      const run = await runOnApiServer({
        operation: { outputs: wanted('report', 'state') },
        invocation: endsWith(end),
      });
      const { result } = run;
      assert.deepEqual(digests(run.outputs), digests(FILES));
      assert.deepEqual(
        [result.status, result.ran, result.exitCode],
        ['failed', 'yes', typeof end === 'number' ? end : end.exitCode],
      );
      assert.match(result.error?.message ?? '', reason);
      assert.equal(result.error?.code, 'bundle-failed');
      assert.deepEqual(run.left.jobs, []);
    });
  }

  it("scenario 17: a pod that is evicted ends with the kubelet's reason, and never as a success", async () => {
    const reason = 'Usage of EmptyDir volume "outputs" exceeds the limit "1Gi". ';
    const run = await runOnApiServer({
      operation: { outputs: wanted('report', 'state') },
      invocation: untilTerminated,
      meanwhile: async (server) => evictPod(server, await podWhen(server, isRunning), reason),
    });
    assert.notEqual(run.result.status, 'succeeded');
    assert.match(run.result.error?.message ?? '', /exceeds the limit/);
  });

  it('scenario 17: of a pod that is evicted while outputs come, what had come whole is kept, and the rest is named', async () => {
    let server: TestApiServer | undefined;
    let isEvicted = false;
    const run = await runOnApiServer({
      operation: { outputs: wanted('small', 'large') },
      faults: (faults) => {
        // The log has the first file and not all of the second one, however far the sidecar comes until it is killed: what
        // stalls at first ends there when it is read again.
        const log = { resource: 'pods/log', container: 'outputs' };
        faults.body({ ...log, times: 1 }, { afterBytes: 1_700_000, then: 'stall' });
        faults.body(log, { afterBytes: 1_700_000, then: 'end' });
      },
      io: {
        onProgress: ({ receivedBytes = 0 }) => {
          if (receivedBytes <= 1000 || isEvicted || server === undefined) return;
          isEvicted = true;
          const [pod] = server.cluster.store.list('pods');
          if (pod !== undefined) evictPod(server, pod);
        },
      },
      invocation: ({ write }) => {
        write('/cnab/app/outputs/small', 'x'.repeat(1000));
        write('/cnab/app/outputs/large', textOf('large', 3 * MiB));
        return 0;
      },
      meanwhile: (given) => Promise.resolve(void (server = given)),
    });
    assert.ok(isEvicted);
    assert.equal(run.outputs['small'], 'x'.repeat(1000));
    assert.deepEqual(
      run.result.problems.map(({ name, kind }) => [name, kind]),
      [['large', 'lost']],
    );
    assert.equal(run.result.error?.code === undefined, false, 'it is no plain success');
  });

  it('scenario 17: a Job that somebody has deleted ends the run with one error, and it does not hang', async () => {
    const run = await runOnApiServer({
      operation: { outputs: wanted('report', 'state') },
      invocation: untilTerminated,
      meanwhile: async (server) => {
        const pod = await podWhen(server, isRunning);
        const path = `/apis/batch/v1/namespaces/default/jobs/${pod.metadata.labels?.['batch.kubernetes.io/job-name']}`;
        const answer = await server.request('DELETE', path, { propagationPolicy: 'Background' });
        assert.equal(answer.status, 200, answer.text);
      },
    });
    assert.deepEqual([run.result.status, run.result.ran, run.result.exitCode], ['failed', 'yes', 7]);
    assert.deepEqual(digests(run.outputs), digests(FILES));
    assert.ok(run.result.error);
  });

  it('scenario 21: a second pod of the Job changes nothing: outputs, log and verdict are those of the first', async () => {
    let starts = 0;
    const run = await runOnApiServer({
      operation: { outputs: wanted('report', 'state') },
      invocation: async ({ write, log, sleep }) => {
        const isFirst = ++starts === 1;
        for (const [name, text] of Object.entries(FILES)) write(`/cnab/app/outputs/${name}`, isFirst ? text : 'second');
        await log(isFirst ? 'from the first' : 'from the second');
        if (isFirst) await sleep(1500);
        return isFirst ? 3 : 0;
      },
      meanwhile: async (server) => {
        const first = await podWhen(server, isRunning);
        // As the Job controller makes it: no API server would take it from a user.
        const metadata = { ...first.metadata, name: 'second', uid: randomUUID() };
        server.cluster.store.create('pods', {
          ...first,
          metadata,
          status: { phase: 'Pending', qosClass: 'Burstable' },
        });
        await podWhen(server, (pod) => pod.metadata.name === 'second' && hasEnded(pod));
      },
    });
    assert.equal(starts, 2, 'the second pod ran');
    assert.deepEqual([run.result.status, run.result.exitCode, digests(run.outputs)], ['failed', 3, digests(FILES)]);
    assert.equal(run.log, 'from the first\n');
    assert.notEqual(run.states.at(-1)?.pod, 'second');
  });
});
