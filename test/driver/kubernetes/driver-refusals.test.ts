import assert from 'node:assert/strict';
import { load } from 'js-yaml';
import { assertNotRun, mustNotRun, runOnApiServer, type FinishedRun } from '../../helpers/kubernetes-run.js';
import { inputFile } from '../../helpers/operation.js';

const created = ({ faults }: FinishedRun, resource: string): number =>
  faults.requests.filter((request) => request.verb === 'create' && request.resource === resource).length;

describe('a run that is refused', () => {
  it('is refused before anything is created where inputs or outputs cannot be carried', async () => {
    for (const operation of [
      { files: [inputFile('/proc/x', '')] },
      { environment: [{ name: 'A', value: Uint8Array.of(0xff), source: 'credential "a"' }] },
      { outputs: [{ name: 'key', path: '/cnab/app/outputs/key', sensitive: true }] },
      { image: { image: 'a', contentDigest: 'no digest' } },
    ]) {
      const run = await runOnApiServer({ operation, settings: { outputsVia: 'log' }, invocation: mustNotRun });
      assertNotRun(run, /./, 'invalid');
      assert.deepEqual(run.faults.requests, []);
    }
  });

  const key = [{ name: 'key', path: '/cnab/app/outputs/key', sensitive: true }];
  for (const verb of ['get', 'create'] as const) {
    it(`sensitive outputs of who may not ${verb} pods/exec are refused by name before anything is created`, async () => {
      for (const hidden of [false, true]) {
        const run = await runOnApiServer({
          operation: { outputs: key },
          faults: (faults) => {
            faults.forbid({ verb, resource: 'pods/exec' });
            if (hidden) faults.hideRules();
          },
          invocation: mustNotRun,
        });
        assertNotRun(run, /^the sensitive output "key" cannot be collected: .* may not get and create pods\/exec/);
        assert.match(run.result.error?.suggestions.join() ?? '', /pods\/exec.*--sensitive-outputs log/);
        assert.deepEqual([created(run, 'jobs'), created(run, 'secrets')], [0, 0]);
      }
    });
  }

  it('who may not exec is told so where only exec was to be used, and else needs it not', async () => {
    const forbidden = (settings: object) =>
      runOnApiServer({
        settings,
        faults: (faults) => faults.forbid({ resource: 'pods/exec' }),
        invocation: ({ write }) => (write('/cnab/app/outputs/greeting', 'hello'), 0),
      });
    const refused = await forbidden({ outputsVia: 'exec' });
    assertNotRun(refused, /may not get and create pods\/exec in namespace default, and --outputs-via exec needs it/);
    assert.deepEqual((await forbidden({})).outputs, { greeting: 'hello' });
  });

  it('sensitive outputs travel in the log where the user says so', async () => {
    const allowed = await runOnApiServer({
      operation: { outputs: key },
      settings: { sensitiveOutputs: 'log', outputsVia: 'log' },
      invocation: ({ write }) => (write('/cnab/app/outputs/key', 'k'), 0),
    });
    assert.deepEqual(allowed.outputs, { key: 'k' });
  });

  it('a cluster older than 1.29 is refused before anything is created', async () => {
    const run = await runOnApiServer({
      server: { version: { major: '1', minor: '28+', gitVersion: 'v1.28.9' } },
      invocation: mustNotRun,
    });
    assertNotRun(run, /v1\.28\.9.*1\.29/);
    assert.equal(created(run, 'jobs'), 0);
  });

  it("scenario 19: a server that drops the sidecar's restartPolicy keeps no Job and gets no Secret", async () => {
    const run = await runOnApiServer({
      faults: (faults) => faults.dropField('jobs', 'initContainers', 'restartPolicy'),
      invocation: mustNotRun,
    });
    assertNotRun(run, /does not know native sidecars.* needs Kubernetes 1\.29 or later/);
    assert.deepEqual([created(run, 'jobs'), created(run, 'secrets')], [1, 0]);
  });

  it('a server that refuses the hook of a sidecar it does not know is told the same, not in its own words', async () => {
    const run = await runOnApiServer({
      faults: (faults) =>
        faults.fail({ verb: 'create', resource: 'jobs' }, 422, {
          reason: 'Invalid',
          message:
            'Job.batch "x" is invalid: spec.template.spec.initContainers[0].lifecycle: Forbidden: may not be set for init containers without restartPolicy=Always',
        }),
      invocation: mustNotRun,
    });
    assertNotRun(run, /^the API server does not know native sidecars.* needs Kubernetes 1\.29 or later/);
  });

  it('a namespace that is not there is refused, or made where that was asked for', async () => {
    assertNotRun(
      await runOnApiServer({ settings: { namespace: 'nowhere' }, invocation: mustNotRun }),
      /no namespace nowhere/,
    );
    const run = await runOnApiServer({
      settings: { namespace: 'nowhere', createNamespace: true },
      invocation: () => 0,
    });
    assert.deepEqual([run.result.status, created(run, 'namespaces')], ['succeeded', 1]);
  });

  for (const [verb, resource] of [
    ['create', 'jobs'],
    ['get', 'jobs'],
    ['delete', 'jobs'],
    ['create', 'secrets'],
    ['list', 'pods'],
    ['watch', 'pods'],
    ['delete', 'pods'],
    ['get', 'pods/log'],
  ] as const) {
    it(`who may not ${verb} ${resource} is told so, and nothing is left`, async () => {
      const run = await runOnApiServer({
        faults: (faults) => faults.forbid({ verb, resource }),
        invocation: mustNotRun,
      });
      const name = resource === 'jobs' ? 'jobs.batch' : resource;
      assertNotRun(run, new RegExp(`may not ${verb} ${name} in namespace default, .* nothing was run`));
      assert.deepEqual([created(run, 'jobs'), created(run, 'secrets')], [0, 0]);
      const group = resource === 'jobs' ? 'batch' : '';
      assert.deepEqual(run.result.error?.suggestions.slice(0, 4), [
        'A Role in namespace default must allow it, with these rules:',
        `  - apiGroups: ['${group}']`,
        `    resources: [${resource}]`,
        `    verbs: [${verb}]`,
      ]);
    });
  }

  it('who lacks several rights is given one list of rules to paste', async () => {
    const run = await runOnApiServer({
      faults: (faults) => {
        for (const verb of ['create', 'delete'] as const) faults.forbid({ verb, resource: 'jobs' });
        faults.forbid({ verb: 'get', resource: 'pods/log' });
      },
      invocation: mustNotRun,
    });
    assertNotRun(run, /may not create jobs\.batch, delete jobs\.batch, get pods\/log in namespace default/);
    const [sentence = '', ...lines] = run.result.error?.suggestions ?? [];
    assert.match(sentence, /^A Role in namespace default must allow it/);
    assert.deepEqual(load(lines.filter((line) => line.startsWith('  ')).join('\n')), [
      { apiGroups: ['batch'], resources: ['jobs'], verbs: ['create', 'delete'] },
      { apiGroups: [''], resources: ['pods/log'], verbs: ['get'] },
    ]);
    assert.ok(lines.filter((line) => line.startsWith('Check with: ')).length <= 1);
  });

  it('who may not read namespace, config map and events can run all the same', async () => {
    const { result } = await runOnApiServer({
      faults: (faults) => {
        for (const resource of ['namespaces', 'configmaps', 'events']) faults.forbid({ resource });
      },
      invocation: () => 0,
    });
    assert.equal(result.status, 'succeeded');
  });

  for (const words of [
    'exceeded quota: q, requested: pods=1, used: pods=0, limited: pods=0',
    'maximum memory usage per Container is 64Mi, but limit is 129Mi',
    'error looking up service account default/ghost: serviceaccount "ghost" not found',
  ]) {
    it(`scenario 18: a pod that the cluster refuses ends the run at once: ${words.slice(0, 40)}`, async () => {
      const run = await runOnApiServer({ faults: (faults) => faults.denyPods(words), invocation: mustNotRun });
      assertNotRun(run, new RegExp(`refuses the pod: .*${words}`));
      assert.ok((run.result.error?.suggestions.length ?? 0) > 0);
    });
  }

  it('a pod refused for want of the restricted shape comes again in that shape, once', async () => {
    const run = await runOnApiServer({
      faults: (faults) => faults.denyPods('violates PodSecurity "restricted:latest": runAsNonRoot != true', 1),
      invocation: ({ spec }) => (spec.security.runAsUser === 65_532 ? 0 : 1),
    });
    assert.deepEqual([run.result.status, run.result.exitCode, created(run, 'jobs')], ['succeeded', 0, 2]);
    assert.deepEqual(run.left, { jobs: [], pods: [], secrets: [] });
    const refused = await runOnApiServer({
      faults: (faults) => faults.denyPods('violates PodSecurity "restricted:latest": seccompProfile'),
      invocation: mustNotRun,
    });
    assertNotRun(refused, /violates PodSecurity/);
    assert.equal(created(refused, 'jobs'), 2);
  });

  it('no second Job follows a refused one that cannot be removed: the first might run yet', async () => {
    const run = await runOnApiServer({
      faults: (faults) => {
        faults.denyPods('violates PodSecurity "restricted:latest": runAsNonRoot != true', 1);
        faults.fail({ verb: 'delete', resource: 'jobs' }, 400, { message: 'no deletion today' });
      },
      invocation: () => 0,
    });
    assert.equal(created(run, 'jobs'), 1);
    assert.deepEqual([run.result.status, run.result.ran, run.left.jobs.length], ['unknown', 'unknown', 1]);
    assert.match(run.result.error?.message ?? '', /violates PodSecurity.* may go on as job .*no deletion today/);
  });

  it('a namespace that enforces restricted gets that shape at once', async () => {
    const namespaces = [{ name: 'default', labels: { 'pod-security.kubernetes.io/enforce': 'restricted' } }];
    const run = await runOnApiServer({
      server: { namespaces },
      invocation: ({ spec }) => (spec.security.runAsUser === 65_532 ? 0 : 1),
    });
    assert.deepEqual([run.result.exitCode, created(run, 'jobs')], [0, 1]);
  });
});
