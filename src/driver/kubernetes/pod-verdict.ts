import type { V1ContainerStateTerminated, V1Pod } from '@kubernetes/client-node';
import type { ErrorCode } from '../../errors.js';
import { invocationStatus, isFinished, isRunning, isStartFailure, isTerminating, joined } from './pod-status.js';

/** How the run tool ended, as far as the pod's status knows. */
export interface PodOutcome {
  readonly status: 'succeeded' | 'failed' | 'unknown';
  readonly ran: 'no' | 'yes' | 'unknown';
  readonly exitCode?: number;
  /** Absent only for a success. */
  readonly problem?: { readonly code: ErrorCode; readonly message: string };
  readonly warnings: readonly string[];
}

/** What earlier looks at the pod have shown: a later status can have forgotten it. */
export interface PodHistory {
  /** The invocation was seen running. */
  readonly started: boolean;
}

/**
 * The verdict on a pod, or undefined while the invocation may still run. It comes from the container's status alone:
 * the Job's condition is 3 to 4 s late, an event can be lost, and a log can be forged (docs/outputs-protocol.md, "The verdict").
 */
export function podVerdict(pod: V1Pod, history: PodHistory): PodOutcome | undefined {
  const status = invocationStatus(pod);
  const terminated = status?.state?.terminated;
  if (terminated !== undefined) return verdictOnTermination(terminated, pod, history);
  if (!isFinished(pod)) return undefined;
  // A finished pod whose invocation is not terminated: it was rejected by the kubelet, or its node was lost.
  const why = joined(pod.status?.reason, pod.status?.message) || `the pod is ${pod.status?.phase}`;
  if (isRunning(status) || status?.lastState?.terminated !== undefined) return unknown(why, { started: true });
  if (history.started) return unknown(why, history);
  return notRun(`the pod ended before the invocation started: ${why}`);
}

/** The verdict when the pod is gone and its last status had none. */
export function vanishedVerdict(why: string, history: PodHistory): PodOutcome {
  return unknown(why, history);
}

function verdictOnTermination(terminated: V1ContainerStateTerminated, pod: V1Pod, history: PodHistory): PodOutcome {
  const { exitCode, reason, message } = terminated;
  if (isStartFailure(terminated)) return notRun(`the run tool could not be started: ${startFailure(message)}`);
  if (reason === 'ContainerStatusUnknown') {
    if (wasNeverCreated(pod, history)) return notRun('the pod was deleted before the invocation started');
    return unknown(joined(pod.status?.reason, pod.status?.message) || joined(reason, message), history);
  }
  if (exitCode === 0) {
    const warnings =
      reason === 'OOMKilled'
        ? ['a process of the bundle was killed for want of memory, though the run tool ended with 0']
        : [];
    return { status: 'succeeded', ran: 'yes', exitCode, warnings };
  }
  return {
    status: 'failed',
    ran: 'yes',
    exitCode,
    problem: { code: 'bundle-failed', message: failure(terminated, pod) },
    warnings: [],
  };
}

/**
 * A kubelet gives this status also to a container of a deleted pod that it never made (seen on a kubelet: a stop while the
 * image was pulled). It has neither id nor image then; with either, or without a deletion, it may have run.
 */
function wasNeverCreated(pod: V1Pod, history: PodHistory): boolean {
  const status = invocationStatus(pod);
  return isTerminating(pod) && !history.started && !status?.containerID && !status?.imageID;
}

/** One sentence on an exit code other than 0, with what the pod knows about its cause. */
function failure(terminated: V1ContainerStateTerminated, pod: V1Pod): string {
  const { exitCode, reason } = terminated;
  const what = `the bundle ended with exit code ${exitCode}`;
  if (reason === 'OOMKilled')
    return `${what}: it was killed for want of memory (OOMKilled); raise the memory limit of the namespace or the bundle's need`;
  const podReason = pod.status?.reason;
  if (podReason !== undefined && podReason !== '') return `${what}: ${joined(podReason, pod.status?.message)}`;
  const disruption = pod.status?.conditions?.find(
    ({ type, status }) => type === 'DisruptionTarget' && status === 'True',
  );
  if (disruption !== undefined)
    return `${what}: its pod was disrupted (${joined(disruption.reason, disruption.message)})`;
  if (isTerminating(pod)) return `${what}: its pod was deleted`;
  if (exitCode === 137) return `${what}: it was killed (SIGKILL)`;
  if (exitCode === 143) return `${what}: it was stopped (SIGTERM)`;
  return what;
}

/** The runtime's words, with the one cause that a bundle's author can act on in front. */
function startFailure(message: string | undefined): string {
  const text = message ?? 'the container runtime gave no reason';
  if (/exec: .*\/cnab\/app\/run.*(no such file|not found)/.test(text))
    return `the image has no /cnab/app/run (${text})`;
  if (/exec format error/.test(text))
    return `the image or its run tool is for another processor architecture, or has no "#!" line (${text})`;
  if (/permission denied/.test(text) && text.includes('/cnab/app/run'))
    return `/cnab/app/run is not executable (${text})`;
  return text;
}

const notRun = (message: string): PodOutcome => ({
  status: 'failed',
  ran: 'no',
  problem: { code: 'unavailable', message },
  warnings: [],
});

const unknown = (why: string, history: PodHistory): PodOutcome => ({
  status: 'unknown',
  ran: history.started ? 'yes' : 'unknown',
  problem: { code: 'contact-lost', message: `the pod was lost before the bundle's exit code was known: ${why}` },
  warnings: [],
});
