import assert from 'node:assert/strict';
import { ApiProxy } from '../api-proxy.js';
import { clusterCases } from '../cases.js';
import { eventually } from '../eventually.js';
import { needsOwnNode } from '../node.js';

const OUT = '/cnab/app/outputs';
const FRAMES_OF_DATA = /\/log\?.*container=outputs/;

clusterCases('a cluster that is disturbed', (one) => {
  it('an API server that is restarted while the bundle runs costs nothing: log, verdict and outputs are whole', async function () {
    const node = needsOwnNode(this);
    const script = `i=0; while [ $i -lt 80 ]; do echo "line $i"; sleep 0.1; i=$((i+1)); done; echo out > ${OUT}/out`;
    const command = one().start(['install', 'app', one().bundle({ script, outputs: ['out'] }), '--json']);
    await command.says(/^line 5$/m);
    await node.restart('apiserver');
    const { code, stderr, document } = await one().acted(command);
    assert.equal(code, 0, stderr);
    assert.equal((await one().output('out')).toString(), 'out\n');
    const lines = [...stderr.matchAll(/^line (\d+)$/gm)].map(([, number]) => Number(number));
    assert.deepEqual(
      lines,
      Array.from({ length: 80 }, (_, index) => index),
    );
    assert.equal(document.logComplete, true);
    assert.doesNotMatch(stderr, /waiting to start, no contact/, 'it runs, and is not called one that waits to start');
    await one().nothingIsLeft(60);
  });

  for (const [what, component] of [
    ['an API server', 'apiserver'],
    ['a kubelet', 'kubelet'],
  ] as const) {
    it(`${what} that is restarted while outputs are sent costs none of their bytes`, async function () {
      const node = needsOwnNode(this);
      const proxy = await ApiProxy.start(one());
      const script = `head -c 4000000 /dev/urandom > ${OUT}/big; sha256sum < ${OUT}/big`;
      const bundle = one().bundle({ script, outputs: ['big'] });
      let restarted: Promise<void> | undefined;
      // In the middle of the data.
      proxy.onData = (call, text) => {
        if (FRAMES_OF_DATA.test(call.url) && / data 0 1 /.test(text)) restarted ??= node.restart(component);
      };
      const command = one().start(['install', 'app', bundle, '--json'], { kubeconfig: proxy.kubeconfig() });
      const { code, stderr, document } = await one().acted(command);
      await restarted;
      assert.ok(restarted !== undefined, `${component} was restarted`);
      assert.equal(code, 0, stderr);
      assert.ok(stderr.includes(document.outputs[0]?.sha256 ?? 'no output'), stderr);
      await one().nothingIsLeft(60);
    });
  }

  it('an API server that is restarted between Job and Secret: the run goes on as if nothing was', async function () {
    const node = needsOwnNode(this);
    const proxy = await ApiProxy.start(one());
    let restarts = 0;
    proxy.onCall = async ({ method, url }) => {
      if (method !== 'POST' || !url.includes('/secrets') || restarts > 0) return;
      restarts++;
      await node.restart('apiserver');
      return 'reset';
    };
    const bundle = one().bundle({ script: `echo out > ${OUT}/out`, outputs: ['out'] });
    const command = one().start(['install', 'app', bundle, '--json'], { kubeconfig: proxy.kubeconfig() });
    const { code, stderr } = await one().acted(command);
    assert.equal(restarts, 1);
    assert.equal(code, 0, stderr);
    assert.equal((await one().output('out')).toString(), 'out\n');
    assert.equal(proxy.calls.filter(({ method, url }) => method === 'POST' && url.includes('/jobs')).length, 1);
    await one().nothingIsLeft(60);
  });

  it('an answer to the creation of the Job that is lost does not make a second Job', async () => {
    const proxy = await ApiProxy.start(one());
    let lost = 0;
    proxy.onAnswer = ({ method, url }) =>
      method === 'POST' && url.includes('/jobs') && lost++ === 0 ? 'reset' : undefined;
    const bundle = one().bundle({ script: `echo out > ${OUT}/out`, outputs: ['out'] });
    const command = one().start(['install', 'app', bundle, '--json'], { kubeconfig: proxy.kubeconfig() });
    const { code, stderr } = await one().acted(command);
    assert.equal(lost > 0, true);
    assert.equal(code, 0, stderr);
    assert.equal((await one().output('out')).toString(), 'out\n');
    await one().nothingIsLeft(60);
  });

  it('a kubelet that is restarted while the bundle runs costs nothing', async function () {
    const node = needsOwnNode(this);
    const script = `i=0; while [ $i -lt 80 ]; do echo "line $i"; sleep 0.1; i=$((i+1)); done; echo out > ${OUT}/out`;
    const command = one().start(['install', 'app', one().bundle({ script, outputs: ['out'] }), '--json']);
    await command.says(/^line 5$/m);
    await node.restart('kubelet');
    const { code, stderr } = await one().acted(command);
    assert.equal(code, 0, stderr);
    assert.equal((await one().output('out')).toString(), 'out\n');
    const lines = [...stderr.matchAll(/^line (\d+)$/gm)].map(([, number]) => Number(number));
    assert.deepEqual(
      lines,
      Array.from({ length: 80 }, (_, index) => index),
    );
    await one().nothingIsLeft(60);
  });

  it('an API server that is away when a run is stopped: the stop is done when it is back', async function () {
    const node = needsOwnNode(this);
    const script = `trap 'exit 0' TERM; echo started; while :; do sleep 0.1; done`;
    const command = one().start(['install', 'app', one().bundle({ script }), '--json']);
    await command.says(/^started$/m);
    await node.restart('apiserver');
    command.kill('SIGINT');
    const { code, stderr, document } = await one().acted(command);
    assert.equal(code, 130, stderr);
    assert.equal(document.status, 'canceled');
    await eventually(
      'the API server is back',
      60,
      async () => (await one().api.request('GET', '/readyz')).status === 200,
    );
    await one().nothingIsLeft(60);
  });
});
