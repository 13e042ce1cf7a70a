import type { CoreV1Event, V1ContainerState, V1ContainerStatus, V1Pod, V1PodStatus } from '@kubernetes/client-node';

export const JOB_UID = '11111111-1111-1111-1111-111111111111';

export interface PodParts {
  readonly uid?: string;
  readonly name?: string;
  readonly resourceVersion?: string;
  /** Absent: no status of that container at all. */
  readonly invocation?: unknown;
  readonly sidecar?: unknown;
  readonly sidecarStatus?: Partial<V1ContainerStatus>;
  readonly invocationStatus?: Partial<V1ContainerStatus>;
  readonly others?: readonly V1ContainerStatus[];
  readonly status?: Partial<V1PodStatus>;
  /** RFC 3339. */
  readonly deletionTimestamp?: string;
}

/** A pod of the driver's shape, as the API's JSON has it; states may have timestamps as text. */
export function runPod(parts: PodParts = {}): V1Pod {
  const { uid = 'pod-1', name = 'run-abcde', resourceVersion = '100', deletionTimestamp } = parts;
  const deletion = deletionTimestamp === undefined ? {} : { deletionTimestamp: deletionTimestamp as unknown as Date };
  const owner = { apiVersion: 'batch/v1', kind: 'Job', name: 'run', uid: JOB_UID, controller: true };
  return {
    metadata: { name, namespace: 'default', uid, resourceVersion, ownerReferences: [owner], ...deletion },
    status: {
      phase: 'Running',
      ...(parts.sidecar === undefined
        ? {}
        : { initContainerStatuses: [statusOf('outputs', 'busybox:1', parts.sidecar, parts.sidecarStatus)] }),
      ...(parts.invocation === undefined
        ? {}
        : {
            containerStatuses: [
              statusOf('invocation', 'r.example/bundle:1', parts.invocation, parts.invocationStatus),
              ...(parts.others ?? []),
            ],
          }),
      ...parts.status,
    },
  };
}

export function statusOf(
  name: string,
  image: string,
  state: unknown,
  more: Partial<V1ContainerStatus> = {},
): V1ContainerStatus {
  return { name, image, imageID: '', ready: false, restartCount: 0, state: state as V1ContainerState, ...more };
}

export const running = { running: { startedAt: '2026-12-01T05:00:00Z' } };
export const initializing = { waiting: { reason: 'PodInitializing' } };
export const waiting = (reason: string, message?: string): unknown => ({
  waiting: { reason, ...(message === undefined ? {} : { message }) },
});
export const ended = (
  exitCode: number,
  reason = exitCode === 0 ? 'Completed' : 'Error',
  message?: string,
): unknown => ({
  terminated: { exitCode, reason, ...(message === undefined ? {} : { message }) },
});

export function event(reason: string, message: string, lastTimestamp = '2026-12-01T05:00:00Z'): CoreV1Event {
  return {
    reason,
    message,
    lastTimestamp: lastTimestamp as unknown as Date,
    metadata: {},
    involvedObject: {},
  };
}
