import http from 'node:http';
import type https from 'node:https';
import { CnabError } from '../../errors.js';

/**
 * The way to one API server: its address, TLS, credentials and kept-alive sockets.
 * Knows nothing of Kubernetes objects; `KubernetesApi` speaks through it.
 */
export interface Connection {
  /** `https://host:6443`, perhaps with a path (Rancher); without a slash at the end and without credentials. */
  readonly server: string;
  /** Name of the kubeconfig's context; absent inside a cluster. */
  readonly context?: string;
  /** As `--kubeconfig` named it, its paths absolute; absent: the way that every tool finds by itself. */
  readonly kubeconfig?: string;
  /** True: no other tool has a way there (the sandbox). */
  readonly isPrivate?: boolean;
  /** Name of the kubeconfig's user, for people. */
  readonly user?: string;
  /** The context's namespace; in a cluster the mounted one. Absent: the caller's default. */
  readonly namespace?: string;
  /**
   * TLS material, headers with credentials and the agent for one request; may run a credential plugin.
   * Rejects with CnabError when credentials cannot be had, with AbortError when the signal is aborted first.
   */
  requestOptions(signal?: AbortSignal): Promise<https.RequestOptions>;
  /** After a 401: forgets cached credentials, so that the next request gets fresh ones. */
  refresh(): void;
  /** Destroys all sockets and ends a running credential plugin. Idempotent. */
  close(): void;
}

export interface PlainConnectionOptions {
  /** `http://127.0.0.1:PORT`; anything but loopback is refused, because the token travels unencrypted. */
  readonly server: string;
  readonly token?: string;
  readonly namespace?: string;
  readonly context?: string;
  readonly isPrivate?: boolean;
}

/** A connection without TLS to a server on this machine: the sandbox's API server, and tests. */
export function plainConnection(options: PlainConnectionOptions): Connection {
  const url = new URL(options.server);
  if (url.protocol !== 'http:' || !isLoopback(url.hostname)) {
    throw new CnabError('invalid', `${url.origin} is not a plain HTTP address of this machine`);
  }
  const agent = new http.Agent({ keepAlive: true });
  const headers = options.token === undefined ? {} : { authorization: `Bearer ${options.token}` };
  return {
    server: options.server.replace(/\/+$/, ''),
    ...(options.namespace === undefined ? {} : { namespace: options.namespace }),
    ...(options.context === undefined ? {} : { context: options.context }),
    ...(options.isPrivate === undefined ? {} : { isPrivate: options.isPrivate }),
    requestOptions: () => Promise.resolve({ agent, headers: { ...headers } }),
    refresh: () => undefined,
    close: () => agent.destroy(),
  };
}

/** `hostname` as `URL` gives it: IPv6 in brackets. */
export function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d{1,3}){3}$/.test(hostname);
}
