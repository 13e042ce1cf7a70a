import type { ContainerSecurity } from './container-runtime.js';
import type { Container, Pod } from './pod-objects.js';

/** The container's security context over the pod's. */
export function containerSecurity(pod: Pod, { securityContext: own = {} }: Container): ContainerSecurity {
  const shared = pod.spec.securityContext ?? {};
  const runAsUser = own.runAsUser ?? shared.runAsUser;
  const runAsGroup = own.runAsGroup ?? shared.runAsGroup;
  return {
    ...(runAsUser === undefined ? {} : { runAsUser }),
    ...(runAsGroup === undefined ? {} : { runAsGroup }),
    ...(shared.fsGroup === undefined ? {} : { fsGroup: shared.fsGroup }),
    readOnlyRootFilesystem: own.readOnlyRootFilesystem ?? false,
    allowPrivilegeEscalation: own.allowPrivilegeEscalation ?? true,
    addCapabilities: own.capabilities?.add ?? [],
    dropCapabilities: own.capabilities?.drop ?? [],
  };
}

const FACTORS: Readonly<Record<string, number>> = {
  '': 1,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
};

/** `limits.memory` in bytes; undefined when there is none. */
export function memoryLimit(container: Container): number | undefined {
  const [, digits = '', unit = ''] =
    /^([0-9.]+)([A-Za-z]*)$/.exec(String(container.resources?.limits?.['memory'] ?? '')) ?? [];
  const factor = FACTORS[unit];
  return digits === '' || factor === undefined ? undefined : Math.floor(Number(digits) * factor);
}
