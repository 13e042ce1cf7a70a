import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { messageOf } from '../../../errors.js';
import { ContainerLog } from './container-log.js';
import { ContainerConfigError, containerEnvironment } from './container-environment.js';
import { ImageError, StartError, type ContainerExit, type ContainerSpec } from './container-runtime.js';
import { containerSecurity } from './container-security.js';
import { timestamp } from './objects.js';
import { stopContainer } from './container-stop.js';
import { fieldPathOf, graceOf, nextBackOff, podFolder, podTitle, secretsOf } from './pod-node.js';
import type { PodContainer, PodNode, PodState } from './pod-node.js';
import { containerMounts } from './volumes.js';

export interface StartParts {
  readonly node: PodNode;
  readonly state: PodState;
  readonly record: PodContainer;
  /** Aborted when the pod is to end. */
  readonly signal: AbortSignal;
  /** Called once the container has ended. */
  readonly onExit: () => void;
}

interface Attempt extends StartParts {
  /** Records an event about the container. */
  readonly event: (reason: string, message: string, type?: 'Normal' | 'Warning') => void;
}

/**
 * One attempt to start a container, as the kubelet makes it: back-off, image, config, start, postStart hook. True when it
 * was started (or has ended with StartError); false when the pod must be synced again later, `record.waiting` says why.
 */
export async function startContainer(parts: StartParts): Promise<boolean> {
  const { node, state, record, onExit } = parts;
  const event: Attempt['event'] = (reason, message, type = 'Normal') =>
    node.events.record(state.pod, { reason, message, type, fieldPath: fieldPathOf(record) });
  const attempt = { ...parts, event };
  if (inRestartBackOff(attempt)) return false;
  if (!(await pullImage(attempt))) return false;
  const spec = specOf(attempt);
  if (!spec) return false;
  event('Created', 'Container created');
  delete record.waiting;
  if (record.terminated) record.previous = record.terminated;
  if (record.log) record.previousLog = record.log;
  delete record.terminated;
  const { maxLogBytes: maxBytes, logCheckMs: everyMs, maxLogFiles: keep } = node.settings;
  const folder = join(podFolder(node, state.pod), 'logs', spec.name);
  const log = new ContainerLog(folder, record.starts, node.clock, { maxBytes, everyMs, keep });
  record.log = log;
  record.starts += 1;
  const startedAt = timestamp(node.clock.now());
  try {
    const started = await node.runtime.start(spec, {
      stdout: (chunk) => log.write('stdout', chunk),
      stderr: (chunk) => log.write('stderr', chunk),
    });
    record.process = started;
    record.running = { id: started.id, startedAt };
    void started.exited.then((exit) => {
      finish(attempt, startedAt, exit);
      onExit();
    });
  } catch (error) {
    log.end();
    if (!(error instanceof StartError)) {
      record.waiting = { reason: 'RunContainerError', message: messageOf(error) };
      event('Failed', `Error: ${messageOf(error)}`, 'Warning');
      return false;
    }
    const finishedAt = timestamp(node.clock.now());
    // The first second of 1970 is what containerd reports for a container that never ran.
    const startedAt = '1970-01-01T00:00:00Z';
    const containerID = `containerd://${randomBytes(32).toString('hex')}`;
    const times = { startedAt, finishedAt, containerID };
    record.terminated = { exitCode: 128, reason: 'StartError', message: error.message, ...times };
    event('Failed', `Error: ${error.message}`, 'Warning');
    onExit();
    return true;
  }
  event('Started', 'Container started');
  if (!(await postStart(attempt))) return false;
  record.started = true;
  record.initialized = true;
  return true;
}

function finish({ node, record }: Attempt, startedAt: string, exit: ContainerExit): void {
  record.log?.end();
  record.terminated = {
    exitCode: exit.exitCode,
    reason: exit.reason ?? (exit.exitCode === 0 ? 'Completed' : 'Error'),
    ...(exit.message === undefined ? {} : { message: exit.message }),
    startedAt,
    finishedAt: timestamp(node.clock.now()),
    containerID: `containerd://${record.running?.id ?? ''}`,
  };
  delete record.running;
  delete record.process;
  record.started = false;
}

/** The first restart comes at once; every later one waits, twice as long each time. */
function inRestartBackOff({ node, state, record, event }: Attempt): boolean {
  if (record.starts < 1) return false;
  const { name } = record.container;
  const title = podTitle(state.pod);
  if (record.starts > 1 && (record.restartBackOff?.why ?? '') !== String(record.starts)) {
    record.restartBackOff = nextBackOff(node, record.restartBackOff, String(record.starts));
  }
  const backOff = record.restartBackOff;
  if (!backOff || backOff.until <= node.clock.now()) return false;
  event('BackOff', `Back-off restarting failed container ${name} in pod ${title}`, 'Warning');
  const message = `back-off ${goDuration(backOff.ms)} restarting failed container=${name} pod=${title}`;
  record.waiting = { reason: 'CrashLoopBackOff', message };
  return true;
}

