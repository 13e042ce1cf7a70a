import type { V1Pod } from '@kubernetes/client-node';
import { invocationStatus, isTerminating, hasStarted } from './pod-status.js';
import { podVerdict, vanishedVerdict, type PodOutcome } from './pod-verdict.js';
import type { RunView } from './run-view.js';
import { jobStartProblem, podStartProblem, pullInProgress, type StartProblem } from './start-problem.js';

/** What the state of the cluster means for the run. */
export type Decision =
  | { readonly kind: 'verdict'; readonly outcome: PodOutcome }
  /** Nothing has run. `late`: only the time is over, and it could start yet. */
  | { readonly kind: 'not-started'; readonly message: string; readonly late?: true }
  /** Nothing has run; the namespace wants the restricted shape. */
  | { readonly kind: 'restricted'; readonly message: string };

export interface DecisionTimes {
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** The same by the cluster's clock; undefined where that is not known. */
  readonly clusterNow: number | undefined;
  /** When the Job was posted. */
  readonly posted: number;
  /** 0: no limit. */
  readonly startTimeoutMs: number;
}

/** A pod that should have been gone this long has a node that does not answer. */
const LOST_NODE_MS = 30_000;

/** Pure: the same view gives the same decision; undefined while there is reason to wait. */
export function decide(view: RunView, times: DecisionTimes): Decision | undefined {
  const { pod } = view;
  if (pod === undefined) return decideWithoutPod(view, times);
  const outcome = podVerdict(pod, view.history);
  if (outcome !== undefined) return { kind: 'verdict', outcome };
  if (view.neverScheduled) return { kind: 'not-started', message: `no node had taken the pod: ${vanishing(view)}` };
  if (view.podGone) return { kind: 'verdict', outcome: vanishedVerdict(vanishing(view), view.history) };
  if (isLost(pod, times.clusterNow)) {
    const why = `it should have been gone since ${String(pod.metadata?.deletionTimestamp)}, and its node does not answer`;
    return { kind: 'verdict', outcome: vanishedVerdict(why, view.history) };
  }
  if (hasStarted(invocationStatus(pod)) || isTerminating(pod)) return undefined;
  return decideOnProblem(view, podStartProblem(pod, view.podEvents), times);
}

/** Why the run is waiting, for the progress line; undefined when there is nothing to say. */
export function waitingFor(view: RunView): string | undefined {
  const { pod } = view;
  if (pod === undefined) return jobStartProblem(view.jobEvents)?.message;
  if (isTerminating(pod)) return 'for the pod to end';
  return podStartProblem(pod, view.podEvents)?.message ?? pullInProgress(view.podEvents);
}

function decideWithoutPod(view: RunView, times: DecisionTimes): Decision | undefined {
  if (view.jobGone) {
    return { kind: 'verdict', outcome: vanishedVerdict('the Job was deleted by someone else', view.history) };
  }
  if (view.hadPod) return { kind: 'verdict', outcome: vanishedVerdict(vanishing(view), view.history) };
  if (view.jobFailure !== undefined) {
    return { kind: 'not-started', message: `the Job failed before it had a pod: ${view.jobFailure}` };
  }
  return decideOnProblem(view, jobStartProblem(view.jobEvents), times);
}

function decideOnProblem(view: RunView, problem: StartProblem | undefined, times: DecisionTimes): Decision | undefined {
  if (problem?.kind === 'restricted') return { kind: 'restricted', message: problem.message };
  if (problem?.kind === 'never') return { kind: 'not-started', message: problem.message };
  const { now, posted, startTimeoutMs } = times;
  if (startTimeoutMs === 0 || now - posted < startTimeoutMs) return undefined;
  const why = waitingFor(view) ?? 'the cluster gives no reason';
  const message = `the bundle did not start within ${startTimeoutMs / 1000} s: ${why}`;
  return { kind: 'not-started', message, late: true };
}

function vanishing(view: RunView): string {
  if (view.otherPods.length > 0) return `it was replaced by ${view.otherPods.join(', ')}`;
  if (view.jobFailure !== undefined) return view.jobFailure;
  return view.jobGone ? 'the Job was deleted by someone else' : 'it was deleted by someone else';
}

/**
 * Its node does not answer. `deletionTimestamp` is the request's time plus the grace period, by the server's clock, so it is compared
 * with that one alone: a computer whose clock is ahead would take each pod that is stopped for lost.
 */
export function isLost(pod: V1Pod, clusterNow: number | undefined): boolean {
  const deletion = pod.metadata?.deletionTimestamp;
  if (deletion === undefined || clusterNow === undefined) return false;
  const due = Date.parse(String(deletion));
  return !Number.isNaN(due) && clusterNow > due + LOST_NODE_MS;
}
