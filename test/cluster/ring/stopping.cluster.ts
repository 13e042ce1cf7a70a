import assert from 'node:assert/strict';
import { ApiProxy } from '../api-proxy.js';
import { clusterCases } from '../cases.js';
import { eventually } from '../eventually.js';

const OUT = '/cnab/app/outputs';

/** Longer than a pod takes to start on a machine that has other things to do. */
const TIMEOUT = '20s';

clusterCases('a run that is stopped', (one) => {
  it('by --timeout: the run tool ends itself in its grace, its outputs are kept, exit 4', async () => {
    const script = `echo half > ${OUT}/half; trap 'echo told; exit 9' TERM; while :; do sleep 0.1; done`;
    const bundle = one().bundle({ script, outputs: ['half'] });
    const { code, stderr, document } = await one().install(bundle, ['--timeout', TIMEOUT]);
    assert.equal(code, 4, stderr);
    assert.deepEqual([document.status, document.ran, document.exitCode], ['failed', 'yes', 9]);
    assert.match(stderr, /^told$/m);
    assert.equal((await one().output('half')).toString(), 'half\n');
    await one().nothingIsLeft();
  });

  it('by --timeout while the run tool ignores SIGTERM: dead after the grace period, not after the hold time', async () => {
    // A shell that is PID 1 and sets no trap ignores the signal.
    const script = `echo half > ${OUT}/half; sleep 600`;
    const bundle = one().bundle({ script, outputs: ['half'] });
    const { code, stderr, document, ms } = await one().install(bundle, ['--timeout', TIMEOUT, '--grace-period', '5s']);
    assert.equal(code, 4, stderr);
    assert.deepEqual([document.status, document.exitCode], ['failed', 137]);
    assert.ok(ms < 60_000, `it took ${ms} ms`);
    assert.equal((await one().output('half')).toString(), 'half\n', 'the small outputs of a stopped run are kept');
    await one().nothingIsLeft();
  });

  for (const [signal, exit] of [
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const) {
    it(`by ${signal} while it runs: recorded as canceled, Job, pod and Secret are gone, exit ${exit}`, async () => {
      const script = `echo half > ${OUT}/half; trap 'exit 0' TERM; echo started; while :; do sleep 0.1; done`;
      const command = one().start(['install', 'app', one().bundle({ script, outputs: ['half'] }), '--json']);
      await command.says(/^started$/m);
      command.kill(signal);
      const { code, stderr, document } = await one().acted(command);
      assert.equal(code, exit, stderr);
      assert.deepEqual([document.status, document.ran, document.exitCode], ['canceled', 'yes', 0]);
      assert.equal((await one().output('half')).toString(), 'half\n');
      await one().nothingIsLeft();
      const { stdout } = await one().run(['show', 'app', '--json']);
      assert.match(stdout.toString(), /"canceled"/);
    });
  }

  it('by SIGINT while the run tool ignores SIGTERM: dead after the grace period', async () => {
    const bundle = one().bundle({ script: 'echo started; sleep 600' });
    const command = one().start(['install', 'app', bundle, '--json', '--grace-period', '3s']);
    await command.says(/^started$/m);
    const began = performance.now();
    command.kill('SIGINT');
    const { code, stderr, document } = await one().acted(command);
    assert.equal(code, 130, stderr);
    assert.equal(document.status, 'canceled');
    assert.ok(performance.now() - began < 45_000);
    await one().nothingIsLeft();
  });

  it('by SIGINT while nothing takes the pod: nothing has run, nothing is left', async () => {
    await one().api.create(`/api/v1/namespaces/${one().namespace}/limitranges`, {
      metadata: { name: 'huge' },
      spec: { limits: [{ type: 'Container', default: { cpu: '1000' } }] },
    });
    const command = one().start(['install', 'app', one().bundle({ script: 'true' }), '--json']);
    await command.says(/no node takes the pod/);
    command.kill('SIGINT');
    const { code, stderr, document } = await one().acted(command);
    assert.equal(code, 130, stderr);
    assert.deepEqual([document.status, document.ran], ['canceled', 'no']);
    await one().nothingIsLeft();
  });

  it('by SIGINT between its verdict and its outputs: the verdict stands, the Job stays for whoever comes back', async () => {
    const proxy = await ApiProxy.start(one());
    proxy.holdBack(/\/log\?.*container=outputs/, / ended \./);
    const bundle = one().bundle({ script: `echo out > ${OUT}/out`, outputs: ['out'] });
    const command = one().start(['install', 'app', bundle, '--json'], { kubeconfig: proxy.kubeconfig() });
    await command.says(/collecting outputs/);
    command.kill('SIGINT');
    const { code, stderr, document, told } = await one().acted(command);
    assert.equal(code, 130, stderr);
    assert.deepEqual([document.ran, document.exitCode], ['yes', 0]);
    assert.match(told, /1 of its 1 outputs did not arrive/);
    assert.match(told, /is left in namespace/);
    assert.equal((await one().api.jobs(one().namespace)).length, 1);
    // Small outputs end the sidecar at once, and can be read from its log as long as the pod is there.
    const pod = await eventually('the pod has ended', 30, async () => {
      const now = await one().pod();
      return now?.status?.phase === 'Succeeded' && now;
    });
    assert.match(await one().api.log(one().namespace, pod.metadata?.name ?? '', 'outputs'), / end [0-9a-f]{64} \./);
  });

  it('by SIGKILL leaves its Job running; the next run says how to take it up, and may be forced', async () => {
    const script = `echo started; sleep 4; echo out > ${OUT}/out`;
    const bundle = one().bundle({ script, outputs: ['out'] });
    const command = one().start(['install', 'app', bundle, '--json']);
    await command.says(/^started$/m);
    command.kill('SIGKILL');
    await command.ended;
    await eventually('the Job ends by itself', 60, async () => (await one().pod())?.status?.phase === 'Succeeded');
    const { stdout } = await one().run(['show', 'app', '--json']);
    assert.match(stdout.toString(), /"running"|"unknown"|"pending"/);
    const refused = await one().install(bundle);
    assert.equal(refused.code, 8, refused.stderr);
    assert.match(refused.told, /cnab resume app/);
    assert.equal((await one().api.jobs(one().namespace)).length, 1);
    const again = await one().install(bundle, ['--force']);
    assert.equal(again.code, 0, again.stderr);
    assert.equal((await one().output('out')).toString(), 'out\n');
  });
});
