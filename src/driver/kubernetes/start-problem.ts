import type { CoreV1Event, V1ContainerStatus, V1Pod } from '@kubernetes/client-node';
import { invocationStatus, isStartFailure, joined, sidecarStatus } from './pod-status.js';

/**
 * Why a run does not start. `never`: waiting heals nothing, so the run ends at once. `restricted`: the namespace wants
 * the restricted shape, and nothing has run. `wait`: it may heal, so it is told and ends the run only with the start time-out.
 */
export interface StartProblem {
  readonly kind: 'never' | 'restricted' | 'wait';
  /** One clause with the cluster's own words. */
  readonly message: string;
}

/** Problem of a pod that is there and whose invocation has not started; undefined when all goes its way. */
export function podStartProblem(pod: V1Pod, events: readonly CoreV1Event[]): StartProblem | undefined {
  const sidecar = sidecarStatus(pod);
  const invocation = invocationStatus(pod);
  return (
    waitingProblem(sidecar, 'the outputs sidecar', events) ??
    waitingProblem(invocation, 'the invocation', events) ??
    sidecarProblem(sidecar) ??
    unschedulable(pod) ??
    eventProblem(events)
  );
}

/** Problem of a Job that has no pod yet, from the events on the Job. */
export function jobStartProblem(events: readonly CoreV1Event[]): StartProblem | undefined {
  const message = lastMessage(events, (event) => event.reason === 'FailedCreate');
  return message === undefined ? undefined : podCreationProblem(message);
}

/** What a refused pod means; also for the `Warning` header that an API server sends with a Job it accepts. */
export function podCreationProblem(message: string): StartProblem {
  if (isPodSecurityRefusal(message)) return { kind: 'restricted', message };
  const told = `the cluster refuses the pod: ${message}`;
  // An admission webhook that cannot be reached, an overloaded API server or a name that is being deleted heal by themselves.
  if (
    /failed calling webhook|internal error|timeout|timed out|connection refused|too many requests|try again/i.test(
      message,
    )
  ) {
    return { kind: 'wait', message: told };
  }
  if (/forbidden|denied|invalid|exceeded quota|not found|unable to validate/i.test(message))
    return { kind: 'never', message: told };
  return { kind: 'wait', message: told };
}

/** PodSecurity admission (`violates PodSecurity "restricted:latest": …`), in events and in Warning headers. */
function isPodSecurityRefusal(message: string): boolean {
  return /violates? PodSecurity/i.test(message);
}

function waitingProblem(
  status: V1ContainerStatus | undefined,
  what: string,
  events: readonly CoreV1Event[],
): StartProblem | undefined {
  const waiting = status?.state?.waiting;
  const reason = waiting?.reason;
  if (status === undefined || reason === undefined) return undefined;
  const image = status.image;
  switch (reason) {
    case 'InvalidImageName':
    case 'ErrImageNeverPull':
    case 'ImageInspectError':
      return {
        kind: 'never',
        message: `the image ${image} of ${what} cannot be used: ${joined(reason, waiting?.message)}`,
      };
    case 'ErrImagePull':
    case 'ImagePullBackOff':
    case 'RegistryUnavailable':
    case 'SignatureValidationFailed':
      return pullProblem(image, what, [waiting?.message, failedPull(image, events)]);
    case 'CreateContainerConfigError':
    case 'CreateContainerError':
    case 'RunContainerError': {
      const message = `${what} cannot be created: ${joined(reason, waiting?.message)}`;
      return { kind: isPermanentConfigError(waiting?.message ?? '') ? 'never' : 'wait', message };
    }
    default: {
      // Beside a native sidecar the status says PodInitializing for up to 15 s after a failed pull (seen on a kubelet).
      const failed = failedPull(image, events);
      return failed === undefined ? undefined : pullProblem(image, what, [failed]);
    }
  }
}

/** The back-off's message says less than the error before it, which the events keep. */
function pullProblem(image: string, what: string, told: readonly (string | undefined)[]): StartProblem {
  const permanent = told.find((message) => message !== undefined && isPermanentPullError(message, image));
  const message = `the image ${image} of ${what} cannot be pulled: ${permanent ?? pullWords(told) ?? 'no reason was given'}`;
  return { kind: permanent === undefined ? 'wait' : 'never', message };
}

/** Why the last pull of the image failed; undefined when none did, or a later one succeeded. */
function failedPull(image: string, events: readonly CoreV1Event[]): string | undefined {
  if (events.some(({ reason, message }) => reason === 'Pulled' && message?.includes(`"${image}"`))) return undefined;
  const start = `Failed to pull image "${image}": `;
  return lastMessage(events, ({ reason, message }) => reason === 'Failed' && (message ?? '').startsWith(start))?.slice(
    start.length,
  );
}

/** The first message that is more than the kubelet's back-off note. */
function pullWords(messages: readonly (string | undefined)[]): string | undefined {
  const said = messages.filter((message) => message !== undefined && message !== '');
  return said.find((message) => !/^Back-off pulling image "[^"]*"$/.test(message ?? '')) ?? said[0];
}

