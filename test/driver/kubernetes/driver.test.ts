import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import type { RunState } from '../../../src/driver/driver.js';
import { ProcessRuntime, ScriptedRuntime, withApiServer } from '../../helpers/api-server.js';
import { runOn, runOnApiServer, testDriver } from '../../helpers/kubernetes-run.js';
import { inputFile, operation, RUN_ID } from '../../helpers/operation.js';
import { withFolder } from '../../helpers/staging.js';

const output = (name: string) => ({ name, path: `/cnab/app/outputs/${name}`, sensitive: false });

describe('a run as a Job', () => {
  it('brings outputs and log back and leaves nothing behind', async () => {
    const run = await runOnApiServer({
      operation: {
        files: [inputFile('/root/.kube/config', 'kubeconfig')],
        environment: [{ name: 'NAME', value: Buffer.from('a$(HOME)b$$c'), source: 'parameter "name"' }],
      },
      invocation: async (bundle) => {
        await bundle.log(`hello ${bundle.env['NAME']} ${bundle.read('/root/.kube/config').toString()}`);
        bundle.write('/cnab/app/outputs/greeting', 'hi\n');
        return 0;
      },
    });
    const { result } = run;
    assert.deepEqual([result.status, result.ran, result.exitCode, result.error], ['succeeded', 'yes', 0, undefined]);
    assert.deepEqual([run.log, run.outputs], ['hello a$(HOME)b$$c kubeconfig\n', { greeting: 'hi\n' }]);
    assert.deepEqual([result.problems, result.logComplete, result.warnings], [[], true, []]);
    assert.deepEqual(run.left, { jobs: [], pods: [], secrets: [] });
  });

  it('says where it is before anything is made there, again when it is, and when the pod is known', async () => {
    const run = await runOnApiServer({ invocation: () => 0 });
    const job = `cnab-install-app-${RUN_ID.toLowerCase()}`;
    assert.deepEqual(run.states[0], { namespace: 'default', job });
    const [, posted, known] = run.states;
    assert.ok(posted?.jobUid !== undefined && known?.podUid !== undefined && run.states.length === 3);
    assert.deepEqual(posted, { namespace: 'default', job, jobUid: known.jobUid });
    assert.equal(known.job, job);
    const made = run.faults.requests.findIndex(({ verb, resource }) => verb === 'create' && resource === 'jobs');
    const watched = run.faults.requests.findIndex(({ verb, resource }) => verb === 'list' && resource === 'pods');
    assert.ok(watched >= 0 && watched < made, 'the pods are listed before the Job is made');
  });

  it('keeps what a failed bundle wrote, and its exit code', async () => {
    const run = await runOnApiServer({
      operation: { outputs: [output('state'), output('never')] },
      invocation: ({ write }) => {
        write('/cnab/app/outputs/state', 'half');
        return 3;
      },
    });
    const { result } = run;
    assert.deepEqual([result.status, result.ran, result.exitCode], ['failed', 'yes', 3]);
    assert.equal(result.error?.code, 'bundle-failed');
    assert.deepEqual(run.outputs, { state: 'half' });
    assert.deepEqual(result.problems, [{ name: 'never', kind: 'missing', reason: 'was not written' }]);
  });

  it('binary, empty and nested outputs are equal byte by byte, odd names too', async () => {
    const random = randomBytes(300_000);
    const wanted = [
      { name: 'random', path: '/cnab/app/outputs/a/b/random', sensitive: false },
      { name: 'empty', path: '/cnab/app/outputs/empty', sensitive: false },
      { name: 'odd', path: '/cnab/app/outputs/new\nline "$(x)" -', sensitive: false },
    ];
    const run = await runOnApiServer({
      operation: { outputs: wanted },
      invocation: ({ write }) => {
        write('/cnab/app/outputs/a/b/random', random);
        write('/cnab/app/outputs/empty', '');
        write('/cnab/app/outputs/new\nline "$(x)" -', 'odd');
        return 0;
      },
    });
    assert.deepEqual(
      run.result.outputs.map(({ name, size }) => [name, size]),
      [
        ['random', 300_000],
        ['empty', 0],
        ['odd', 3],
      ],
    );
    assert.equal(run.outputs['odd'], 'odd');
  });

  it('an output above what the log takes is a problem of its own, and the others arrive', async () => {
    const run = await runOnApiServer({
      operation: { outputs: [output('large'), output('small')] },
      settings: { maxOutputBytes: 1000 },
      invocation: ({ write }) => {
        write('/cnab/app/outputs/large', 'x'.repeat(1001));
        write('/cnab/app/outputs/small', 'y');
        return 0;
      },
    });
    assert.deepEqual(
      run.result.problems.map(({ name, kind }) => [name, kind]),
      [['large', 'too-large']],
    );
    assert.match(
      run.result.problems[0]?.reason ?? '',
      /over the limit of 1000 bytes for one output: raise it with --max-output-size$/,
    );
    assert.deepEqual([run.result.status, run.outputs], ['succeeded', { small: 'y' }]);
  });

  it("a limit that is the log's own is told as that, not as the one for all outputs", async () => {
    const run = await runOnApiServer({
      settings: { outputsVia: 'log', maxLogOutputsBytes: 4_718_592 },
      operation: { outputs: [output('large'), output('more'), output('small')] },
      invocation: ({ write }) => {
        write('/cnab/app/outputs/large', Buffer.alloc(5 * 1024 ** 2));
        write('/cnab/app/outputs/more', Buffer.alloc(4_718_592));
        write('/cnab/app/outputs/small', 'y');
        return 0;
      },
    });
    const [large, small] = run.result.problems.map(({ reason }) => reason);
    assert.match(
      large ?? '',
      /^has 5 MiB, with which the outputs exceed 4\.5 MiB together: raise it with --max-log-outputs, or .* pods\/exec/,
    );
    assert.match(
      small ?? '',
      /^has 1 bytes, with which the outputs exceed 4\.5 MiB together: raise it with --max-log-outputs/,
    );
  });

  it('a bundle that declares no outputs is not asked for any', async () => {
    const { result } = await runOnApiServer({ operation: { outputs: [] }, invocation: () => 0 });
    assert.deepEqual([result.status, result.outputs, result.problems], ['succeeded', [], []]);
  });

  it('inputs above the size of a Secret arrive whole', async () => {
    const content = randomBytes(2_500_000);
    const run = await runOnApiServer({
      operation: { files: [inputFile('/big', content)] },
      invocation: ({ read }) => (read('/big').equals(content) ? 0 : 1),
    });
    assert.equal(run.result.exitCode, 0);
    const secrets = run.faults.requests.filter(({ verb, resource }) => verb === 'create' && resource === 'secrets');
    assert.equal(secrets.length, 3);
  });

  it('--keep-job keeps the Job', async () => {
    const { left, result } = await runOnApiServer({ settings: { keepJob: true }, invocation: () => 0 });
    assert.equal(result.status, 'succeeded');
    assert.deepEqual([left.jobs.length, left.secrets.length], [1, 1]);
  });

  it('a Job that cannot be removed is named, and the result stands', async () => {
    const { result, released } = await runOnApiServer({
      faults: (faults) => faults.fail({ verb: 'delete', resource: 'jobs' }, 403),
      invocation: () => 0,
    });
    assert.deepEqual([result.status, result.warnings], ['succeeded', []]);
    assert.match(released.join(), /job cnab-install-app-\S+ is left in namespace default.*kubectl delete job/s);
  });

  it('the Job goes when it is released, and not before its record can be on disk', async () => {
    const runtime = new ScriptedRuntime({ otherwise: new ProcessRuntime(), scripts: { invocation: () => 0 } });
    await withApiServer({ runtime }, async (server) => {
      const driver = testDriver(server);
      let state: RunState = {};
      const result = await withFolder((staging) =>
        driver.run(operation(), {
          staging,
          signal: new AbortController().signal,
          onLog: () => undefined,
          onProgress: () => undefined,
          onState: (told) => Promise.resolve(void (state = told)),
        }),
      );
      assert.deepEqual([result.status, server.cluster.store.list('jobs').length], ['succeeded', 1]);
      let answered = false;
      const answer = server.faults.hold({ verb: 'delete', resource: 'jobs' });
      setTimeout(() => ((answered = true), answer()), 100);
      const run = { runId: RUN_ID, state };
      assert.deepEqual([await driver.release(run), answered], [[], true]);
      assert.equal(server.cluster.store.list('jobs').length, 0);
      assert.deepEqual(await driver.release(run), [], 'what is gone is released');
      await driver.close();
    });
  });

  it('two runs in one namespace at the same time do not mix', async () => {
    const runtime = new ScriptedRuntime({
      otherwise: new ProcessRuntime(),
      scripts: {
        invocation: ({ env, log, write }) => {
          write('/cnab/app/outputs/greeting', env['WHO'] ?? '');
          return log(env['WHO'] ?? '').then(() => 0);
        },
      },
    });
    await withApiServer({ runtime }, async (server) => {
      const runs = ['one', 'two'].map((who, index) => {
        const environment = [{ name: 'WHO', value: Buffer.from(who), source: 'who' }];
        return runOn(server, { operation: { runId: RUN_ID.slice(0, -1) + String(index), environment } });
      });
      const [one, two] = await Promise.all(runs);
      assert.deepEqual([one?.outputs, one?.log], [{ greeting: 'one' }, 'one\n']);
      assert.deepEqual([two?.outputs, two?.log], [{ greeting: 'two' }, 'two\n']);
    });
  });

  it('names that a shell drops are warned of', async () => {
    const environment = [{ name: 'my.var', value: Buffer.from('x'), source: 'parameter "v"' }];
    const { result } = await runOnApiServer({ operation: { environment }, invocation: () => 0 });
    assert.match(result.warnings.join(), /parameter "v".*my\.var/);
  });
});
