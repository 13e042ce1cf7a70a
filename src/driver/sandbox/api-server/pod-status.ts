import type { Condition } from './objects.js';
import type { Container, ContainerState, ContainerStatus, Pod, PodStatus, Terminated } from './pod-objects.js';
import { timestamp } from './objects.js';

/** What the kubelet part knows about one container of a pod. */
export interface ContainerRecord {
  readonly container: Container;
  readonly role: 'init' | 'sidecar' | 'main';
  /** Starts so far; the running or last one is number `starts - 1`. */
  starts: number;
  running?: { readonly id: string; readonly startedAt: string };
  /** It runs and its postStart hook is done. */
  started: boolean;
  /** Sidecar: was started once; stays so when it crashes. */
  initialized: boolean;
  terminated?: Terminated;
  /** How the start before that one ended. */
  previous?: Terminated;
  /** Why it does not run, from the last attempt to start it. Seen in the status only from the next sync on. */
  waiting?: { readonly reason: string; readonly message?: string };
  imageId: string;
}

export interface PodView {
  readonly pod: Pod;
  readonly records: readonly ContainerRecord[];
  readonly startTime: string;
  /** `none`: not made yet; `ready`; `gone`: all containers were stopped. */
  readonly sandbox: 'none' | 'ready' | 'gone';
  /** The final word: nothing runs any more. */
  readonly final: boolean;
  readonly evicted?: string;
}

const LOST: Terminated = {
  exitCode: 137,
  reason: 'ContainerStatusUnknown',
  message: 'The container could not be located when the pod was terminated',
  startedAt: null,
  finishedAt: null,
};

/** The pod's status as a kubelet of 1.37 reports it. `now` in milliseconds. */
export function podStatus(view: PodView, now: number): PodStatus {
  const inits = view.records.filter((record) => record.role !== 'main');
  const mains = view.records.filter((record) => record.role === 'main');
  const initialized = inits.every(isInitialized);
  const waiting = inits.length > 0 ? 'PodInitializing' : 'ContainerCreating';
  const statusOf = (record: ContainerRecord): ContainerStatus => {
    const lost = view.final && !record.terminated && (record.role !== 'main' || initialized);
    return containerStatus(record, lost ? { terminated: LOST } : stateOf(record, waiting));
  };
  const initStatuses = inits.map(statusOf);
  const mainStatuses = mains.map(statusOf);
  const phase = phaseOf(view, initialized, mains, mainStatuses);
  const fresh = view.sandbox === 'none' && view.startTime === '';
  return {
    observedGeneration: 1,
    phase,
    conditions: conditions(view, { initialized, phase, inits, mains }, now),
    ...(view.evicted === undefined ? {} : { reason: 'Evicted', message: view.evicted }),
    hostIP: '127.0.0.1',
    ...(view.sandbox === 'none' ? {} : { podIP: '127.0.0.1' }),
    ...(fresh ? {} : { startTime: view.startTime }),
    ...(inits.length === 0 ? {} : { initContainerStatuses: initStatuses }),
    containerStatuses: mainStatuses,
    qosClass: view.pod.status.qosClass ?? 'BestEffort',
  };
}

/** A plain init container has ended well, a sidecar was through its postStart hook (also if it has ended since). */
export function isInitialized(record: ContainerRecord): boolean {
  return record.role === 'init' ? record.terminated?.exitCode === 0 : record.initialized;
}

function stateOf(record: ContainerRecord, waiting: string): ContainerState {
  if (record.running && (record.started || record.role === 'init')) {
    return { running: { startedAt: record.running.startedAt } };
  }
  const ended = record.running ? undefined : record.terminated;
  // The kubelet shows no waiting reason over an init container that ended with 0.
  if (ended && record.role !== 'main' && ended.exitCode === 0) return { terminated: ended };
  if (record.waiting) return { waiting: record.waiting };
  if (ended) return { terminated: ended };
  return { waiting: { reason: waiting } };
}

function containerStatus(record: ContainerRecord, state: ContainerState): ContainerStatus {
  const running = state.running !== undefined;
  const id = record.running?.id ?? record.terminated?.containerID?.replace('containerd://', '');
  // While a container waits for its next start, its end is what came before.
  const last = state.terminated || running ? record.previous : (record.terminated ?? record.previous);
  return {
    name: record.container.name,
    state,
    lastState: last ? { terminated: last } : {},
    ready: record.role === 'init' ? state.terminated?.exitCode === 0 : running,
    restartCount: Math.max(0, record.starts - 1),
    image: record.container.image,
    imageID: record.imageId,
    ...(id === undefined ? {} : { containerID: `containerd://${id}` }),
    started: running,
  };
}

function phaseOf(
  view: PodView,
  initialized: boolean,
  mains: readonly ContainerRecord[],
  statuses: readonly ContainerStatus[],
): PodStatus['phase'] {
  if (view.evicted !== undefined) return 'Failed';
  if (view.final) return statuses.every((status) => status.state.terminated?.exitCode === 0) ? 'Succeeded' : 'Failed';
  return initialized && mains.some((record) => record.starts > 0) ? 'Running' : 'Pending';
}

interface Readiness {
  readonly initialized: boolean;
  readonly phase: PodStatus['phase'];
  readonly inits: readonly ContainerRecord[];
  readonly mains: readonly ContainerRecord[];
}

function conditions(view: PodView, at: Readiness, now: number): Condition[] {
  const ended = at.mains.every((record) => record.terminated && !record.running) && view.sandbox === 'gone';
  const ok = at.mains.every((record) => record.terminated?.exitCode === 0);
  const names = (records: readonly ContainerRecord[]): string => `[${records.map((r) => r.container.name).join(' ')}]`;
  const lasting = [...at.inits.filter((record) => record.role === 'sidecar'), ...at.mains];
  const unready = lasting.filter((record) => !(record.running && record.started));
  const readiness: Draft = ended
    ? ['False', ok ? 'PodCompleted' : 'PodFailed']
    : unready.length === 0
      ? ['True']
      : ['False', 'ContainersNotReady', `containers with unready status: ${names(unready)}`];
  const incomplete = names(at.inits.filter((record) => !isInitialized(record)));
  const drafts: Record<string, Draft> = {
    ...(view.evicted === undefined ? {} : { DisruptionTarget: ['True', 'TerminationByKubelet', view.evicted] }),
    PodReadyToStartContainers:
      view.sandbox === 'ready'
        ? ['True']
        : [
            'False',
            'PodSandboxNotReady',
            view.sandbox === 'none' ? 'no pod sandbox exists' : 'pod sandbox is not ready',
          ],
    Initialized: !at.initialized
      ? ['False', 'ContainersNotInitialized', `containers with incomplete status: ${incomplete}`]
      : ended && ok
        ? ['True', 'PodCompleted']
        : ['True'],
    Ready: readiness,
    ContainersReady: readiness,
    PodScheduled: ['True'],
  };
  return Object.entries(drafts).map(([type, draft]) => condition(view.pod.status.conditions, type, draft, now));
}

type Draft = readonly [status: Condition['status'], reason?: string, message?: string];

/** A condition keeps the time of its last transition while its status stays. */
export function condition(
  before: readonly Condition[] | undefined,
  type: string,
  draft: Draft,
  now: number,
): Condition {
  const [status, reason, message] = draft;
  const old = before?.find((entry) => entry.type === type);
  return {
    type,
    observedGeneration: 1,
    status,
    lastProbeTime: null,
    lastTransitionTime: old?.status === status ? old.lastTransitionTime : timestamp(now),
    ...(reason === undefined ? {} : { reason }),
    ...(message === undefined ? {} : { message }),
  };
}
