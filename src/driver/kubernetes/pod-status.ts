import type { V1ContainerStatus, V1Pod } from '@kubernetes/client-node';
import { INVOCATION_CONTAINER, OUTPUTS_CONTAINER } from './names.js';

/** Short cuts into a pod's status. Timestamps are read nowhere: the API sends text where the types say Date. */
export function invocationStatus(pod: V1Pod): V1ContainerStatus | undefined {
  return pod.status?.containerStatuses?.find((status) => status.name === INVOCATION_CONTAINER);
}

export function sidecarStatus(pod: V1Pod): V1ContainerStatus | undefined {
  return pod.status?.initContainerStatuses?.find((status) => status.name === OUTPUTS_CONTAINER);
}

export function isRunning(status: V1ContainerStatus | undefined): boolean {
  return status?.state?.running !== undefined;
}

/** True when the container's program was executed for certain: it has a log to read, and it may have done something. */
export function hasStarted(status: V1ContainerStatus | undefined): boolean {
  const terminated = status?.state?.terminated ?? status?.lastState?.terminated;
  if (terminated === undefined) return isRunning(status);
  return !isStartFailure(terminated) && terminated.reason !== 'ContainerStatusUnknown';
}

/** containerd and CRI-O say `StartError`, dockershim's heirs `ContainerCannotRun`: the program was never executed. */
export function isStartFailure(terminated: { readonly reason?: string; readonly exitCode: number }): boolean {
  return terminated.reason === 'StartError' || terminated.reason === 'ContainerCannotRun';
}

/** `reason: message` of whatever the parts hold. */
export function joined(...parts: readonly (string | undefined)[]): string {
  return parts.filter((part) => part !== undefined && part !== '').join(': ');
}

/** True when someone has asked for the pod's deletion. */
export function isTerminating(pod: V1Pod): boolean {
  return pod.metadata?.deletionTimestamp !== undefined;
}

export function isFinished(pod: V1Pod): boolean {
  return pod.status?.phase === 'Failed' || pod.status?.phase === 'Succeeded';
}