/** As Go prints a duration of whole seconds: `10s`, `1m20s`. */
function goDuration(ms: number): string {
  const seconds = Math.round(ms / 1000);
  return seconds < 60 ? `${seconds}s` : `${Math.floor(seconds / 60)}m${seconds % 60}s`;
}

async function pullImage({ node, state, record, signal, event }: Attempt): Promise<boolean> {
  const { image } = record.container;
  const backOff = record.imageBackOff;
  if (backOff && backOff.until > node.clock.now()) {
    const message = `Back-off pulling image "${image}"`;
    event('BackOff', message);
    event('Failed', 'Error: ImagePullBackOff', 'Warning');
    record.waiting = { reason: 'ImagePullBackOff', message: `${message}: ${backOff.why}` };
    return false;
  }
  try {
    const { uid: podUid, annotations = {} } = state.pod.metadata;
    const pulled = await orAborted(node.runtime.pull(image, { podUid, annotations }), signal);
    record.imageId = pulled.imageId;
    delete record.imageBackOff;
    event('Pulled', `Container image "${image}" already present on machine and can be accessed by the pod`);
    return true;
  } catch (error) {
    if (signal.aborted) return false;
    const reason = error instanceof ImageError ? error.reason : 'ErrImagePull';
    const message = messageOf(error);
    record.waiting = { reason, message };
    if (reason === 'InvalidImageName') {
      event('InspectFailed', message, 'Warning');
    } else {
      record.imageBackOff = nextBackOff(node, backOff, `${reason}: ${message}`);
      event('Pulling', `Pulling image "${image}"`);
      event('Failed', `Failed to pull image "${image}": ${message}`, 'Warning');
    }
    event('Failed', `Error: ${reason}`, 'Warning');
    return false;
  }
}

function specOf({ node, state, record, event }: Attempt): ContainerSpec | undefined {
  const { pod } = state;
  const { container } = record;
  try {
    const { workingDir } = container;
    return {
      podUid: pod.metadata.uid,
      namespace: pod.metadata.namespace ?? '',
      podName: pod.metadata.name,
      podFolder: podFolder(node, pod),
      name: container.name,
      attempt: record.starts,
      role: record.role,
      image: container.image,
      annotations: pod.metadata.annotations ?? {},
      ...containerEnvironment(container, secretsOf(node, pod)),
      mounts: containerMounts(pod, container, state.volumeFolders),
      ...(workingDir === undefined ? {} : { workingDir }),
      hostname: pod.spec.hostname ?? pod.metadata.name.slice(0, 63),
      security: containerSecurity(pod, container),
    };
  } catch (error) {
    if (!(error instanceof ContainerConfigError)) throw error;
    record.waiting = { reason: 'CreateContainerConfigError', message: error.message };
    event('Failed', `Error: ${error.message}`, 'Warning');
    return undefined;
  }
}

async function postStart({ node, state, record, signal, event }: Attempt): Promise<boolean> {
  const { container, process: started } = record;
  const command = container.lifecycle?.postStart?.exec?.command;
  if (!command || !started) return true;
  const nowhere = { stdout: () => undefined, stderr: () => undefined };
  const text = command.join(' ');
  const problem = await started.exec(command, { output: nowhere, signal }).then(
    (code) => (code === 0 ? undefined : `command '${text}' exited with ${code}: `),
    (error: unknown) => {
      if (signal.aborted) return 'stopped';
      if (error instanceof StartError)
        return `rpc error: code = Unknown desc = failed to exec in container: ${error.message}`;
      throw error;
    },
  );
  if (problem === undefined) return true;
  if (problem === 'stopped') return false;
  event('FailedPostStartHook', 'PostStartHook failed', 'Warning');
  event('Killing', 'FailedPostStartHook');
  await stopContainer(node, started, graceOf(state.pod));
  const where = `Container "${container.name}" in Pod "${podTitle(state.pod)}"`;
  const message = `Exec lifecycle hook ([${text}]) for ${where} failed - error: ${problem}, message: ""`;
  record.waiting = { reason: 'PostStartHookError', message };
  return false;
}

async function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  if (signal.aborted) throw signal.reason;
  let stop = (): void => undefined;
  const aborted = new Promise<never>((_, reject) => {
    stop = (): void => reject(signal.reason as Error);
    signal.addEventListener('abort', stop, { once: true });
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}
