import assert from 'node:assert/strict';
import type { Case } from '../case.js';
import { clusterCases } from '../cases.js';
import { eventually } from '../eventually.js';
import { needsOwnNode } from '../node.js';
import { patchPods, volumeIndex } from '../webhook.js';

const OUT = '/cnab/app/outputs';

clusterCases('how a bundle ended, by the status of its pod', (one) => {
  for (const exitCode of [0, 1, 42, 137, 255]) {
    const code = exitCode === 0 ? 0 : 1;
    it(`exit code ${exitCode} of the bundle: the command ends with ${code}, and the outputs are there`, async () => {
      const bundle = one().bundle({ script: `echo left > ${OUT}/left; exit ${exitCode}`, outputs: ['left'] });
      const { code: got, document, stderr, told } = await one().install(bundle);
      assert.equal(got, code, stderr);
      assert.deepEqual([document.ran, document.exitCode], ['yes', exitCode]);
      assert.equal(document.status, exitCode === 0 ? 'succeeded' : 'failed');
      if (exitCode !== 0) assert.match(told, new RegExp(`exit code ${exitCode}\\b`));
      assert.equal((await one().output('left')).toString(), 'left\n');
      await one().nothingIsLeft();
    });
  }

  it('a bundle that uses up its memory has failed for want of memory, and its outputs are kept', async () => {
    await limitMemory(one(), '24Mi');
    // In the shell itself, PID 1: the kernel ends the largest process.
    const script = `echo half > ${OUT}/half; x=x; while :; do x=$x$x; done`;
    const { code, told, stderr, document } = await one().install(one().bundle({ script, outputs: ['half'] }));
    assert.equal(code, 1, stderr);
    assert.equal(document.exitCode, 137);
    assert.match(told, /OOMKilled/);
    assert.equal((await one().output('half')).toString(), 'half\n');
  });

  it('a child that is killed for want of memory does not change the exit code 0 of the run tool, but is told', async () => {
    await limitMemory(one(), '24Mi');
    const script = `sh -c 'x=x; while :; do x=$x$x; done'; echo after > ${OUT}/after`;
    const { code, stderr, document } = await one().install(one().bundle({ script, outputs: ['after'] }));
    // With control groups of version 2 the whole container is killed.
    if (document.exitCode === 137) return assert.equal(code, 1, stderr);
    assert.equal(code, 0, stderr);
    assert.match((document.warnings ?? []).join(), /killed for want of memory/);
    assert.equal((await one().output('after')).toString(), 'after\n');
  });

  it('an image without /cnab/app/run has not run, and the command says so (exit 3)', async () => {
    const bundle = one().bundle({ script: '', image: 'docker.io/library/busybox:1.37.0' });
    const { code, told, document, stderr } = await one().install(bundle);
    assert.equal(code, 3, stderr);
    assert.equal(document.ran, 'no');
    assert.match(told, /the image has no \/cnab\/app\/run/);
    await one().nothingIsLeft();
  });

  it('a parameter whose path is a folder of the image has not run, and the parameter is named (exit 3)', async () => {
    const more = {
      definitions: { p: { type: 'string', default: 'x' } },
      parameters: { wrong: { definition: 'p', destination: { path: '/cnab/app/folder' } } },
    };
    const { code, told, document, stderr } = await one().install(one().bundle({ script: 'true', more }));
    assert.equal(code, 3, stderr);
    assert.equal(document.ran, 'no');
    assert.match(told, /"wrong"/);
  });

  it('a pod that somebody deletes while the bundle runs is no success, and nothing is left', async () => {
    const bundle = one().bundle({ script: 'trap "exit 0" TERM; echo started; while :; do sleep 0.1; done' });
    const command = one().start(['install', 'app', bundle, '--json']);
    const pod = await one().running();
    await command.says(/^started$/m);
    await one().api.remove(`/api/v1/namespaces/${one().namespace}/pods/${pod.metadata?.name ?? ''}`);
    const { code, document, stderr } = await one().acted(command);
    // The run tool ended with 0 after SIGTERM: that is its word, and it is what the record says.
    assert.ok(code === 0 || code === 8, `exit ${code}\n${stderr}`);
    assert.equal(code === 0 ? document.exitCode : document.status, code === 0 ? 0 : 'unknown');
    await one().nothingIsLeft();
  });

  it('a pod that is killed by somebody at once is told as killed or unknown, never as a success', async () => {
    const command = one().start(['install', 'app', one().bundle({ script: 'echo started; sleep 600' }), '--json']);
    const pod = await one().running();
    await command.says(/^started$/m);
    const path = `/api/v1/namespaces/${one().namespace}/pods/${pod.metadata?.name ?? ''}`;
    await one().api.remove(path, { gracePeriodSeconds: 0 });
    const { code, document, stderr } = await one().acted(command);
    assert.ok(code === 1 || code === 8, `exit ${code}\n${stderr}`);
    assert.equal(document.ran, 'yes');
    assert.equal(document.status, code === 1 ? 'failed' : 'unknown');
  });

  it('a Job that somebody deletes while the bundle runs is told, not waited for', async () => {
    const bundle = one().bundle({ script: 'trap "exit 7" TERM; echo started; while :; do sleep 0.1; done' });
    const command = one().start(['install', 'app', bundle, '--json']);
    await command.says(/^started$/m);
    const [job] = await one().api.jobs(one().namespace);
    const path = `/apis/batch/v1/namespaces/${one().namespace}/jobs/${job?.metadata?.name ?? ''}`;
    await one().api.remove(path, { propagationPolicy: 'Background' });
    const { code, stderr } = await one().acted(command);
    assert.ok(code === 1 || code === 8, `exit ${code}\n${stderr}`);
    await one().nothingIsLeft();
  });

  it("a Job that somebody deletes without its pod costs nothing: verdict and outputs are the pod's", async () => {
    const script = `echo started; sleep 3; echo out > ${OUT}/out`;
    const command = one().start(['install', 'app', one().bundle({ script, outputs: ['out'] }), '--json']);
    await command.says(/^started$/m);
    const [job] = await one().api.jobs(one().namespace);
    const path = `/apis/batch/v1/namespaces/${one().namespace}/jobs/${job?.metadata?.name ?? ''}`;
    await one().api.remove(path, { propagationPolicy: 'Orphan' });
    const { code, stderr } = await one().acted(command);
    assert.equal(code, 0, stderr);
    assert.equal((await one().output('out')).toString(), 'out\n');
  });

  it('a pod that is evicted for its disk use is told with the reason, and never as a success', async function () {
    needsOwnNode(this);
    await patchPods(one(), (pod) => [
      { op: 'add', path: `/spec/volumes/${volumeIndex(pod, 'outputs')}/emptyDir/sizeLimit`, value: '1Mi' },
    ]);
    // A kubelet of 1.30 gives an evicted pod its own grace period, so it must end when it is told.
    const script = `trap 'exit 143' TERM; head -c 8388608 /dev/zero > ${OUT}/big; while :; do sleep 0.2; done`;
    const { code, told, stderr, document } = await one().install(one().bundle({ script, outputs: ['big'] }));
    assert.ok(code === 1 || code === 8, `exit ${code}\n${stderr}`);
    assert.equal(document.ran, 'yes');
    assert.match(told, /Evicted|exceeds its (limit|allowed)|emptyDir/);
  });

  it('a sidecar that is killed while the bundle runs is started again, and the outputs arrive', async function () {
    const node = needsOwnNode(this);
    const script = `echo started; until [ -e ${OUT}/go ]; do sleep 0.1; done; echo out > ${OUT}/out`;
    const command = one().start(['install', 'app', one().bundle({ script, outputs: ['out'] }), '--json']);
    await command.says(/^started$/m);
    await node.killContainer(await sidecarId(one()));
    await eventually('the sidecar runs again', 60, async () => {
      const [status] = (await one().pod())?.status?.initContainerStatuses ?? [];
      return (status?.restartCount ?? 0) > 0 && status?.state?.running !== undefined;
    });
    await node.writeToVolume((await one().pod())?.metadata?.uid ?? '', 'outputs', 'go');
    const { code, stderr } = await one().acted(command);
    assert.equal(code, 0, stderr);
    assert.equal((await one().output('out')).toString(), 'out\n');
  });

  it('a sidecar that is dead when the bundle ends costs the outputs, at once and with the reason (exit 5)', async function () {
    const node = needsOwnNode(this);
    const script = `echo started; until [ -e ${OUT}/go ]; do sleep 0.1; done; echo out > ${OUT}/out`;
    const command = one().start(['install', 'app', one().bundle({ script, outputs: ['out'] }), '--json']);
    await command.says(/^started$/m);
    const pod = (await one().pod())?.metadata?.uid ?? '';
    await node.killContainer(await sidecarId(one()));
    const second = await eventually('the sidecar runs again', 60, async () => {
      const [status] = (await one().pod())?.status?.initContainerStatuses ?? [];
      return (status?.restartCount ?? 0) > 0 && status?.state?.running !== undefined && status.containerID;
    });
    // After the second death the kubelet waits for ten seconds before the next start.
    await node.killContainer(second);
    await node.writeToVolume(pod, 'outputs', 'go');
    const { code, told, stderr, document } = await one().acted(command);
    assert.equal(code, 5, stderr);
    assert.equal(document.exitCode, 0);
    assert.match(told, /sidecar/);
  });

  it('a sidecar that is OOM-killed while it dumps costs the outputs, and the verdict stands (exit 5)', async function () {
    const node = needsOwnNode(this);
    const script = `head -c 4194304 /dev/urandom > ${OUT}/big; echo small > ${OUT}/small; echo started
      until [ -e ${OUT}/go ]; do sleep 0.1; done`;
    const command = one().start(['install', 'app', one().bundle({ script, outputs: ['big', 'small'] }), '--json']);
    await command.says(/^started$/m);
    await node.limitMemory(await sidecarId(one()), 700 * 1024);
    await node.writeToVolume((await one().pod())?.metadata?.uid ?? '', 'outputs', 'go');
    const { code, told, stderr, document } = await one().acted(command);
    assert.equal(code, 5, stderr);
    assert.equal(document.exitCode, 0);
    assert.match(told, /OOMKilled|did not arrive/);
  });
});

/** What a container gets that asks for nothing. */
async function limitMemory(one: Case, memory: string): Promise<void> {
  await one.api.create(`/api/v1/namespaces/${one.namespace}/limitranges`, {
    metadata: { name: 'memory' },
    spec: { limits: [{ type: 'Container', default: { memory }, defaultRequest: { memory: '8Mi' } }] },
  });
}

async function sidecarId(one: Case): Promise<string> {
  return (await one.pod())?.status?.initContainerStatuses?.[0]?.containerID ?? '';
}
