import type { JsonObject } from '../bundle/bundle.js';

/** What a user chose about how a run is carried out; flags, environment and config file end up here. */
export interface DriverSettings {
  /** kubernetes: file list as in $KUBECONFIG; absent: $KUBECONFIG, ~/.kube/config, in-cluster. */
  readonly kubeconfig?: string;
  readonly context?: string;
  /** Absent: the context's namespace; in a cluster the mounted one; else `default`. */
  readonly namespace?: string;
  readonly createNamespace: boolean;
  readonly imagePullSecrets: readonly string[];
  readonly labels: Readonly<Record<string, string>>;
  /** Image of the `outputs` sidecar. */
  readonly shellImage: string;
  readonly runAsUser?: number;
  readonly podPatch?: PodPatch;
  readonly keepJob: boolean;
  /** How outputs above the small limit travel; `auto`: by exec where it is allowed, else by the log. */
  readonly outputsVia: 'auto' | 'log' | 'exec';
  /** `log` lets sensitive outputs travel base64-encoded in the sidecar's log. */
  readonly sensitiveOutputs: 'exec' | 'log';
  /** 0: no limit. */
  readonly timeoutMs: number;
  readonly startTimeoutMs: number;
  /** What the run tool gets between SIGTERM and SIGKILL when it is stopped. */
  readonly gracePeriodMs: number;
  /** Somebody chose it for this command: else a run that is taken up keeps the one that it was begun with. */
  readonly gracePeriodGiven?: boolean;
  /** How long the sidecar may live on after the run tool ended. */
  readonly holdTimeMs: number;
  readonly maxOutputBytes: number;
  readonly maxOutputsTotalBytes: number;
  /** Largest total that travels by the log: all of it lands on the node's disk, up to three times. */
  readonly maxLogOutputsBytes: number;
  /** Nothing is created, not even the namespace; `run` must not be called. */
  readonly dryRun?: boolean;
}

/** A partial Pod, or the spec of one, merged into the pod of the run as `kubectl patch` would. */
export interface PodPatch {
  readonly document: JsonObject;
  /** Where it came from, for messages. */
  readonly file: string;
}

export const DEFAULT_SHELL_IMAGE = 'docker.io/library/busybox:1.37.0';

export const DEFAULT_SETTINGS: DriverSettings = {
  createNamespace: false,
  imagePullSecrets: [],
  labels: {},
  shellImage: DEFAULT_SHELL_IMAGE,
  keepJob: false,
  outputsVia: 'auto',
  sensitiveOutputs: 'exec',
  timeoutMs: 0,
  startTimeoutMs: 5 * 60_000,
  gracePeriodMs: 30_000,
  holdTimeMs: 10 * 60_000,
  maxOutputBytes: 1024 ** 3,
  maxOutputsTotalBytes: 4 * 1024 ** 3,
  maxLogOutputsBytes: 256 * 1024 ** 2,
};
