import type { V1Pod } from '@kubernetes/client-node';
import { invocationStatus } from './pod-status.js';

/**
 * Until when the sidecar can be asked for outputs, in milliseconds since 1970: its grace period from the run tool's end
 * on, or what is left of the one that the pod was deleted with. `now`: when the end was noticed. All by the cluster's clock.
 */
export function heldUntil(pod: V1Pod | undefined, holdTimeMs: number, now: number): number {
  const finished = timeOf(pod === undefined ? undefined : invocationStatus(pod)?.state?.terminated?.finishedAt);
  const until = Math.min(finished ?? now, now) + holdTimeMs;
  return Math.min(until, timeOf(pod?.metadata?.deletionTimestamp) ?? until);
}

/** The API sends text where the types say Date. */
function timeOf(time: unknown): number | undefined {
  const ms = Date.parse(String(time));
  return Number.isNaN(ms) ? undefined : ms;
}
