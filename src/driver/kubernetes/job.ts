import type { V1Container, V1Job, V1PodSpec, V1Volume } from '@kubernetes/client-node';
import { OUTPUTS_FOLDER } from '../../bundle/bundle.js';
import type { Way } from '../../frame/delivery.js';
import type { Operation } from '../driver.js';
import type { DriverSettings } from '../settings.js';
import { COLLECTOR_HINTS } from './collector-hints.js';
import { pinnedImage } from './image-reference.js';
import { SERVICE_ACCOUNT_FOLDER } from './input-paths.js';
import type { InputPlan } from './inputs.js';
import { ANNOTATION, INVOCATION_CONTAINER, LABEL, labelValue } from './names.js';
import { invocationSecurity, podSecurity, type PodShape } from './security.js';
import { inputFileName } from '../../frame/sidecar.js';
import { buildSidecar, FILES_VOLUME, OUTPUTS_VOLUME, sidecarVolumes } from './sidecar.js';

/** A finished Job that nobody came back for is removed after a day; long enough for `cnab resume`. */
export const TTL_SECONDS = 24 * 60 * 60;
/** `kubectl logs POD` then shows the bundle's own log. */
const FOR_PEOPLE = { 'kubectl.kubernetes.io/default-container': INVOCATION_CONTAINER };
const TOKEN_VOLUME = 'service-account';

export interface JobParts {
  readonly operation: Operation;
  readonly settings: DriverSettings;
  readonly name: string;
  readonly inputs: InputPlan;
  readonly shape: PodShape;
  readonly way: Way;
  /** Beside the run's own; the sandbox says here what its containers are made of. */
  readonly annotations?: Readonly<Record<string, string>>;
}

/**
 * The Job of a run: one pod, one try, the invocation as the bundle's author made it and one native sidecar beside it
 * (docs/outputs-protocol.md, "The shape"). Pure.
 */
export function buildJob(parts: JobParts): V1Job {
  const { operation, settings, name } = parts;
  const labels = runLabels(operation, settings);
  const annotations = { ...parts.annotations, ...runAnnotations(operation, settings) };
  const deadline = activeDeadlineSeconds(settings);
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name, labels, annotations },
    spec: {
      backoffLimit: 0,
      completions: 1,
      parallelism: 1,
      ttlSecondsAfterFinished: TTL_SECONDS,
      ...(deadline === undefined ? {} : { activeDeadlineSeconds: deadline }),
      template: {
        metadata: { labels, annotations: { ...annotations, ...FOR_PEOPLE, ...COLLECTOR_HINTS } },
        spec: buildPod(parts),
      },
    },
  };
}

/** By these a run is found again: from its id, or from the installation when the home is empty. */
export function runLabels(operation: Operation, settings: DriverSettings): Record<string, string> {
  return {
    ...settings.labels,
    [LABEL.managedBy]: 'cnab',
    [LABEL.driver]: 'kubernetes',
    [LABEL.run]: operation.runId,
    [LABEL.action]: labelValue(operation.action),
    [LABEL.installation]: labelValue(operation.installation),
  };
}

function runAnnotations(operation: Operation, { keepJob }: DriverSettings): Record<string, string> {
  return {
    [ANNOTATION.run]: operation.runId,
    [ANNOTATION.installation]: operation.installation,
    [ANNOTATION.action]: operation.action,
    [ANNOTATION.revision]: operation.revision,
    [ANNOTATION.bundle]: operation.bundleName,
    ...(operation.stateless ? { [ANNOTATION.stateless]: 'true' } : {}),
    ...(keepJob ? { [ANNOTATION.keepJob]: 'true' } : {}),
  };
}

/**
 * Only where the user set a time-out, and later than everything that the CLI does itself: when it fires it deletes the
 * pod, and with it log, exit code and outputs (seen on a cluster).
 */
function activeDeadlineSeconds(settings: DriverSettings): number | undefined {
  if (settings.timeoutMs === 0) return undefined;
  return Math.ceil((settings.timeoutMs + settings.gracePeriodMs + settings.holdTimeMs) / 1000);
}

function buildPod(parts: JobParts): V1PodSpec {
  const { operation, settings, shape } = parts;
  const security = podSecurity(shape);
  return {
    restartPolicy: 'Never',
    // The token is the invocation's alone, by a volume of its own: the sidecar never gets one.
    automountServiceAccountToken: false,
    enableServiceLinks: false,
    // How long the sidecar may go on when the run tool has ended. A run that is stopped is deleted with its own, shorter grace.
    terminationGracePeriodSeconds: Math.ceil(settings.holdTimeMs / 1000),
    nodeSelector: { 'kubernetes.io/os': 'linux' },
    ...(operation.serviceAccount === undefined ? {} : { serviceAccountName: operation.serviceAccount }),
    ...(settings.imagePullSecrets.length === 0
      ? {}
      : { imagePullSecrets: settings.imagePullSecrets.map((name) => ({ name })) }),
    ...(security === undefined ? {} : { securityContext: security }),
    initContainers: [buildSidecar(parts)],
    containers: [buildInvocation(parts)],
    volumes: [
      // Without a size limit: exceeding one evicts the pod in the middle of an installation.
      { name: OUTPUTS_VOLUME, emptyDir: {} },
      ...sidecarVolumes(parts.inputs),
      ...(operation.serviceAccount === undefined ? [] : [tokenVolume()]),
    ],
  };
}

function buildInvocation({ operation, inputs, shape }: JobParts): V1Container {
  const security = invocationSecurity(shape);
  return {
    name: INVOCATION_CONTAINER,
    image: pinnedImage(operation.image),
    command: ['/cnab/app/run'],
    // By reference, because a `value` would have `$(NAME)` expanded and would stand in the Job for all to read.
    env: inputs.environment.map(({ name, secret, key }) => ({
      name,
      valueFrom: { secretKeyRef: { name: secret, key } },
    })),
    ...(security === undefined ? {} : { securityContext: security }),
    volumeMounts: [
      { name: OUTPUTS_VOLUME, mountPath: OUTPUTS_FOLDER },
      // One by one, so that a file lands in a folder of the image without hiding it, and can be written in place.
      ...inputs.files.map(({ file, index }) => ({
        name: FILES_VOLUME,
        mountPath: file.path,
        subPath: inputFileName(index),
      })),
      ...(operation.serviceAccount === undefined
        ? []
        : [{ name: TOKEN_VOLUME, mountPath: SERVICE_ACCOUNT_FOLDER, readOnly: true }]),
    ],
  };
}

/** What the ServiceAccount admission controller mounts by itself where a pod does not forbid it. */
function tokenVolume(): V1Volume {
  return {
    name: TOKEN_VOLUME,
    projected: {
      sources: [
        { serviceAccountToken: { path: 'token', expirationSeconds: 3607 } },
        { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
        { downwardAPI: { items: [{ path: 'namespace', fieldRef: { fieldPath: 'metadata.namespace' } }] } },
      ],
    },
  };
}
