import assert from 'node:assert/strict';
import { ImageError, StartError } from '../../../src/driver/sandbox/api-server/container-runtime.js';
import { assertNotRun, mustNotRun, runOnApiServer } from '../../helpers/kubernetes-run.js';

describe('a run that does not start', () => {
  it('scenario 18: an image that is not there ends the run at once, and names the image', async () => {
    for (const image of ['example/hello:1.0.0', 'docker.io/library/busybox:1.37.0']) {
      const run = await runOnApiServer({
        pull: (asked) => {
          if (asked === image)
            throw new ImageError('ErrImagePull', `failed to resolve reference "${image}": ${image}: not found`);
        },
        invocation: mustNotRun,
      });
      assertNotRun(run, new RegExp(`the image ${image} of .* cannot be pulled: .*not found`));
    }
  });

  it("a pull that may heal and does not ends with the start time-out, in the runtime's words", async () => {
    const run = await runOnApiServer({
      settings: { startTimeoutMs: 6000 },
      pull: (image) => {
        if (image.startsWith('example/'))
          throw new ImageError('ErrImagePull', 'dial tcp: lookup r.example: no such host');
      },
      invocation: mustNotRun,
    });
    assertNotRun(run, /did not start within 6 s: .*no such host/);
  });

  it("scenario 18: a pod that no node takes ends with the start time-out, in the scheduler's words", async () => {
    const run = await runOnApiServer({
      settings: { startTimeoutMs: 6000 },
      faults: (faults) => faults.neverSchedule('0/1 nodes are available: 1 Insufficient memory.'),
      invocation: mustNotRun,
    });
    assertNotRun(run, /did not start within 6 s: .*Insufficient memory/);
  });

  it('a bundle that has started when the start time-out is over goes on, though nothing told of it yet', async () => {
    let release = (): void => undefined;
    let isStopped = false;
    const run = await runOnApiServer({
      settings: { startTimeoutMs: 6000 },
      // What is told of the pod comes late: by the watch, and by the poll only when the run would be given up, with a look of its own.
      faults: (faults) => {
        faults.delayWatch({ resource: 'pods' }, 15_000);
        release = faults.hold({ verb: 'list', resource: 'pods', skip: 1 });
      },
      meanwhile: async ({ faults }) => {
        const lists = (): number =>
          faults.requests.filter(({ verb, resource }) => `${verb} ${resource}` === 'list pods').length;
        while (lists() < 2) await new Promise((go) => setTimeout(go, 10));
        // Where no poll came before it, on a loaded machine, the second one is that look, and there is no third.
        for (let waited = 0; lists() < 3 && waited < 5000; waited += 10) await new Promise((go) => setTimeout(go, 10));
        release();
      },
      invocation: async ({ terminated, sleep }) => {
        const stopped = terminated.then(() => (isStopped = true));
        await Promise.race([stopped, sleep(4000)]);
        return 7;
      },
    });
    assert.deepEqual([run.result.exitCode, run.result.error?.code, isStopped], [7, 'bundle-failed', false]);
    assert.deepEqual(run.left, { jobs: [], pods: [], secrets: [] });
  });

  it('--keep-job keeps no pod, nor a Job without one, that could start when nobody waits for it', async () => {
    const settings = { startTimeoutMs: 1200, keepJob: true };
    const unscheduled = await runOnApiServer({
      settings,
      faults: (faults) => faults.neverSchedule('0/1 nodes are available'),
      invocation: mustNotRun,
    });
    assert.deepEqual([unscheduled.result.ran, unscheduled.left.jobs.length, unscheduled.left.pods], ['no', 1, []]);
    const refused = await runOnApiServer({
      settings,
      faults: (faults) => faults.denyPods('exceeded quota: q'),
      invocation: mustNotRun,
    });
    assertNotRun(refused, /exceeded quota/);
  });

  it('an image without a run tool did not run', async () => {
    const run = await runOnApiServer({
      invocation: () => {
        throw new StartError(
          'runc create failed: exec: "/cnab/app/run": stat /cnab/app/run: no such file or directory: unknown',
        );
      },
    });
    assertNotRun(run, /the image has no \/cnab\/app\/run/);
  });

  it('a shell image that lacks a tool is told before the bundle runs', async () => {
    const run = await runOnApiServer({
      sidecar: ({ env, log }) => log(`CNABO1 ${env['CNAB_RUN']} 1 fault tool base64 .`).then(() => 1),
      // It fails with the container it runs in.
      hook: () => Promise.resolve(137),
      invocation: mustNotRun,
    });
    assertNotRun(run, /has no usable base64.*--shell-image/);
  });
});
