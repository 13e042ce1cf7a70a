import type { Container, PodSpec, SecurityContext } from './pod-objects.js';

/**
 * What the Pod Security level of a namespace has against a pod, in the words of the admission plugin; empty when nothing.
 * `restricted` is checked in the controls that this project's pods could break; `baseline` only for `privileged`.
 */
export function podSecurityViolations(level: string | undefined, spec: PodSpec): string[] {
  const containers = [...(spec.initContainers ?? []), ...spec.containers];
  if (level === 'baseline' || level === 'restricted') {
    const privileged = failing(containers, (context) => context.privileged === true);
    const findings = privileged ? [`privileged (${privileged} must not set securityContext.privileged=true)`] : [];
    return level === 'baseline' ? findings : [...findings, ...restricted(spec, containers)];
  }
  return [];
}

function restricted(spec: PodSpec, containers: readonly Container[]): string[] {
  const pod = spec.securityContext ?? {};
  const escalating = failing(containers, (context) => context.allowPrivilegeEscalation !== false);
  const capable = failing(
    containers,
    ({ capabilities }) =>
      !capabilities?.drop?.includes('ALL') || (capabilities.add ?? []).some((name) => name !== 'NET_BIND_SERVICE'),
  );
  const perhapsRoot = failing(containers, ({ runAsNonRoot }) => (runAsNonRoot ?? pod.runAsNonRoot) !== true);
  const root = failing(containers, ({ runAsUser }) => (runAsUser ?? pod.runAsUser) === 0);
  const unconfined = failing(containers, ({ seccompProfile }) => {
    const type = (seccompProfile ?? pod.seccompProfile)?.type;
    return type !== 'RuntimeDefault' && type !== 'Localhost';
  });
  return [
    ...(escalating
      ? [`allowPrivilegeEscalation != false (${escalating} must set securityContext.allowPrivilegeEscalation=false)`]
      : []),
    ...(capable ? [`unrestricted capabilities (${capable} must set securityContext.capabilities.drop=["ALL"])`] : []),
    ...(perhapsRoot ? [`runAsNonRoot != true (pod or ${perhapsRoot} must set securityContext.runAsNonRoot=true)`] : []),
    ...(root ? [`runAsUser=0 (${root} must not set runAsUser=0)`] : []),
    ...(unconfined
      ? [
          `seccompProfile (pod or ${unconfined} must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost")`,
        ]
      : []),
  ];
}

/** `container "a"`, `containers "a", "b"`; undefined when none fails. */
function failing(containers: readonly Container[], fails: (context: SecurityContext) => boolean): string | undefined {
  const names = containers.filter((container) => fails(container.securityContext ?? {})).map(({ name }) => `"${name}"`);
  if (names.length === 0) return undefined;
  return names.length === 1 ? `container ${names[0]}` : `containers ${names.join(', ')}`;
}
