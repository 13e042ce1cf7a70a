import assert from 'node:assert/strict';
import type { Pod } from '../../../../src/driver/sandbox/api-server/pod-objects.js';
import {
  ScriptedRuntime,
  withApiServer,
  type ContainerScript,
  type TestApiServer,
} from '../../../helpers/api-server.js';
import {
  createJob,
  evictPod,
  eventsAbout,
  isFinished,
  jobWhen,
  podsOf,
  podWhen,
  readLog,
  recordPods,
  stateOf,
} from '../../../helpers/api-server-jobs.js';
import { ManualClock } from '../../../helpers/manual-clock.js';

/** Ends with a code of its own when it is asked to. */
const obedient: ContainerScript = async ({ terminated }) => {
  await terminated;
  return 5;
};
const deaf: ContainerScript = ({ killed }) =>
  new Promise((resolve) => killed.addEventListener('abort', () => resolve(0), { once: true }));
const dumps: ContainerScript = async ({ terminated, log }) => {
  await terminated;
  await log('dump');
  return 0;
};

const isRunning = (pod: Pod): boolean => stateOf(pod, 'invocation').running !== undefined;
const podPath = (pod: Pod): string => `/api/v1/namespaces/default/pods/${pod.metadata.name}`;
const JOB = '/apis/batch/v1/namespaces/default/jobs/sample';

