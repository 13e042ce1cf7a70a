/**
 * Where an installation lives. (target, name) is the identity of an installation: the same name on two
 * clusters or in two namespaces is two installations.
 */
export interface Target {
  /** Stable and safe as a folder name: derived from the driver and the namespace's UID (or its stand-in). */
  readonly id: string;
  readonly driver: string;
  /** For people: `prod/payments` (context/namespace), `sandbox`. */
  readonly label: string;
  readonly context?: string;
  /** The list of kubeconfig files that was named when it was last used, paths absolute; for commands to paste. */
  readonly kubeconfig?: string;
  readonly server?: string;
  readonly namespace?: string;
  /** UID that stands behind `id`, to notice another cluster behind a remembered server and namespace. */
  readonly uid?: string;
  /** The user that the kubeconfig names; for people, never part of the identity. */
  readonly user?: string;
}
