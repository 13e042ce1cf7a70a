import assert from 'node:assert/strict';
import { ImageError, StartError } from '../../../src/driver/sandbox/api-server/container-runtime.js';
import { runOnApiServer, type FinishedRun } from '../../helpers/kubernetes-run.js';
import { inputFile } from '../../helpers/operation.js';

function assertNotRun({ result, left, outputs }: FinishedRun, words: RegExp, code = 'unavailable'): void {
  assert.match(result.error?.message ?? '', words);
  assert.deepEqual([result.status, result.ran, result.exitCode, result.error?.code], ['failed', 'no', undefined, code]);
  assert.deepEqual([outputs, result.problems, result.logComplete], [{}, [], true]);
  assert.deepEqual(left, { jobs: [], pods: [], secrets: [] });
}
const created = ({ faults }: FinishedRun, resource: string): number =>
  faults.requests.filter((request) => request.verb === 'create' && request.resource === resource).length;
const mustNotRun = (): never => assert.fail('the bundle ran');

describe('a run that does not start', () => {
  it('is refused before anything is created where inputs or outputs cannot be carried', async () => {
    for (const operation of [
      { files: [inputFile('/proc/x', '')] },
      { environment: [{ name: 'A', value: Uint8Array.of(0xff), source: 'credential "a"' }] },
      { outputs: [{ name: 'key', path: '/cnab/app/outputs/key', sensitive: true }] },
      { image: { image: 'a', contentDigest: 'no digest' } },
    ]) {
      const run = await runOnApiServer({ operation, invocation: mustNotRun });
      assertNotRun(run, /./, 'invalid');
      assert.deepEqual(run.faults.requests, []);
    }
  });

  it('sensitive outputs are named with the flag that lets them travel in the log', async () => {
    const outputs = [{ name: 'key', path: '/cnab/app/outputs/key', sensitive: true }];
    const { result } = await runOnApiServer({ operation: { outputs }, invocation: mustNotRun });
    assert.match(result.error?.message ?? '', /output "key".* --sensitive-outputs=exec .* does not carry outputs yet/);
    assert.match(result.error?.suggestions.join() ?? '', /--sensitive-outputs=log/);
    const allowed = await runOnApiServer({
      operation: { outputs },
      settings: { sensitiveOutputs: 'log' },
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

  it("a server that drops the sidecar's restartPolicy keeps no Job and gets no Secret", async () => {
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
      const missing = `${verb} on ${name}`;
      assert.match(
        run.result.error?.suggestions.join('\n') ?? '',
        new RegExp(`Role in namespace default must allow: ${missing}`),
      );
    });
  }

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
    it(`a pod that the cluster refuses ends the run at once: ${words.slice(0, 40)}`, async () => {
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

  it('a namespace that enforces restricted gets that shape at once', async () => {
    const namespaces = [{ name: 'default', labels: { 'pod-security.kubernetes.io/enforce': 'restricted' } }];
    const run = await runOnApiServer({
      server: { namespaces },
      invocation: ({ spec }) => (spec.security.runAsUser === 65_532 ? 0 : 1),
    });
    assert.deepEqual([run.result.exitCode, created(run, 'jobs')], [0, 1]);
  });

  it('an image that is not there ends the run at once, and names the image', async () => {
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
      settings: { startTimeoutMs: 1500 },
      pull: (image) => {
        if (image.startsWith('example/'))
          throw new ImageError('ErrImagePull', 'dial tcp: lookup r.example: no such host');
      },
      invocation: mustNotRun,
    });
    assertNotRun(run, /did not start within 1\.5 s: .*no such host/);
  });

  it("a pod that no node takes ends with the start time-out, in the scheduler's words", async () => {
    const run = await runOnApiServer({
      settings: { startTimeoutMs: 1200 },
      faults: (faults) => faults.neverSchedule('0/1 nodes are available: 1 Insufficient memory.'),
      invocation: mustNotRun,
    });
    assertNotRun(run, /did not start within 1\.2 s: .*Insufficient memory/);
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
