import type { Pod, PodSpec } from './pod-objects.js';

/**
 * The Kubernetes objects as they travel: JSON, times as RFC 3339 text. Only the fields that the API server's own
 * parts read or write have a name here; others pass through.
 */

export interface OwnerReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly controller?: boolean;
  readonly blockOwnerDeletion?: boolean;
}

export interface ObjectMeta {
  readonly name: string;
  readonly generateName?: string;
  readonly namespace?: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly generation?: number;
  readonly creationTimestamp: string;
  readonly deletionTimestamp?: string;
  readonly deletionGracePeriodSeconds?: number;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly ownerReferences?: readonly OwnerReference[];
  readonly finalizers?: readonly string[];
}

export interface KubernetesObject {
  readonly kind: string;
  readonly apiVersion: string;
  readonly metadata: ObjectMeta;
}

export interface Namespace extends KubernetesObject {
  readonly spec: { readonly finalizers?: readonly string[] };
  readonly status: { readonly phase: 'Active' };
}

export interface Secret extends KubernetesObject {
  /** base64. */
  readonly data?: Readonly<Record<string, string>>;
  readonly type: string;
  readonly immutable?: boolean;
}

export interface ConfigMap extends KubernetesObject {
  readonly data?: Readonly<Record<string, string>>;
}

export interface ClusterEvent extends KubernetesObject {
  readonly involvedObject: ObjectReference;
  readonly reason: string;
  readonly message: string;
  readonly source: { readonly component?: string; readonly host?: string };
  /** These three are null or absent in Events of the newer API (the scheduler's), which have `eventTime`. */
  readonly firstTimestamp: string | null;
  readonly lastTimestamp: string | null;
  readonly count?: number;
  readonly type: 'Normal' | 'Warning';
  readonly eventTime: string | null;
  readonly action?: string;
  readonly reportingComponent: string;
  readonly reportingInstance: string;
}

export interface ObjectReference {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly apiVersion: string;
  readonly resourceVersion: string;
  readonly fieldPath?: string;
}

export interface Condition {
  readonly type: string;
  readonly status: 'True' | 'False' | 'Unknown';
  readonly observedGeneration?: number;
  readonly lastProbeTime: string | null;
  readonly lastTransitionTime: string;
  readonly reason?: string;
  readonly message?: string;
}

export interface Job extends KubernetesObject {
  readonly spec: JobSpec;
  readonly status: JobStatus;
}

export interface JobSpec {
  readonly parallelism: number;
  readonly completions: number;
  readonly backoffLimit: number;
  readonly activeDeadlineSeconds?: number;
  readonly ttlSecondsAfterFinished?: number;
  readonly podReplacementPolicy?: 'TerminatingOrFailed' | 'Failed';
  readonly selector: { readonly matchLabels: Readonly<Record<string, string>> };
  readonly template: {
    readonly metadata?: {
      readonly labels?: Readonly<Record<string, string>>;
      readonly annotations?: Readonly<Record<string, string>>;
    };
    readonly spec: PodSpec;
  };
}

export interface JobStatus {
  readonly conditions?: readonly Condition[];
  readonly startTime?: string;
  readonly completionTime?: string;
  readonly active?: number;
  readonly succeeded?: number;
  readonly failed?: number;
  readonly terminating?: number;
  readonly ready?: number;
  readonly uncountedTerminatedPods?: { readonly succeeded?: readonly string[]; readonly failed?: readonly string[] };
}

/** Plural name -> object. */
export interface Resources {
  namespaces: Namespace;
  secrets: Secret;
  configmaps: ConfigMap;
  pods: Pod;
  events: ClusterEvent;
  jobs: Job;
}

export type ResourceName = keyof Resources;

export interface ResourceKind {
  readonly name: ResourceName;
  readonly kind: string;
  /** '' for the core group. */
  readonly group: '' | 'batch';
  readonly apiVersion: 'v1' | 'batch/v1';
  readonly namespaced: boolean;
}

export const RESOURCES: { readonly [K in ResourceName]: ResourceKind } = {
  namespaces: { name: 'namespaces', kind: 'Namespace', group: '', apiVersion: 'v1', namespaced: false },
  secrets: { name: 'secrets', kind: 'Secret', group: '', apiVersion: 'v1', namespaced: true },
  configmaps: { name: 'configmaps', kind: 'ConfigMap', group: '', apiVersion: 'v1', namespaced: true },
  pods: { name: 'pods', kind: 'Pod', group: '', apiVersion: 'v1', namespaced: true },
  events: { name: 'events', kind: 'Event', group: '', apiVersion: 'v1', namespaced: true },
  jobs: { name: 'jobs', kind: 'Job', group: 'batch', apiVersion: 'batch/v1', namespaced: true },
};

/** `metav1.Time`: whole seconds, UTC. */
export function timestamp(milliseconds: number): string {
  return new Date(milliseconds).toISOString().slice(0, 19) + 'Z';
}
