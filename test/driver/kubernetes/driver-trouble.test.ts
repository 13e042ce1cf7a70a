import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { CnabError } from '../../../src/errors.js';
import type { Pod } from '../../../src/driver/sandbox/api-server/pod-objects.js';
import { evictPod } from '../../helpers/api-server-jobs.js';
import type { ContainerScript, TestApiServer } from '../../helpers/api-server.js';
import { assertNotRun, mustNotRun, runOnApiServer, type FinishedRun } from '../../helpers/kubernetes-run.js';
import { ManualClock } from '../../helpers/manual-clock.js';

const greeting: ContainerScript = ({ write }) => {
  write('/cnab/app/outputs/greeting', 'hi');
  return 0;
};

/** Resolves when the invocation runs. */
async function runningPod(server: TestApiServer): Promise<Pod> {
  for (;;) {
    const pod = server.cluster.store.list('pods').find(({ status }) => status.containerStatuses?.[0]?.state.running);
    if (pod !== undefined) return pod;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
const untilTerminated: ContainerScript = async ({ terminated }) => {
  await terminated;
  return 7;
};

const deletions = ({ faults }: FinishedRun): readonly string[] =>
  faults.requests.flatMap(({ verb, resource }) => (verb === 'delete' ? [resource ?? ''] : []));

describe('a run in trouble', () => {
  it('scenario 16: an injected container that never ends costs seconds, not the outputs', async () => {
    const run = await runOnApiServer({
      faults: (faults) =>
        faults.injectContainer({ name: 'proxy', image: 'example/proxy:1', command: ['sleep', '600'] }),
      invocation: greeting,
    });
    assert.deepEqual([run.result.status, run.outputs], ['succeeded', { greeting: 'hi' }]);
    assert.deepEqual(run.left.jobs, []);
    assert.deepEqual(deletions(run), ['pods', 'jobs'], 'by the Job alone the pod gets its hold time');
  });

  it('a sidecar that would send again what has come does not keep the pod', async () => {
    const run = await runOnApiServer({
      settings: { outputsVia: 'log' },
      invocation: ({ write }) => (write('/cnab/app/outputs/greeting', 'x'.repeat(5 * 1024 * 1024)), 0),
    });
    assert.deepEqual([run.result.status, run.outputs['greeting']?.length], ['succeeded', 5 * 1024 * 1024]);
    assert.deepEqual(deletions(run), ['pods', 'jobs']);
  });

  it('a pod that ends by itself goes with its Job', async () => {
    const run = await runOnApiServer({ invocation: ({ write }) => (write('/cnab/app/outputs/greeting', 'hi'), 0) });
    assert.deepEqual(deletions(run), ['jobs']);
  });

  it('a sidecar that dies before it has sent anything is told at once, with the reason', async () => {
    const { result } = await runOnApiServer({
      sidecar: async ({ env, log, terminated }) => {
        await log(`CNABO1 ${env['CNAB_RUN']} 1 hello 1 .`);
        await terminated;
        return { exitCode: 137, reason: 'OOMKilled' };
      },
      invocation: () => 0,
    });
    assert.deepEqual([result.status, result.exitCode, result.error?.code], ['succeeded', 0, 'outputs-incomplete']);
    assert.match(result.error?.message ?? '', /sidecar was killed for want of memory/);
    assert.deepEqual(
      result.problems.map(({ name, kind }) => [name, kind]),
      [['greeting', 'lost']],
    );
  });

  it('a failed bundle stays failed when its outputs are lost too', async () => {
    const { result } = await runOnApiServer({
      sidecar: async ({ terminated }) => (await terminated, 1),
      invocation: () => 4,
    });
    assert.deepEqual([result.status, result.exitCode, result.error?.code], ['failed', 4, 'bundle-failed']);
    assert.deepEqual(
      result.problems.map(({ kind }) => kind),
      ['lost'],
    );
  });

  for (const fault of [
    { afterBytes: 300, then: 'reset' },
    { afterBytes: 300, then: 'end' },
    { afterBytes: 4000, then: 'repeat', bytes: 900 },
  ] as const) {
    it(`a log that is damaged (${fault.then}) costs no byte`, async () => {
      const lines = Array.from({ length: 400 }, (_, index) => `line ${index}`);
      const run = await runOnApiServer({
        faults: (faults) => {
          for (const container of ['outputs', 'invocation']) {
            faults.body({ resource: 'pods/log', container, times: fault.then === 'repeat' ? 1 : 2 }, fault);
          }
        },
        invocation: async ({ log, write, sleep }) => {
          for (const line of lines) await log(line);
          await sleep(200);
          write('/cnab/app/outputs/greeting', 'x'.repeat(50_000));
          return 0;
        },
      });
      assert.equal(run.outputs['greeting'], 'x'.repeat(50_000));
      if (fault.then !== 'repeat') assert.equal(run.log, lines.map((line) => `${line}\n`).join(''));
    });
  }

  it('a watch that breaks or is refused for a while is made up for', async () => {
    const run = await runOnApiServer({
      faults: (faults) => {
        faults.body({ verb: 'watch', resource: 'pods', times: 1 }, { afterBytes: 700, then: 'reset' });
        faults.fail({ verb: 'watch', resource: 'pods', skip: 1, times: 1 }, 401);
        faults.fail({ verb: 'watch', resource: 'pods', skip: 2, times: 1 }, 410);
      },
      invocation: greeting,
    });
    assert.deepEqual([run.result.status, run.outputs], ['succeeded', { greeting: 'hi' }]);
  });

  it('a POST whose answer is lost makes no second Job', async () => {
    const run = await runOnApiServer({
      faults: (faults) => faults.reset({ verb: 'create', resource: 'jobs', times: 1 }),
      invocation: greeting,
    });
    assert.equal(run.result.status, 'succeeded');
  });

  it('where it is unknown whether the last Secret was made, and the Job cannot be removed, it may run', async () => {
    const { result } = await runOnApiServer({
      faults: (faults) => {
        faults.reset({ verb: 'create', resource: 'secrets' });
        faults.fail({ verb: 'delete' }, 400, { message: 'no deletion today' });
      },
    });
    assert.deepEqual([result.status, result.ran, result.error?.code], ['unknown', 'unknown', 'contact-lost']);
    assert.match(result.error?.details.join() ?? '', /is left in namespace default.*no deletion today/);
  });

  it('a Job that someone deletes stops the bundle, whose exit code and outputs are kept', async () => {
    const run = await runOnApiServer({
      invocation: async (bundle) => {
        const code = await untilTerminated(bundle);
        bundle.write('/cnab/app/outputs/greeting', 'late');
        return code;
      },
      meanwhile: async (server) => {
        const pod = await runningPod(server);
        const job = pod.metadata.labels?.['batch.kubernetes.io/job-name'] ?? '';
        const answer = await server.request('DELETE', `/apis/batch/v1/namespaces/default/jobs/${job}`, {
          propagationPolicy: 'Background',
        });
        assert.equal(answer.status, 200);
      },
    });
    assert.deepEqual([run.result.status, run.result.exitCode, run.outputs], ['failed', 7, { greeting: 'late' }]);
    assert.match(run.result.error?.message ?? '', /deleted by someone else/);
  });

  it('an evicted pod has an end that says so, and is never a success', async () => {
    const { result } = await runOnApiServer({
      invocation: untilTerminated,
      meanwhile: async (server) => evictPod(server, await runningPod(server)),
    });
    assert.notEqual(result.status, 'succeeded');
    assert.match(result.error?.message ?? '', /low on resource: memory/);
  });

  it('a cluster that is silent for five minutes leaves the outcome unknown and the Job in place', async () => {
    const run = await runOnApiServer({
      clock: new ManualClock(10_000),
      settings: { startTimeoutMs: 0 },
      faults: (faults) => {
        faults.body({ verb: 'watch', resource: 'pods' }, { afterBytes: 3000, then: 'reset' });
        faults.reset({ verb: 'watch', skip: 1 });
        faults.reset({ verb: 'list', skip: 1 });
      },
      invocation: untilTerminated,
    });
    assert.deepEqual([run.result.status, run.result.error?.code], ['unknown', 'contact-lost']);
    assert.match(run.result.error?.message ?? '', /contact with the cluster was lost.*job cnab-install-app/);
    assert.equal(run.left.jobs.length, 1);
  });

  it('a disk that is full costs the outputs and names itself, and the verdict stands', async () => {
    const { result } = await runOnApiServer({
      invocation: async ({ log }) => {
        await log('hello');
        return 0;
      },
      io: { onLog: () => Promise.reject(new CnabError('unavailable', 'the disk is full')) },
    });
    assert.deepEqual([result.exitCode, result.logComplete], [0, false]);
    assert.match(result.warnings.join(), /the disk is full/);
  });

  it('a staging folder that is not there is told before anything runs', async () => {
    const run = await runOnApiServer({ io: { staging: '/nowhere/at/all' }, invocation: mustNotRun });
    assertNotRun(run, /cannot be stored in \/nowhere\/at\/all/);
  });

  it('outputs that cannot be stored are lost with the reason, the verdict stands, and they stay where they are', async () => {
    let staging = '';
    const { result, left } = await runOnApiServer({
      onStaging: (folder) => (staging = folder),
      invocation: (bundle) => {
        // Writing fails then as it does on a broken disk.
        for (const name of ['0', '0.part']) mkdirSync(join(staging, name));
        return greeting(bundle);
      },
    });
    assert.deepEqual([result.exitCode, result.error?.code], [0, 'outputs-incomplete']);
    assert.deepEqual(
      result.problems.map(({ kind }) => kind),
      ['lost'],
    );
    assert.match(result.warnings.join(), /cannot be stored/);
    assert.deepEqual([result.outstanding, left.jobs.length], [{}, 1]);
  });

  it('a state that cannot be saved before the Job keeps the Job from being made', async () => {
    const { result, faults } = await runOnApiServer({
      io: { onState: () => Promise.reject(new CnabError('unavailable', 'the disk is full')) },
      invocation: greeting,
    });
    assert.deepEqual([result.status, result.ran, result.error?.message], ['failed', 'no', 'the disk is full']);
    assert.ok(!faults.requests.some(({ verb, resource }) => verb === 'create' && resource === 'jobs'));
  });

  it('a state that cannot be saved after the Job was made takes the Job back, because nothing has run', async () => {
    const full = new CnabError('unavailable', 'the disk is full');
    const { result, left } = await runOnApiServer({
      io: { onState: ({ jobUid }) => (jobUid === undefined ? Promise.resolve() : Promise.reject(full)) },
      invocation: mustNotRun,
    });
    assert.deepEqual([result.status, result.ran, result.error?.message], ['failed', 'no', 'the disk is full']);
    assert.deepEqual(left, { jobs: [], pods: [], secrets: [] });
  });

  it('a bug in a callback is not swallowed', async () => {
    await assert.rejects(
      runOnApiServer({
        invocation: async ({ log }) => {
          await log('hello');
          return 0;
        },
        io: {
          onLog: () => {
            throw new TypeError('a bug');
          },
        },
      }),
      /a bug/,
    );
  });

  it('a bug is not swallowed beside a disk that fails', async () => {
    let staging = '';
    const onLog = (): never => {
      throw new TypeError('a bug');
    };
    const running = runOnApiServer({
      onStaging: (folder) => (staging = folder),
      invocation: async (bundle) => {
        for (const name of ['0', '0.part']) mkdirSync(join(staging, name));
        await bundle.log('hello');
        return greeting(bundle);
      },
      io: { onLog },
    });
    await assert.rejects(running, /a bug/);
  });
});
