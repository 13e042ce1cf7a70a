import assert from 'node:assert/strict';
import { ImageError, StartError } from '../../../../src/driver/sandbox/api-server/container-runtime.js';
import { ScriptedRuntime, withApiServer, type ContainerScript } from '../../../helpers/api-server.js';
import {
  createJob,
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

/** Pause of the kubelet after a sync that failed. */
const RETRY_MS = 12_000;
const SECRETS = '/api/v1/namespaces/default/secrets';

const invocation: ContainerScript = async ({ log }) => {
  await log('ran');
  return 0;
};

describe('the start of a pod', () => {
  it('says why an image cannot be had in an event at once, in the status one sync later', async () => {
    const clock = new ManualClock(0);
    const words = 'failed to resolve reference "example/bundle:1.0.0": not found';
    const pull = (image: string): void => {
      if (image.startsWith('example')) throw new ImageError('ErrImagePull', words);
    };
    await withApiServer({ clock, runtime: new ScriptedRuntime({ scripts: { invocation }, pull }) }, async (server) => {
      const job = await createJob(server);
      const pod = await podWhen(server, job, (now) => stateOf(now, 'outputs').running !== undefined);
      await waitFor(() => eventsAbout(server, 'sample').some(({ message }) => message === 'Error: ErrImagePull'));
      assert.equal(stateOf(podsOf(server, job)[0] ?? pod, 'invocation').waiting?.reason, 'PodInitializing');
      await clock.elapse(RETRY_MS);
      const told = await podWhen(server, job, (now) => stateOf(now, 'invocation').waiting?.reason === 'ErrImagePull');
      assert.equal(stateOf(told, 'invocation').waiting?.message, words);
      assert.match((await readLog(server, pod, 'invocation')).text, /is waiting to start: image can't be pulled/);
      // The first pause of the image back-off (10 s) was over at that sync, the second one (20 s) is not at the next.
      await clock.elapse(RETRY_MS);
      await waitFor(() => eventsAbout(server, 'sample').some(({ message }) => message === 'Error: ImagePullBackOff'));
      await clock.elapse(RETRY_MS);
      const waits = await podWhen(server, job, (now) =>
        (stateOf(now, 'invocation').waiting?.reason ?? '').startsWith('ImagePullBackOff'),
      );
      assert.equal(
        stateOf(waits, 'invocation').waiting?.message,
        `Back-off pulling image "example/bundle:1.0.0": ErrImagePull: ${words}`,
      );
    });
  });

  it('waits for a Secret that the environment names, and goes on when it is there', async () => {
    const clock = new ManualClock(0);
    const seen: string[] = [];
    const scripts = {
      invocation: ({ env }: { env: Readonly<Record<string, string>> }) => {
        seen.push(JSON.stringify(env));
        return 0;
      },
    };
    await withApiServer({ clock, runtime: new ScriptedRuntime({ scripts }) }, async (server) => {
      const env = [
        { name: 'A', valueFrom: { secretKeyRef: { name: 'late', key: 'a' } } },
        { name: 'B', value: '$(A) $$(A) $(C)' },
      ];
      const job = await createJob(server, { invocationFields: { env } });
      await waitFor(() =>
        eventsAbout(server, 'sample').some(({ message }) => message === 'Error: secret "late" not found'),
      );
      await server.request('POST', SECRETS, { metadata: { name: 'late' }, stringData: { a: '$(HOME)' } });
      await clock.elapse(RETRY_MS);
      await jobWhen(server, job, isFinished);
      assert.deepEqual(seen, [JSON.stringify({ A: '$(HOME)', B: '$(HOME) $(A) $(C)' })]);
    });
  });

  it('mounts a Secret that follows its Job at once without a word, and complains about one that does not come', async () => {
    const clock = new ManualClock(0);
    await withApiServer({ clock, runtime: new ScriptedRuntime({ scripts: { invocation } }) }, async (server) => {
      const volumes = [{ name: 'outputs', secret: { secretName: 'later' } }];
      const job = await createJob(server, { pod: { volumes } });
      await podWhen(server, job, (pod) => stateOf(pod, 'outputs').waiting !== undefined);
      await server.request('POST', SECRETS, { metadata: { name: 'later' } });
      await jobWhen(server, job, isFinished);
      assert.equal(eventsAbout(server, 'sample').filter(({ reason }) => reason === 'FailedMount').length, 0);

      await createJob(server, {
        name: 'second',
        pod: { volumes: [{ name: 'outputs', secret: { secretName: 'never' } }] },
      });
      await clock.elapse(250);
      await waitFor(() => eventsAbout(server, 'second').some(({ reason }) => reason === 'FailedMount'));
      const [event] = eventsAbout(server, 'second').filter(({ reason }) => reason === 'FailedMount');
      assert.equal(event?.message, 'MountVolume.SetUp failed for volume "outputs" : secret "never" not found');
    });
  });

  it('ends a container that cannot be started with StartError 128', async () => {
    const scripts = {
      invocation: () => {
        throw new StartError('exec: "/nope": no such file or directory');
      },
    };
    await withApiServer({ runtime: new ScriptedRuntime({ scripts }) }, async (server) => {
      const job = await createJob(server);
      const done = await jobWhen(server, job, isFinished);
      assert.equal(done.status.failed, 1);
      const { terminated } = stateOf(await podWhen(server, job), 'invocation');
      assert.equal(terminated?.reason, 'StartError');
      assert.equal(terminated.exitCode, 128);
      assert.equal(terminated.startedAt, '1970-01-01T00:00:00Z');
    });
  });

  it('starts the invocation only when the postStart hook of the sidecar has ended', async () => {
    let open = (): void => undefined;
    const gate = new Promise<number>((resolve) => (open = () => resolve(0)));
    const order: string[] = [];
    const scripts = {
      invocation: () => {
        order.push('invocation');
        return 0;
      },
    };
    const exec = async (): Promise<number> => {
      const code = await gate;
      order.push('hook');
      return code;
    };
    const lifecycle = { postStart: { exec: { command: ['wait'] } } };
    await withApiServer({ runtime: new ScriptedRuntime({ scripts, exec }) }, async (server) => {
      const job = await createJob(server, { sidecarFields: { lifecycle } });
      await waitFor(() => eventsAbout(server, 'sample').some(({ reason }) => reason === 'Started'));
      const waiting = await podWhen(server, job);
      assert.equal(stateOf(waiting, 'outputs').waiting?.reason, 'PodInitializing');
      assert.equal((await readLog(server, waiting, 'outputs')).status, 400);
      open();
      await jobWhen(server, job, isFinished);
      assert.deepEqual(order, ['hook', 'invocation']);
    });
  });

  it('kills a sidecar whose postStart hook fails, and starts it again', async () => {
    let hooks = 0;
    const scripts = { invocation, outputs: untilTerminated(7) };
    const exec = (): number => (++hooks === 1 ? 3 : 0);
    const lifecycle = { postStart: { exec: { command: ['sh', '-c', 'gate'] } } };
    await withApiServer({ runtime: new ScriptedRuntime({ scripts, exec }) }, async (server) => {
      const changes = recordPods(server);
      const job = await createJob(server, { sidecarFields: { lifecycle } });
      const done = await jobWhen(server, job, isFinished);
      assert.equal(done.status.succeeded, 1);
      assert.ok(changes.includes('MODIFIED Pending, outputs PostStartHookError, invocation PodInitializing'));
      const reasons = eventsAbout(server, 'sample').map(({ reason }) => reason);
      assert.ok(reasons.includes('FailedPostStartHook'));
    });
  });

  it('starts a crashed sidecar at once, then after 10 s, and keeps one log before the present one', async () => {
    const clock = new ManualClock(0);
    let starts = 0;
    let finish = (): void => undefined;
    const finished = new Promise<void>((resolve) => (finish = resolve));
    const scripts: Record<string, ContainerScript> = {
      outputs: async ({ log, terminated, spec }) => {
        starts += 1;
        await log(`start ${spec.attempt}`);
        if (starts < 3) return 4;
        await terminated;
        return 0;
      },
      invocation: async () => {
        await finished;
        return 0;
      },
    };
    await withApiServer({ clock, runtime: new ScriptedRuntime({ scripts }) }, async (server) => {
      const job = await createJob(server);
      await waitFor(() => eventsAbout(server, 'sample').some(({ reason }) => reason === 'BackOff'));
      assert.equal(starts, 2);
      const pod = await podWhen(server, job, (now) => now.status.initContainerStatuses?.[0]?.restartCount === 1);
      assert.equal((await readLog(server, pod, 'outputs')).text, 'start 1\n');
      assert.equal((await readLog(server, pod, 'outputs', 'previous=true')).text, 'start 0\n');
      await clock.elapse(RETRY_MS);
      await podWhen(server, job, (now) => stateOf(now, 'outputs').running !== undefined);
      finish();
      await jobWhen(server, job, isFinished);
      assert.equal(starts, 3);
    });
  });
});

function untilTerminated(code: number): ContainerScript {
  return async ({ terminated }) => {
    await terminated;
    return code;
  };
}

async function waitFor(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setImmediate(resolve));
}
