import assert from 'node:assert/strict';
import { clusterCases } from '../cases.js';
import { needsOwnNode } from '../node.js';
import { patchPods } from '../webhook.js';

const OUT = '/cnab/app/outputs';

clusterCases('a pod that the cluster changes', (one) => {
  it('scenario 16: an injected container that never ends and ignores SIGTERM does not keep outputs or command back', async function () {
    needsOwnNode(this);
    await patchPods(one(), () => [
      {
        op: 'add',
        path: '/spec/containers/-',
        value: {
          name: 'mesh',
          image: 'docker.io/library/busybox:1.37.0',
          command: ['sh', '-c', 'trap "" TERM; while :; do sleep 1; done'],
        },
      },
    ]);
    const bundle = one().bundle({ script: `echo out > ${OUT}/out`, outputs: ['out'] });
    const { code, stderr, ms } = await one().install(bundle);
    assert.equal(code, 0, stderr);
    assert.ok(ms < 40_000, `it took ${ms} ms`);
    assert.equal((await one().output('out')).toString(), 'out\n');
    await one().nothingIsLeft(60);
  });

  it('an injected container that ends the way it is told, too', async function () {
    needsOwnNode(this);
    await patchPods(one(), () => [
      {
        op: 'add',
        path: '/spec/containers/0',
        value: {
          name: 'agent',
          image: 'docker.io/library/busybox:1.37.0',
          command: ['sh', '-c', 'trap "exit 0" TERM; while :; do sleep 0.2; done'],
        },
      },
    ]);
    const bundle = one().bundle({ script: `echo out > ${OUT}/out; exit 3`, outputs: ['out'] });
    const { code, stderr, document } = await one().install(bundle);
    assert.equal(code, 1, stderr);
    assert.equal(document.exitCode, 3);
    assert.equal((await one().output('out')).toString(), 'out\n');
  });

  it('an injected container that ends the way it is told leaves a log of tens of MiB the time that it needs', async function () {
    needsOwnNode(this);
    await patchPods(one(), () => [
      {
        op: 'add',
        path: '/spec/containers/-',
        value: {
          name: 'proxy',
          image: 'docker.io/library/busybox:1.37.0',
          command: ['sh', '-c', 'trap "sleep 2; exit 0" TERM; while :; do sleep 0.2; done'],
        },
      },
    ]);
    const bytes = 48 * 1024 * 1024;
    const bundle = one().bundle({ script: `head -c ${bytes} /dev/urandom > ${OUT}/out`, outputs: ['out'] });
    const { code, stderr, document } = await one().install(bundle, ['--outputs-via', 'log']);
    assert.equal(code, 0, stderr);
    assert.deepEqual(
      document.outputs.map(({ size }) => size),
      [bytes],
    );
  });

  it('a read-only root file system leaves the bundle its inputs and outputs', async function () {
    needsOwnNode(this);
    await patchPods(one(), ({ spec }) => [
      {
        op: spec?.containers[0]?.securityContext === undefined ? 'add' : 'replace',
        path: '/spec/containers/0/securityContext',
        value: { readOnlyRootFilesystem: true },
      },
    ]);
    const more = { credentials: { secret: { path: '/etc/tool/secret', required: true } } };
    const script = `touch /etc/x && exit 9; echo more >> /etc/tool/secret && cat /etc/tool/secret > ${OUT}/out`;
    const bundle = one().bundle({ script, outputs: ['out'], more });
    const { code, stderr } = await one().install(bundle, ['--credential', 'secret=env:S'], { env: { S: 'xyzzy ' } });
    assert.equal(code, 0, stderr);
    assert.equal((await one().output('out')).toString(), 'xyzzy more\n');
  });

  it('a sidecar that is too short of memory to start is told at once, and nothing has run (exit 3)', async function () {
    needsOwnNode(this);
    await patchPods(one(), ({ spec }) =>
      spec?.initContainers?.[0]?.name !== 'outputs'
        ? []
        : [{ op: 'replace', path: '/spec/initContainers/0/resources', value: { limits: { memory: '4Mi' } } }],
    );
    // Files in a memory volume are memory of the container that writes them.
    const names = ['a', 'b', 'c', 'd'];
    const file = one().file('large', Buffer.alloc(1024 * 1024, 'x'));
    const credentials = Object.fromEntries(names.map((name) => [name, { path: `/etc/tool/${name}`, required: true }]));
    const bundle = one().bundle({ script: 'true', more: { credentials } });
    const flags = names.flatMap((name) => ['--credential', `${name}=path:${file}`]);
    const { code, stderr, document, told } = await one().install(bundle, flags);
    assert.equal(code, 3, stderr);
    assert.equal(document.ran, 'no');
    assert.match(told, /sidecar/);
    await one().nothingIsLeft();
  });
});
