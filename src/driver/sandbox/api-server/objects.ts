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
  readonly status: { readonly phase: 'Active' | 'Terminating' };
}

export interface Secret extends KubernetesObject {
  /** base64. */
  readonly data?: Readonly<Record<string, string>>;
  readonly type: string;
  readonly immutable?: boolean;
}

export interface ClusterEvent extends KubernetesObject {
  readonly involvedObject: ObjectReference;
  readonly reason: string;
  readonly message: string;
  readonly source: { readonly component: string; readonly host?: string };
  readonly firstTimestamp: string;
  readonly lastTimestamp: string;
  readonly count: number;
  readonly type: 'Normal' | 'Warning';
  readonly eventTime: null;
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
  readonly suspend?: boolean;
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

export interface Pod extends KubernetesObject {
  readonly spec: PodSpec;
  readonly status: PodStatus;
}

export interface PodSpec {
  readonly restartPolicy?: 'Always' | 'OnFailure' | 'Never';
  readonly terminationGracePeriodSeconds?: number;
  readonly nodeName?: string;
  readonly nodeSelector?: Readonly<Record<string, string>>;
  readonly serviceAccountName?: string;
  readonly hostname?: string;
  readonly securityContext?: PodSecurityContext;
  readonly initContainers?: readonly Container[];
  readonly containers: readonly Container[];
  readonly volumes?: readonly Volume[];
}

export interface PodSecurityContext {
  readonly runAsNonRoot?: boolean;
  readonly runAsUser?: number;
  readonly runAsGroup?: number;
  readonly fsGroup?: number;
  readonly seccompProfile?: { readonly type: string };
}

export interface SecurityContext extends Omit<PodSecurityContext, 'fsGroup'> {
  readonly privileged?: boolean;
  readonly allowPrivilegeEscalation?: boolean;
  readonly readOnlyRootFilesystem?: boolean;
  readonly capabilities?: { readonly add?: readonly string[]; readonly drop?: readonly string[] };
}

export interface Container {
  readonly name: string;
  readonly image: string;
  readonly restartPolicy?: string;
  readonly command?: readonly string[];
  readonly args?: readonly string[];
  readonly workingDir?: string;
  readonly env?: readonly EnvVar[];
  readonly volumeMounts?: readonly VolumeMount[];
  readonly imagePullPolicy?: 'Always' | 'IfNotPresent' | 'Never';
  readonly lifecycle?: { readonly postStart?: { readonly exec?: { readonly command?: readonly string[] } } };
  readonly resources?: { readonly limits?: Readonly<Record<string, string | number>> };
  readonly securityContext?: SecurityContext;
}

export interface EnvVar {
  readonly name: string;
  readonly value?: string;
  readonly valueFrom?: {
    readonly secretKeyRef?: KeySelector;
    readonly configMapKeyRef?: KeySelector;
    readonly fieldRef?: { readonly fieldPath: string };
  };
}

export interface KeySelector {
  readonly name: string;
  readonly key: string;
  readonly optional?: boolean;
}

export interface VolumeMount {
  readonly name: string;
  readonly mountPath: string;
  readonly subPath?: string;
  readonly readOnly?: boolean;
}

export interface KeyToPath {
  readonly key: string;
  readonly path: string;
  readonly mode?: number;
}

export interface Volume {
  readonly name: string;
  readonly emptyDir?: { readonly medium?: string; readonly sizeLimit?: string };
  readonly secret?: {
    readonly secretName: string;
    readonly items?: readonly KeyToPath[];
    readonly optional?: boolean;
    readonly defaultMode?: number;
  };
  readonly projected?: {
    readonly sources?: readonly {
      readonly secret?: { readonly name: string; readonly items?: readonly KeyToPath[]; readonly optional?: boolean };
    }[];
    readonly defaultMode?: number;
  };
}

export interface PodStatus {
  readonly observedGeneration?: number;
  readonly phase: 'Pending' | 'Running' | 'Succeeded' | 'Failed' | 'Unknown';
  readonly conditions?: readonly Condition[];
  readonly reason?: string;
  readonly message?: string;
  readonly hostIP?: string;
  readonly podIP?: string;
  readonly startTime?: string;
  readonly initContainerStatuses?: readonly ContainerStatus[];
  readonly containerStatuses?: readonly ContainerStatus[];
  readonly qosClass?: string;
}

export interface ContainerStatus {
  readonly name: string;
  readonly state: ContainerState;
  readonly lastState: ContainerState;
  readonly ready: boolean;
  readonly restartCount: number;
  readonly image: string;
  readonly imageID: string;
  readonly containerID?: string;
  readonly started: boolean;
}

export interface ContainerState {
  readonly waiting?: { readonly reason?: string; readonly message?: string };
  readonly running?: { readonly startedAt: string };
  readonly terminated?: Terminated;
}

export interface Terminated {
  readonly exitCode: number;
  readonly signal?: number;
  readonly reason?: string;
  readonly message?: string;
  readonly startedAt: string | null;
  readonly finishedAt: string | null;
  readonly containerID?: string;
}

/** Plural name -> object. */
export interface Resources {
  namespaces: Namespace;
  secrets: Secret;
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
  pods: { name: 'pods', kind: 'Pod', group: '', apiVersion: 'v1', namespaced: true },
  events: { name: 'events', kind: 'Event', group: '', apiVersion: 'v1', namespaced: true },
  jobs: { name: 'jobs', kind: 'Job', group: 'batch', apiVersion: 'batch/v1', namespaced: true },
};

/** `metav1.Time`: whole seconds, UTC. */
export function timestamp(milliseconds: number): string {
  return new Date(milliseconds).toISOString().slice(0, 19) + 'Z';
}
