import type { V1Pod } from '@kubernetes/client-node';
import type { Clock } from '../clock.js';
import type { KubernetesApi } from './api.js';
import { askToDelete, cleanUpProblem, isTimeUp, leftBehind, withinCleanUp } from './clean-up.js';
import { withDeadline } from './deadline.js';
import { isLost } from './decision.js';
import { isTerminating } from './pod-status.js';
import { podVerdict } from './pod-verdict.js';
import type { JobReference } from './resources.js';
import { listPods, ownerUid } from './run-objects.js';
import { stopPod } from './stop.js';

export interface GivenUpRun {
  readonly runId: string;
  readonly job: JobReference;
  /** What its run tool gets between SIGTERM and SIGKILL. */
  readonly graceMs: number;
  /** Its Job is to stay, as it does where a pod of it was there: it makes no second one. */
  readonly keepJob: boolean;
  readonly hadPod: boolean;
}

/** What a pod may need beyond its grace period until its last status is told. */
const END_MARGIN_MS = 30_000;
const LOOK_MS = 1000;

const never = new AbortController().signal;

/**
 * Stops a run of which nobody here knows an end, before its Job goes: that alone would leave the run tool the pod's whole hold
 * time, beside whatever runs next. Returns when no run tool of it runs any more, with a warning where that cannot be told.
 */
export async function giveUp(
  clock: Clock,
  run: GivenUpRun,
  connect: (signal: AbortSignal) => Promise<KubernetesApi>,
): Promise<string | undefined> {
  const { job, graceMs } = run;
  let api: KubernetesApi | undefined;
  let pods: readonly string[] = [];
  let hadPod = run.hadPod;
  try {
    const open = (api = await withinCleanUp(clock, connect));
    await withDeadline(clock, graceMs + END_MARGIN_MS, never, async (signal) => {
      for (;;) {
        pods = await stopWhatRuns(open, { ...run, hadPod }, signal);
        hadPod ||= pods.length > 0;
        if (pods.length === 0) return;
        await clock.sleep(LOOK_MS, signal);
      }
    });
    return undefined;
  } catch (error) {
    const isSlow = isTimeUp(error) && pods.length > 0;
    const why = isSlow ? `pod ${pods.join(', ')} did not end in time` : cleanUpProblem(error);
    return leftBehind(job, why, api?.connection);
  }
}

/** One round; resolves with the names of the pods that may run the run tool yet. */
async function stopWhatRuns(
  api: KubernetesApi,
  { runId, job, graceMs, keepJob, hadPod }: GivenUpRun,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const { namespace, uid } = job;
  const look = async (): Promise<readonly V1Pod[]> => {
    const { items } = await listPods(api, { namespace, runId }, signal);
    return items.filter((pod) => ownerUid(pod) === uid);
  };
  let pods = await look();
  if (pods.length === 0 && !(keepJob && hadPod)) {
    // A pod that it makes at this very moment is stopped like one that was there.
    await askToDelete(api, job, signal);
    pods = await look();
  }
  const going = pods.filter((pod) => podVerdict(pod, { started: false }) === undefined && !isLost(pod, api.serverNow));
  for (const pod of going) {
    // The first grace period that a kubelet hears of is the one that counts.
    if (!isTerminating(pod)) await stopPod(api, job, pod, graceMs, signal);
  }
  return going.map((pod) => pod.metadata?.name ?? '');
}
