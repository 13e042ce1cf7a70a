import type { V1PodSecurityContext, V1SecurityContext } from '@kubernetes/client-node';

/** `open`: the sidecar is root without rights. `single-user`: the whole pod runs as one uid, as the `restricted` standard wants it. */
export type PodShape = { readonly kind: 'open' } | { readonly kind: 'single-user'; readonly uid: number };

/** The uid of "nobody" in distroless images, and of Porter's invocation images. */
export const DEFAULT_UID = 65_532;

/**
 * The shape of the pod. A uid that the user names makes a single-user pod everywhere: inputs are private to that uid,
 * and the sidecar can read what it wrote with mode 0600.
 */
export function podShape(isRestricted: boolean, runAsUser: number | undefined): PodShape {
  if (isRestricted) return { kind: 'single-user', uid: runAsUser ?? DEFAULT_UID };
  return runAsUser === undefined ? { kind: 'open' } : { kind: 'single-user', uid: runAsUser };
}

/** Mode of input files in the pod-private volume. The image's uid is unknown in the open shape, hence 0666 there. */
export function inputMode(access: 'public' | 'private', shape: PodShape): '0444' | '0666' | '0600' {
  if (access === 'public') return '0444';
  return shape.kind === 'open' ? '0666' : '0600';
}

export function podSecurity(shape: PodShape): V1PodSecurityContext | undefined {
  if (shape.kind === 'open') return undefined;
  const { uid } = shape;
  return {
    ...(uid === 0 ? {} : { runAsNonRoot: true }),
    runAsUser: uid,
    runAsGroup: uid,
    fsGroup: uid,
    seccompProfile: { type: 'RuntimeDefault' },
  };
}

/** The bundle's image keeps what it asks for in the open shape. */
export function invocationSecurity(shape: PodShape): V1SecurityContext | undefined {
  if (shape.kind === 'open' || shape.uid === 0) return undefined;
  return { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } };
}

/**
 * DAC_OVERRIDE in the open shape: run tools write files of mode 0600 as any uid, and root without it cannot read them
 * (seen on a kubelet). In a single-user pod the owner is the reader.
 */
export function sidecarSecurity(shape: PodShape): V1SecurityContext {
  return {
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    ...(shape.kind === 'open' ? { runAsUser: 0, runAsGroup: 0 } : {}),
    capabilities: { drop: ['ALL'], ...(shape.kind === 'open' ? { add: ['DAC_OVERRIDE'] } : {}) },
  };
}
