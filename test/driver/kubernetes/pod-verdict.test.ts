import assert from 'node:assert/strict';
import { podVerdict, vanishedVerdict } from '../../../src/driver/kubernetes/pod-verdict.js';
import { ended, initializing, runPod, running, waiting } from '../../helpers/run-pod.js';

const fresh = { started: false };
const started = { started: true };

describe('the verdict on a pod', () => {
  it('there is none while the invocation waits or runs', () => {
    assert.equal(podVerdict(runPod(), fresh), undefined);
    assert.equal(podVerdict(runPod({ sidecar: running, invocation: initializing }), fresh), undefined);
    assert.equal(podVerdict(runPod({ sidecar: running, invocation: running }), started), undefined);
    assert.equal(podVerdict(runPod({ invocation: waiting('ImagePullBackOff') }), fresh), undefined);
  });

  it('exit code 0 is a success while the sidecar still runs', () => {
    assert.deepEqual(podVerdict(runPod({ sidecar: running, invocation: ended(0) }), started), {
      status: 'succeeded',
      ran: 'yes',
      exitCode: 0,
      warnings: [],
    });
  });

  it('another exit code is a failure that ran', () => {
    const verdict = podVerdict(runPod({ invocation: ended(3) }), started);
    assert.deepEqual([verdict?.status, verdict?.ran, verdict?.exitCode], ['failed', 'yes', 3]);
    assert.deepEqual(verdict?.problem, { code: 'bundle-failed', message: 'the bundle ended with exit code 3' });
  });

  it('an exit code counts although the pod was never seen running', () => {
    assert.equal(podVerdict(runPod({ invocation: ended(0) }), fresh)?.status, 'succeeded');
  });

  it('OOMKilled beside exit code 0 is a success with a warning, because a child was killed', () => {
    const verdict = podVerdict(runPod({ invocation: ended(0, 'OOMKilled') }), started);
    assert.equal(verdict?.status, 'succeeded');
    assert.match(verdict.warnings.join(), /want of memory/);
  });

  it('OOMKilled beside exit code 137 is a failure that says so', () => {
    const verdict = podVerdict(runPod({ invocation: ended(137, 'OOMKilled') }), started);
    assert.deepEqual([verdict?.status, verdict?.ran, verdict?.exitCode], ['failed', 'yes', 137]);
    assert.match(verdict?.problem?.message ?? '', /want of memory/);
  });

  it('StartError with exit code 128 did not run', () => {
    const words = 'runc create failed: exec: "/cnab/app/run": stat /cnab/app/run: no such file or directory: unknown';
    const verdict = podVerdict(runPod({ invocation: ended(128, 'StartError', words) }), fresh);
    assert.deepEqual([verdict?.status, verdict?.ran, verdict?.exitCode], ['failed', 'no', undefined]);
    assert.match(verdict?.problem?.message ?? '', /the image has no \/cnab\/app\/run .*no such file/);
  });

  it('exit code 128 of a program of its own is a failure that ran', () => {
    const verdict = podVerdict(runPod({ invocation: ended(128) }), started);
    assert.deepEqual([verdict?.ran, verdict?.exitCode], ['yes', 128]);
  });

  for (const state of [initializing, waiting('ContainerCreating'), undefined]) {
    it(`a failed pod whose invocation ${state === undefined ? 'has no status' : 'still waits'} did not run`, () => {
      const status = { phase: 'Failed', reason: 'UnexpectedAdmissionError', message: 'no room' };
      const verdict = podVerdict(runPod({ invocation: state, status }), fresh);
      assert.deepEqual([verdict?.status, verdict?.ran], ['failed', 'no']);
      assert.match(verdict?.problem?.message ?? '', /UnexpectedAdmissionError: no room/);
    });
  }

  it('a failed pod that lost the status of a started invocation is unknown', () => {
    const status = { phase: 'Failed', reason: 'Evicted', message: 'disk pressure' };
    for (const [pod, history] of [
      [runPod({ status }), started],
      [runPod({ invocation: running, status }), fresh],
    ] as const) {
      const verdict = podVerdict(pod, history);
      assert.deepEqual([verdict?.status, verdict?.ran, verdict?.exitCode], ['unknown', 'yes', undefined]);
      assert.match(verdict?.problem?.message ?? '', /Evicted: disk pressure/);
    }
  });

  it('ContainerStatusUnknown is unknown, whatever its exit code says', () => {
    const pod = runPod({
      invocation: ended(137, 'ContainerStatusUnknown'),
      status: { phase: 'Failed', reason: 'Evicted' },
    });
    const verdict = podVerdict(pod, started);
    assert.deepEqual([verdict?.status, verdict?.ran, verdict?.exitCode], ['unknown', 'yes', undefined]);
    assert.equal(verdict?.problem?.code, 'contact-lost');
    assert.equal(podVerdict(pod, fresh)?.ran, 'unknown');
  });

  it('ContainerStatusUnknown of a container of a deleted pod that was never made did not run', () => {
    const deleted = { invocation: ended(137, 'ContainerStatusUnknown'), deletionTimestamp: '2026-12-01T05:44:44Z' };
    assert.deepEqual(podVerdict(runPod(deleted), fresh)?.ran, 'no');
    const made = { ...deleted, invocationStatus: { containerID: 'containerd://1' } };
    assert.deepEqual(podVerdict(runPod(made), fresh)?.ran, 'unknown');
    assert.deepEqual(podVerdict(runPod(deleted), started)?.status, 'unknown');
  });

  it('an eviction that left an exit code is a failure that ran and names the eviction', () => {
    const status = { phase: 'Failed', reason: 'Evicted', message: 'The node was low on resource: memory.' };
    const verdict = podVerdict(runPod({ invocation: ended(137), status }), started);
    assert.deepEqual([verdict?.status, verdict?.ran, verdict?.exitCode], ['failed', 'yes', 137]);
    assert.match(verdict?.problem?.message ?? '', /Evicted: The node was low/);
  });

  it('a pod that vanished without a verdict is unknown', () => {
    assert.deepEqual([vanishedVerdict('x', fresh).status, vanishedVerdict('x', fresh).ran], ['unknown', 'unknown']);
    assert.equal(vanishedVerdict('x', started).ran, 'yes');
  });
});
