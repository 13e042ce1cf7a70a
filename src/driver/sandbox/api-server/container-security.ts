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
    readOnlyRootFilesystem: own.readOnlyRootFilesystem ?? false,
    addCapabilities: own.capabilities?.add ?? [],
    dropCapabilities: own.capabilities?.drop ?? [],
  };
}
