import assert from 'node:assert/strict';
import { heldUntil } from '../../../src/driver/kubernetes/hold.js';
import { runPod } from '../../helpers/run-pod.js';

const at = (text: string): number => Date.parse(text);
const now = at('2026-12-01T05:10:00Z');
const pod = (finishedAt: string, deletionTimestamp?: string) =>
  runPod({
    invocation: { terminated: { exitCode: 0, finishedAt } },
    ...(deletionTimestamp === undefined ? {} : { deletionTimestamp }),
  });

describe('until when outputs are held', () => {
  it("counts from the run tool's end, as the pod tells it, or from now where it tells nothing", () => {
    assert.equal(heldUntil(pod('2026-12-01T05:00:00Z'), 600_000, now), at('2026-12-01T05:10:00Z'));
    assert.equal(heldUntil(undefined, 600_000, now), now + 600_000);
  });

  it('is not later than now allows, whatever the clock of the node says', () => {
    assert.equal(heldUntil(pod('2026-12-01T09:00:00Z'), 600_000, now), now + 600_000);
  });

  it('ends with the grace period of a pod that is being deleted', () => {
    const deleted = pod('2026-12-01T05:09:50Z', '2026-12-01T05:10:20Z');
    assert.equal(heldUntil(deleted, 600_000, now), at('2026-12-01T05:10:20Z'));
  });
});
