/**
 * What the kubelet part of the API server asks of the thing that runs containers. The kubelet part decides
 * *what* runs and *when* (order, mounts, environment, signals, restarts); a runtime only makes it run.
 */

/** A host file or folder that shows up inside the container. */
export interface ContainerMount {
  /** Absolute path on the host. It exists, and it is a folder or a regular file. */
  readonly source: string;
  readonly kind: 'folder' | 'file';
  /** Absolute, clean path inside the container, never `/`. The runtime makes what is missing on the way to it. */
  readonly target: string;
  readonly readOnly: boolean;
}

export interface ContainerSpec {
  /** UUID drawn by the API server. */
  readonly podUid: string;
  readonly namespace: string;
  readonly podName: string;
  /** Absolute host path of the pod's own folder (0700). `<podFolder>/runtime` is the runtime's, made on demand; the rest is not. */
  readonly podFolder: string;
  /** Unique within the pod; a DNS label, so it is safe as a file name. */
  readonly name: string;
  /** 0 for the first start of this container, one more for each restart. */
  readonly attempt: number;
  readonly role: 'init' | 'sidecar' | 'main';
  readonly image: string;
  /** Annotations of the pod, as its author gave them: the way to say things that the Kubernetes API has no field for. */
  readonly annotations: Readonly<Record<string, string>>;
  /** `command` of the pod spec, `$(NAME)` already expanded; empty: the image's own entry point. */
  readonly command: readonly string[];
  /** `args` of the pod spec, expanded; they follow the command, or replace the image's own arguments. */
  readonly args: readonly string[];
  /** In order; a name comes once. The runtime adds PATH and HOME where they are absent, and nothing of its own environment. */
  readonly env: readonly { readonly name: string; readonly value: string }[];
  /** In the order to mount: a target below another one comes after it. */
  readonly mounts: readonly ContainerMount[];
  readonly workingDir?: string;
  /** Hostname of the container: the pod's name. */
  readonly hostname: string;
  readonly security: ContainerSecurity;
}

/** The merged security context of pod and container. Absent fields: the image's or the runtime's default. */
export interface ContainerSecurity {
  readonly runAsUser?: number;
  readonly runAsGroup?: number;
  readonly readOnlyRootFilesystem: boolean;
  readonly addCapabilities: readonly string[];
  /** `['ALL']` drops everything that is not added. */
  readonly dropCapabilities: readonly string[];
}

/**
 * Where a container's output goes. Bytes as they come, not cut at lines. A promise is awaited before the next
 * read from that pipe, so that a full disk or a slow log slows the container, as a real runtime's pipe does.
 */
export interface ContainerOutput {
  stdout(chunk: Uint8Array): void | Promise<void>;
  stderr(chunk: Uint8Array): void | Promise<void>;
}

export interface ContainerExit {
  /** 0-255; 128 + signal number when a signal ended it (143 SIGTERM, 137 SIGKILL). */
  readonly exitCode: number;
  readonly signal?: string;
  /** Only what the runtime knows better than the exit code does. */
  readonly reason?: 'OOMKilled';
  readonly message?: string;
}

export interface RunningContainer {
  /** Opaque id, unique on this node, as in `containerd://<id>`: 64 hex digits. */
  readonly id: string;
  /** Never rejects. Resolves when the first process *and all its descendants* are gone and all their output was handed over. */
  readonly exited: Promise<ContainerExit>;
  /** To the container's first process alone (SIGKILL: to all of it). No error when it has ended already. */
  kill(signal: 'SIGTERM' | 'SIGKILL'): void;
  /**
   * Runs a command beside the first process: same root, mounts, environment and user. Resolves with its exit code when
   * all that may still write to its output is gone and the output was handed over; rejects with StartError when it cannot
   * be started, with AbortError when `signal` is aborted, and the command is killed. When the container ends first, the
   * command ends with it (137), also where its output was not taken any more.
   */
  exec(command: readonly string[], options: ExecOptions): Promise<number>;
}

export interface ExecOptions {
  readonly output: ContainerOutput;
  readonly signal?: AbortSignal;
}

export interface ContainerRuntime {
  /** Makes the image ready. Rejects with `ImageError` when it cannot be had. */
  pull(image: string, pod: Pick<ContainerSpec, 'podUid' | 'annotations'>): Promise<{ readonly imageId: string }>;
  /** Resolves when the first process runs. Rejects with `StartError` when it cannot: no such command, a mount target that cannot be made. */
  start(spec: ContainerSpec, output: ContainerOutput): Promise<RunningContainer>;
  /** Frees all that the pod's containers left: mounts, groups, folders below `<podFolder>/runtime`. They have ended. Idempotent. */
  removePod(podUid: string): Promise<void>;
}

/** An image that is not to be had. `message` is the runtime's own sentence; the pod's status quotes it. */
export class ImageError extends Error {
  override readonly name = 'ImageError';
  constructor(
    readonly reason: 'ErrImagePull' | 'InvalidImageName' | 'ErrImageNeverPull',
    message: string,
  ) {
    super(message);
  }
}

/** A container that could not be started; ends as `terminated`, reason `StartError`, exit code 128. */
export class StartError extends Error {
  override readonly name = 'StartError';
}
