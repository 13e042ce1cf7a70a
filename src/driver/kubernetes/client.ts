import type { Connection } from './connection.js';

export interface KubeconfigConnectionOptions {
  /** `--kubeconfig`: a file, or a list as in $KUBECONFIG. */
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The user's home folder, for ~/.kube/config. */
  readonly home: string;
  /** Base of relative file names; default: the process's. */
  readonly cwd?: string;
  /** `/var/run/secrets/kubernetes.io/serviceaccount`; another one in tests. */
  readonly inClusterRoot?: string;
  /** What a credential plugin says on stderr while it runs ("open this page to log in"). */
  readonly onPluginOutput?: (chunk: Uint8Array) => void;
  /** A terminal at stdin that a credential plugin may read from. */
  readonly interactive?: boolean;
}

/**
 * Rejects with CnabError: `unavailable` when there is no cluster to speak to, `invalid` when a kubeconfig cannot be used.
 * Speaks to nobody yet.
 */
export declare function connectWithKubeconfig(options: KubeconfigConnectionOptions): Promise<Connection>;
