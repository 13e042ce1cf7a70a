import { timestamp, type Condition, type Job, type JobStatus } from './objects.js';
import type { Pod } from './pod-objects.js';

export const TRACKING = 'batch.kubernetes.io/job-tracking';

/** A pod that will not run on: it has ended, or it was deleted while it ran (`TerminatingOrFailed`). */
function outcomeOf(pod: Pod): 'succeeded' | 'failed' | undefined {
  if (pod.status.phase === 'Succeeded') return 'succeeded';
  return pod.status.phase === 'Failed' || pod.metadata.deletionTimestamp !== undefined ? 'failed' : undefined;
}

/** What the pods of a Job come to. */
export function tally(pods: readonly Pod[]): {
  readonly active: readonly Pod[];
  readonly ready: number;
  readonly terminating: number;
  /** Have ended and are not in the Job's counts. */
  readonly uncounted: readonly Pod[];
  /** The uids of these, by how they ended. */
  readonly ended: { readonly succeeded: readonly string[]; readonly failed: readonly string[] };
} {
  const active = pods.filter((pod) => outcomeOf(pod) === undefined);
  const uncounted = pods.filter((pod) => pod.metadata.finalizers?.includes(TRACKING) && outcomeOf(pod));
  const uids = (outcome: string): string[] =>
    uncounted.filter((pod) => outcomeOf(pod) === outcome).map((pod) => pod.metadata.uid);
  const isReady = ({ status }: Pod): boolean =>
    status.conditions?.some(({ type, status: value }) => type === 'Ready' && value === 'True') ?? false;
  const isTerminating = ({ metadata, status }: Pod): boolean =>
    metadata.deletionTimestamp !== undefined && status.phase !== 'Succeeded' && status.phase !== 'Failed';
  return {
    active,
    ready: active.filter(isReady).length,
    terminating: pods.filter(isTerminating).length,
    uncounted,
    ended: { succeeded: uids('succeeded'), failed: uids('failed') },
  };
}

function hasCondition(status: JobStatus, ...types: readonly string[]): boolean {
  return (status.conditions ?? []).some(({ type, status: value }) => types.includes(type) && value === 'True');
}

/** Complete or Failed: nothing changes any more. */
export function isFinished(job: Job): boolean {
  return hasCondition(job.status, 'Complete', 'Failed');
}

/** How the Job is to end, once that is clear; the condition says it before it is final. */
export function targetOf(job: Job, counts: { succeeded: number; failed: number }, now: number): Condition | undefined {
  const before = job.status.conditions?.find(({ type }) => type === 'SuccessCriteriaMet' || type === 'FailureTarget');
  if (before) return before;
  if (counts.succeeded >= job.spec.completions) {
    return jobCondition('SuccessCriteriaMet', 'CompletionsReached', 'Reached expected number of succeeded pods', now);
  }
  const { activeDeadlineSeconds: deadline } = job.spec;
  const start = job.status.startTime === undefined ? now : Date.parse(job.status.startTime);
  if (deadline !== undefined && now - start >= deadline * 1000) {
    return jobCondition('FailureTarget', 'DeadlineExceeded', 'Job was active longer than specified deadline', now);
  }
  if (counts.failed > job.spec.backoffLimit) {
    return jobCondition('FailureTarget', 'BackoffLimitExceeded', 'Job has reached the specified backoff limit', now);
  }
  return undefined;
}

/** The same words again, final. */
export function finalOf(target: Condition, now: number): Condition {
  const type = target.type === 'SuccessCriteriaMet' ? 'Complete' : 'Failed';
  return jobCondition(type, target.reason ?? '', target.message ?? '', now);
}

function jobCondition(type: string, reason: string, message: string, now: number): Condition {
  const time = timestamp(now);
  return { type, status: 'True', lastProbeTime: time, lastTransitionTime: time, reason, message };
}

/** `active: 0` and the like are not written; `ready` and `terminating` are. */
export function jobStatus(job: Job, change: Partial<JobStatus>): JobStatus {
  const merged = { ...job.status, ...change };
  const { active, succeeded, failed, ...rest } = merged;
  return {
    ...rest,
    ...(active ? { active } : {}),
    ...(succeeded ? { succeeded } : {}),
    ...(failed ? { failed } : {}),
    terminating: merged.terminating ?? 0,
    uncountedTerminatedPods: merged.uncountedTerminatedPods ?? {},
    ready: merged.ready ?? 0,
  };
}
