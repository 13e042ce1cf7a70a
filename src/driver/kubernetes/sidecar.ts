import type { V1Container, V1Volume } from '@kubernetes/client-node';
import {
  FILES_MOUNT,
  INPUTS_MOUNT,
  OUTPUTS_MOUNT,
  POST_START_COMMAND,
  sidecarEnvironment,
  sidecarScript,
} from '../../frame/sidecar.js';
import type { Way } from '../../frame/delivery.js';
import type { Operation } from '../driver.js';
import type { DriverSettings } from '../settings.js';
import { withoutExpansion } from './environment.js';
import type { InputPlan } from './inputs.js';
import { OUTPUTS_CONTAINER } from './names.js';
import { inputMode, sidecarSecurity, type PodShape } from './security.js';
import { outputLimits } from './way.js';

export const OUTPUTS_VOLUME = 'outputs';
export const FILES_VOLUME = 'files';
const INPUTS_VOLUME = 'inputs';

export interface SidecarParts {
  readonly operation: Operation;
  readonly settings: DriverSettings;
  readonly inputs: InputPlan;
  readonly shape: PodShape;
  readonly way: Way;
}

/**
 * The one container of ours: brings the inputs, holds the invocation back until they are there, and sends the outputs
 * when it has ended. A native sidecar (init container that is restarted for ever, Kubernetes 1.29).
 */
export function buildSidecar({ operation, settings, inputs, shape, way }: SidecarParts): V1Container {
  const environment = sidecarEnvironment({
    runId: operation.runId,
    wanted: operation.outputs,
    limits: outputLimits(settings, way),
    way,
    inputs: inputs.files.map(({ file, parts }) => ({
      mode: Number.parseInt(inputMode(file.access, shape), 8),
      parts: parts.length,
    })),
  });
  return {
    name: OUTPUTS_CONTAINER,
    image: settings.shellImage,
    imagePullPolicy: 'IfNotPresent',
    restartPolicy: 'Always',
    command: ['/bin/sh', '-c', withoutExpansion(sidecarScript())],
    env: [...environment, ...timesOf(settings)].map(({ name, value }) => ({ name, value: withoutExpansion(value) })),
    lifecycle: { postStart: { exec: { command: [...POST_START_COMMAND] } } },
    securityContext: sidecarSecurity(shape),
    resources: sidecarResources(inputs.fileBytes),
    volumeMounts: [
      { name: OUTPUTS_VOLUME, mountPath: OUTPUTS_MOUNT, readOnly: true },
      { name: INPUTS_VOLUME, mountPath: INPUTS_MOUNT, readOnly: true },
      { name: FILES_VOLUME, mountPath: FILES_MOUNT },
    ],
  };
}

/** Nothing to the sidecar: whoever takes the run up goes by the times that it was begun with. Milliseconds. */
function timesOf({ startTimeoutMs, gracePeriodMs }: DriverSettings): { name: string; value: string }[] {
  return [
    { name: 'CNAB_START_TIMEOUT', value: String(Math.ceil(startTimeoutMs)) },
    { name: 'CNAB_GRACE_PERIOD', value: String(Math.ceil(gracePeriodMs)) },
  ];
}

export function sidecarVolumes(inputs: InputPlan): V1Volume[] {
  const keys = new Map<string, { key: string; path: string }[]>();
  for (const { secret, key } of inputs.files.flatMap((file) => file.parts)) {
    keys.set(secret, [...(keys.get(secret) ?? []), { key, path: key }]);
  }
  // Only the files' keys are named: the environment's values never reach the sidecar.
  const sources = [...keys].map(([name, items]) => ({ secret: { name, items } }));
  return [
    { name: FILES_VOLUME, emptyDir: { medium: 'Memory' } },
    sources.length === 0 ? { name: INPUTS_VOLUME, emptyDir: {} } : { name: INPUTS_VOLUME, projected: { sources } },
  ];
}

/** Files in a memory volume count as memory of the container that writes them. No CPU limit: it would only slow the dump. */
function sidecarResources(fileBytes: number): { requests: Record<string, string>; limits: Record<string, string> } {
  const files = Math.ceil(fileBytes / 1024 ** 2);
  return {
    requests: { cpu: '10m', memory: `${32 + files}Mi` },
    limits: { memory: `${128 + files}Mi` },
  };
}
