import type { Clock } from '../clock.js';
import type { BegunRun } from '../driver.js';
import type { KubernetesApi } from './api.js';
import { cleanUpProblem, leftBehind, removeJob } from './clean-up.js';
import { giveUp } from './give-up.js';
import type { HeldSidecars } from './held-sidecars.js';
import type { Holds } from './holds.js';

export interface ReleaseOptions {
  readonly clock: Clock;
  readonly connect: (signal: AbortSignal) => Promise<KubernetesApi>;
  /** Its end was seen by this process. */
  readonly hasEnded: boolean;
  /** What its run tool gets between SIGTERM and SIGKILL. */
  readonly graceMs: number;
  readonly holds: Holds;
  readonly held: HeldSidecars;
}

/**
 * Removes what a run has on the cluster, unless another process has taken it over. Where its end was not seen here the run is
 * stopped first, and its Job stays where that cannot be told. Without the Job's UID in its state nothing of the run was ever made,
 * or `run` has removed it. Gives warnings instead of rejecting.
 */
export async function releaseRun(
  { runId, state }: Pick<BegunRun, 'runId' | 'state'>,
  { clock, connect, hasEnded, graceMs, holds, held }: ReleaseOptions,
): Promise<readonly string[]> {
  const { namespace, job: name, jobUid: uid } = state;
  if (namespace === undefined || name === undefined || uid === undefined) return [];
  const job = { namespace, name, uid };
  try {
    // Whoever has taken the run over removes it.
    if (!(await holds.release(runId))) return [];
  } catch (error) {
    const why = cleanUpProblem(error);
    return [leftBehind(job, `nothing tells whether another process is on its run by now (${why})`)];
  }
  // Else its hold time begins: nothing shortens it once the pod is being deleted.
  await held.settled(runId);
  if (!hasEnded) {
    const kept = { keepJob: state.keepJob === true, hadPod: state.podUid !== undefined };
    const mayGoOn = await giveUp(clock, { ...kept, runId, job, graceMs }, connect);
    if (mayGoOn !== undefined) return [mayGoOn];
  }
  return state.keepJob === true ? [] : removeJob(clock, job, connect);
}
