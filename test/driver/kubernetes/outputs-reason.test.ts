import assert from 'node:assert/strict';
import type { V1ContainerState, V1Job, V1Pod } from '@kubernetes/client-node';
import { outputsReason } from '../../../src/driver/kubernetes/outputs-reason.js';
import { RunView } from '../../../src/driver/kubernetes/run-view.js';

const UID = 'uid-of-job';
const HELD_UNTIL = Date.parse('2026-01-01T12:00:00Z');

function viewOf(sidecar: V1ContainerState, job?: V1Job): RunView {
  const pod: V1Pod = {
    metadata: { name: 'p', uid: 'u', ownerReferences: [{ apiVersion: 'batch/v1', kind: 'Job', name: 'j', uid: UID }] },
    status: {
      initContainerStatuses: [
        { name: 'outputs', state: sidecar, image: '', imageID: '', ready: false, restartCount: 0 },
      ],
    },
  };
  const view = new RunView();
  view.bind(UID);
  view.seePod(pod);
  view.seeJob(job);
  return view;
}

const reason = (view: RunView, isHeld = true): string =>
  outputsReason({
    ...{ view, isHeld, assembler: { shortage: undefined }, heldUntil: HELD_UNTIL },
    ...{ transfer: 'container not found', log: undefined, isCut: false },
  });

describe('why outputs did not arrive', () => {
  const ended = { terminated: { exitCode: 0, finishedAt: new Date(HELD_UNTIL - 300_000) } };
  const job: V1Job = { metadata: { name: 'j', uid: UID } };

  it('is another process that took the run up, where the Job is gone or the sidecar was let go', () => {
    assert.match(
      reason(viewOf(ended)),
      /^its Job is gone: another process has taken the run up, and has them, or some/,
    );
    assert.match(
      reason(viewOf(ended, job)),
      /^the outputs sidecar was let go by a process that had them all: another one that has taken the run up, or an earlier/,
    );
  });

  it('is what the transfer says where the sidecar runs on, or ends of itself', () => {
    assert.equal(reason(viewOf({ running: {} }, job)), 'container not found');
    assert.equal(reason(viewOf(ended, job), false), 'container not found');
  });

  it('is the time that the pod holds them', () => {
    const killed = { terminated: { exitCode: 137, finishedAt: new Date(HELD_UNTIL + 1000) } };
    assert.match(reason(viewOf(killed, job)), /--hold-time/);
  });
});
