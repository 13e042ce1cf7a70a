import { join } from 'node:path';
import type { Clock } from '../../clock.js';
import type { ContainerLog } from './container-log.js';
import type { ContainerRuntime, RunningContainer } from './container-runtime.js';
import type { EventRecorder } from './event-recorder.js';
import type { KubeletSettings } from './kubelet-settings.js';
import type { ObjectStore } from './object-store.js';
import type { Container, Pod } from './pod-objects.js';
import type { ContainerRecord } from './pod-status.js';
import type { FindSecret } from './volume-payload.js';

/** What all the pods of the node share. */
export interface PodNode {
  readonly store: ObjectStore;
  readonly clock: Clock;
  readonly runtime: ContainerRuntime;
  readonly events: EventRecorder;
  readonly settings: KubeletSettings;
  /** Folder of the pods (0700): `<folder>/<uid>`. */
  readonly folder: string;
  /** Where Secrets and memory-backed volumes go; a tmpfs, where there is one. */
  readonly memoryFolder: string;
  /** Hears of an error that no rule of the kubelet explains; what it was about goes on. */
  readonly onBug: (error: unknown) => void;
}

/** A container of a pod, with what belongs to its present start. */
export interface PodContainer extends ContainerRecord {
  process?: RunningContainer;
  log?: ContainerLog;
  previousLog?: ContainerLog;
  /** The image or the restart back-off: not before `until`; `ms` was the last pause. */
  imageBackOff?: BackOff;
  restartBackOff?: BackOff;
}

export interface BackOff {
  readonly until: number;
  readonly ms: number;
  /** The error that brought it about. */
  readonly why: string;
}

/** The pod as a whole, on this node. Folder names are made of its uid, which the API server drew, never of its name. */
export interface PodState {
  readonly pod: Pod;
  readonly containers: readonly PodContainer[];
  readonly volumeFolders: Map<string, string>;
  sandbox: 'none' | 'ready' | 'gone';
  readonly startTime: string;
}

export function containersOf(pod: Pod): PodContainer[] {
  const make = (container: Container, role: ContainerRecord['role']): PodContainer => ({
    container,
    role,
    starts: 0,
    started: false,
    initialized: false,
    imageId: '',
  });
  const inits = pod.spec.initContainers ?? [];
  return [
    ...inits.map((container) => make(container, container.restartPolicy === 'Always' ? 'sidecar' : 'init')),
    ...pod.spec.containers.map((container) => make(container, 'main')),
  ];
}

export function podFolder(node: PodNode, pod: Pod): string {
  return join(node.folder, pod.metadata.uid);
}

export function secretsOf({ store }: PodNode, pod: Pod): FindSecret {
  return (name) => store.get('secrets', pod.metadata.namespace, name);
}

/** `name_namespace(uid)`, as the kubelet's messages have it. */
export function podTitle({ metadata }: Pod): string {
  return `${metadata.name}_${metadata.namespace}(${metadata.uid})`;
}

/** `spec.initContainers{outputs}`, for events. */
export function fieldPathOf(record: PodContainer): string {
  return `spec.${record.role === 'main' ? 'containers' : 'initContainers'}{${record.container.name}}`;
}

export function graceOf(pod: Pod): number {
  const seconds = pod.spec.terminationGracePeriodSeconds ?? 30;
  return (seconds < 0 ? 1 : seconds) * 1000;
}

export function nextBackOff(node: PodNode, before: BackOff | undefined, why: string): BackOff {
  const ms = before ? Math.min(before.ms * 2, node.settings.maxBackOffMs) : node.settings.backOffMs;
  return { ms, why, until: node.clock.now() + ms };
}