describe('the end of a pod', () => {
  it('is shown once more with its exit codes before it goes', () =>
    withScripts({ invocation: obedient, outputs: dumps }, async (server) => {
      const job = await createJob(server);
      const pod = await podWhen(server, job, isRunning);
      const changes = recordPods(server);
      const answer = await server.request('DELETE', podPath(pod), {
        gracePeriodSeconds: 30,
        preconditions: { uid: pod.metadata.uid },
      });
      assert.equal(answer.status, 200);
      assert.equal(answer.json<Pod>().metadata.deletionGracePeriodSeconds, 30);
      const done = await jobWhen(server, job, isFinished);
      assert.equal(done.status.failed, 1, 'a deleted pod counts as failed, and no second one is made');
      assert.deepEqual(podsOf(server, job), []);
      assert.deepEqual(
        // The finalizer of the Job goes in between, at any moment.
        [...new Set(changes.filter((line) => !line.includes('running')))],
        [
          'MODIFIED Failed deleted 30, outputs Completed 0, invocation Error 5',
          'MODIFIED Failed deleted 0, outputs Completed 0, invocation Error 5',
          'DELETED Failed deleted 0, outputs Completed 0, invocation Error 5',
        ],
      );
    }));

  it('is refused for another uid than the one that is meant', () =>
    withScripts({ invocation: obedient }, async (server) => {
      const pod = await podWhen(server, await createJob(server), isRunning);
      const answer = await server.request('DELETE', podPath(pod), { preconditions: { uid: 'other' } });
      assert.equal(answer.status, 409);
      assert.match(answer.json<{ message: string }>().message, /^Operation cannot be fulfilled on Pod "sample-.*UID/);
    }));

  it('comes with SIGKILL when the first grace period is over, whatever was asked later', async () => {
    const clock = new ManualClock(0);
    await withScripts(
      { invocation: deaf, outputs: dumps },
      async (server) => {
        const job = await createJob(server);
        const pod = await podWhen(server, job, isRunning);
        await server.request('DELETE', podPath(pod), { gracePeriodSeconds: 30 });
        const shorter = await server.request('DELETE', podPath(pod), { gracePeriodSeconds: 3 });
        assert.equal(shorter.json<Pod>().metadata.deletionGracePeriodSeconds, 3);
        assert.ok(isRunning(await podWhen(server, job)));
        assert.ok(!clock.asked.includes(3000));
        const final = podWhen(server, job, (now) => now.status.phase === 'Failed');
        await clock.elapse(30_000);
        assert.equal(stateOf(await final, 'invocation').terminated?.exitCode, 137);
        // Nothing of the grace period was left for the sidecar: it gets the least there is, which is enough.
        assert.equal(stateOf(await final, 'outputs').terminated?.exitCode, 0);
        assert.ok(clock.asked.includes(2000));
      },
      clock,
    );
  });

  it('lets a sidecar that dumps have the grace period of the pod, and a deletion changes nothing', async () => {
    const clock = new ManualClock(0);
    await withScripts(
      { invocation: () => 3, outputs: deaf },
      async (server) => {
        const job = await createJob(server);
        const pod = await podWhen(server, job, (now) => stateOf(now, 'invocation').terminated !== undefined);
        assert.equal(pod.status.phase, 'Running');
        await server.request('DELETE', podPath(pod), { gracePeriodSeconds: 1 });
        assert.ok(stateOf(await podWhen(server, job), 'outputs').running);
        const final = podWhen(server, job, (now) => stateOf(now, 'outputs').terminated !== undefined);
        await clock.elapse(600_000);
        assert.equal(stateOf(await final, 'outputs').terminated?.exitCode, 137);
        await jobWhen(server, job, isFinished);
      },
      clock,
    );
  });

  it('takes an object away at once when it is forced, and the containers all the same', () =>
    withScripts({ invocation: obedient, outputs: dumps }, async (server) => {
      const pod = await podWhen(server, await createJob(server), isRunning);
      const runtime = server.cluster.kubelet.worker(pod.metadata.uid);
      await server.request('DELETE', podPath(pod), { gracePeriodSeconds: 0 });
      await runtime?.done;
      await server.request('DELETE', `${JOB}?propagationPolicy=Background`);
      await server.idle();
    }));

  it('follows from the end of its Job in the background', () =>
    withScripts({ invocation: obedient, outputs: dumps }, async (server) => {
      await podWhen(server, await createJob(server), isRunning);
      await server.request('POST', '/api/v1/namespaces/default/secrets', {
        metadata: { name: 'owned', ownerReferences: [ownerOf(server)] },
      });
      const answer = await server.request('DELETE', `${JOB}?propagationPolicy=Background`);
      assert.equal(answer.json()['status'], 'Success');
      assert.equal((await server.request('GET', JOB)).status, 404);
      assert.equal((await server.request('GET', '/api/v1/namespaces/default/secrets/owned')).status, 404);
      await server.idle();
    }));

  it('comes before the end of its Job in the foreground', () =>
    withScripts({ invocation: obedient, outputs: dumps }, async (server) => {
      const job = await createJob(server);
      await podWhen(server, job, isRunning);
      const order: string[] = [];
      server.cluster.store.listen(({ type, resource }) => type === 'DELETED' && order.push(resource));
      const answer = await server.request('DELETE', JOB, { propagationPolicy: 'Foreground' });
      assert.deepEqual(answer.json<Pod>().metadata.finalizers, ['foregroundDeletion']);
      await server.idle();
      assert.deepEqual(order, ['pods', 'jobs']);
    }));

  it('does not follow from a deletion that names no policy', () =>
    withScripts({ invocation: obedient, outputs: dumps }, async (server) => {
      const job = await createJob(server);
      const pod = await podWhen(server, job, isRunning);
      const answer = await server.request('DELETE', JOB);
      assert.match(answer.headers.get('warning') ?? '', /^299 - "child pods are preserved by default/);
      assert.equal((await server.request('GET', JOB)).status, 404);
      const orphan = (await server.request('GET', podPath(pod))).json<Pod>();
      assert.deepEqual(orphan.metadata.ownerReferences, []);
      await server.request('DELETE', podPath(pod));
      await server.idle();
    }));

  it('leaves no exit code and no log after an eviction', () =>
    withScripts({ invocation: obedient }, async (server) => {
      const job = await createJob(server);
      const pod = await podWhen(server, job, isRunning);
      evictPod(server, pod, 'The node was low on resource: ephemeral-storage.');
      await jobWhen(server, job, isFinished);
      const evicted = await podWhen(server, job);
      assert.equal(evicted.status.reason, 'Evicted');
      assert.equal(stateOf(evicted, 'invocation').terminated?.reason, 'ContainerStatusUnknown');
      const log = await readLog(server, evicted, 'invocation');
      assert.equal(log.status, 400);
      assert.match(log.text, /is terminated/);
    }));

  it('says that the kernel killed a container that had too much memory', () =>
    withScripts({ invocation: () => ({ exitCode: 137, reason: 'OOMKilled' }) }, async (server) => {
      const job = await createJob(server);
      await jobWhen(server, job, isFinished);
      assert.equal(stateOf(await podWhen(server, job), 'invocation').terminated?.reason, 'OOMKilled');
    }));

  it('never comes while a container that somebody injected goes on', () =>
    withScripts({ invocation: () => 0, proxy: deaf, outputs: dumps }, async (server) => {
      server.faults.injectContainer({ name: 'proxy', image: 'proxy:1' });
      const job = await createJob(server);
      const pod = await podWhen(server, job, (now) => stateOf(now, 'invocation').terminated !== undefined);
      assert.ok(stateOf(pod, 'outputs').running);
      assert.ok(!eventsAbout(server, 'sample').some(({ reason }) => reason === 'Killing'));
    }));
});

function ownerOf(server: TestApiServer): object {
  const uid = server.cluster.store.get('jobs', 'default', 'sample')?.metadata.uid;
  return { apiVersion: 'batch/v1', kind: 'Job', name: 'sample', uid };
}

function withScripts(
  scripts: Readonly<Record<string, ContainerScript>>,
  act: (server: TestApiServer) => Promise<void>,
  clock?: ManualClock,
): Promise<void> {
  return withApiServer({ runtime: new ScriptedRuntime({ scripts }), ...(clock ? { clock } : {}) }, act);
}