/**
 * The registry answered, and its answer stays: no such image, or no right to it. A name that does not resolve, a time-out
 * or a full registry (429) may heal. The image's own name is taken out first: it could hold any of these words.
 */
function isPermanentPullError(message: string, image: string): boolean {
  const words = message
    .split(image)
    .join(' ')
    .replace(/"[^"]*"/g, ' ');
  if (
    /no such host|timeout|timed out|connection (?:refused|reset)|toomanyrequests|too many requests|\b429\b|\b50[0-9]\b|EOF/i.test(
      words,
    )
  )
    return false;
  return /not found|manifest unknown|name unknown|does not exist|unauthorized|authentication required|access denied|insufficient_scope|\b40[13]\b|denied:|no match for platform|invalid reference format/i.test(
    words,
  );
}

function isPermanentConfigError(message: string): boolean {
  return /runAsNonRoot|non-numeric user|no command specified|invalid mount path|not a directory|is not permitted/i.test(
    message,
  );
}

/** A sidecar that ends before the invocation has started is started again for ever: its image or its memory is at fault. */
function sidecarProblem(status: V1ContainerStatus | undefined): StartProblem | undefined {
  const terminated = status?.state?.terminated ?? status?.lastState?.terminated;
  if (status === undefined || terminated === undefined) return undefined;
  const message =
    joined('the outputs sidecar ended before the bundle was started', terminated.reason, terminated.message) +
    ` (exit code ${terminated.exitCode}, ${status.restartCount} restarts)`;
  const hopeless = isStartFailure(terminated) || terminated.reason === 'OOMKilled' || status.restartCount >= 3;
  return { kind: hopeless ? 'never' : 'wait', message };
}

function unschedulable(pod: V1Pod): StartProblem | undefined {
  const scheduled = pod.status?.conditions?.find(({ type }) => type === 'PodScheduled');
  if (scheduled === undefined || scheduled.status !== 'False') return undefined;
  return { kind: 'wait', message: `no node takes the pod: ${joined(scheduled.message) || joined(scheduled.reason)}` };
}

/** What only events tell: a volume that cannot be mounted, a network that is not there, a hook that fails. */
function eventProblem(events: readonly CoreV1Event[]): StartProblem | undefined {
  const last = lastEvent(events, ({ reason }) => PLACE_TROUBLE.test(reason ?? '') || reason === 'FailedPostStartHook');
  if (last === undefined || (PLACE_TROUBLE.test(last.reason ?? '') && isPast(last, events))) return undefined;
  return last.message === undefined ? undefined : { kind: 'wait', message: last.message.trim() };
}

const PLACE_TROUBLE = /^(?:FailedMount|FailedAttachVolume|FailedCreatePodSandBox|FailedScheduling|NetworkNotReady)$/;

/**
 * A kubelet turns to images only when node, volumes and network are there. Its events have whole seconds, so of two in
 * one second the image's is the later one. Seen on a kubelet: every run may leave a FailedMount, since the Job is made
 * before its Secret, and it is told of for as long as the events live.
 */
function isPast(trouble: CoreV1Event, events: readonly CoreV1Event[]): boolean {
  const image = lastEvent(events, ({ reason }) => /^(?:Pulling|Pulled|Created|Started)$/.test(reason ?? ''));
  return image !== undefined && timeOf(image) >= Math.floor(timeOf(trouble) / 1000) * 1000;
}

/** The kubelet tells of a pull in events only: `Pulling image "…"`, and `Successfully pulled image …` when it is over. */
export function pullInProgress(events: readonly CoreV1Event[]): string | undefined {
  const over = events
    .filter(({ reason }) => reason === 'Pulled' || reason === 'Failed')
    .map(({ message }) => message ?? '');
  const pulls = events.filter(({ reason, message }) => {
    const image = /^Pulling image ("[^"]*")$/.exec(message ?? '')?.[1];
    return reason === 'Pulling' && image !== undefined && !over.some((told) => told.includes(image));
  });
  return lastMessage(pulls, () => true)?.replace(/^Pulling/, 'pulling');
}

function lastMessage(events: readonly CoreV1Event[], wanted: (event: CoreV1Event) => boolean): string | undefined {
  return lastEvent(events, wanted)?.message?.trim();
}

function lastEvent(events: readonly CoreV1Event[], wanted: (event: CoreV1Event) => boolean): CoreV1Event | undefined {
  return events
    .filter(wanted)
    .sort((a, b) => timeOf(a) - timeOf(b))
    .at(-1);
}

/** Events are in no order. Milliseconds; `eventTime` has microseconds where `lastTimestamp` has whole seconds. */
function timeOf(event: CoreV1Event): number {
  const time = Date.parse(String(event.lastTimestamp ?? event.eventTime ?? event.metadata.creationTimestamp ?? ''));
  return Number.isNaN(time) ? 0 : time;
}
