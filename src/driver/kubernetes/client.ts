import { KubeConfig } from '@kubernetes/client-node';
import http from 'node:http';
import https from 'node:https';
import net from 'node:net';
import { delimiter, resolve } from 'node:path';
import tls from 'node:tls';
import { CnabError } from '../../errors.js';
import { systemClock } from '../clock.js';
import type { Clock } from '../clock.js';
import type { Connection } from './connection.js';
import { readClientConfig } from './client-config.js';
import type { ClientConfig } from './client-config.js';
import { CredentialError } from './kubernetes-error.js';
import { oneLine } from './network-error.js';
import { proxyAgent } from './proxy-agent.js';
import type { Proof } from './user-credentials.js';
import { untilAborted } from './wait.js';

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
  /** Default: 60 s, 5 min for an interactive one. */
  readonly pluginTimeoutMs?: number;
  readonly clock?: Clock;
}

/**
 * The connection of a kubeconfig's context, or of the pod that this process runs in.
 * Rejects with CnabError: `unavailable` when there is no cluster to speak to, `invalid` when a kubeconfig cannot be
 * used. Speaks to nobody yet; a credential plugin runs with the first request.
 *
 * This module alone imports client-node, which takes a second unless bundled: load it with `import()`.
 */
export async function connectWithKubeconfig(options: KubeconfigConnectionOptions): Promise<Connection> {
  const closing = new AbortController();
  const config = await readClientConfig(options, options.clock ?? systemClock, closing.signal);
  return new KubeconfigConnection(config, closing, pathsOf(options));
}

/** For whoever goes the same way from another folder. */
function pathsOf({ kubeconfig, cwd = '.' }: KubeconfigConnectionOptions): string | undefined {
  const files = kubeconfig?.split(delimiter).filter((file) => file !== '') ?? [];
  return files.length === 0 ? undefined : files.map((file) => resolve(cwd, file)).join(delimiter);
}

class KubeconfigConnection implements Connection {
  readonly server: string;
  readonly context?: string;
  readonly kubeconfig?: string;
  readonly user?: string;
  readonly namespace?: string;
  private readonly kubeConfig = new KubeConfig();
  private agent: http.Agent | undefined;

  constructor(
    private readonly config: ClientConfig,
    private readonly closing: AbortController,
    kubeconfig: string | undefined,
  ) {
    this.server = config.cluster.server;
    if (config.context !== undefined) this.context = config.context;
    if (kubeconfig !== undefined) this.kubeconfig = kubeconfig;
    if (config.userName !== undefined) this.user = config.userName;
    if (config.namespace !== undefined) this.namespace = config.namespace;
    this.kubeConfig.loadFromOptions({
      clusters: [config.cluster],
      users: [config.user],
      contexts: [{ name: 'selected', cluster: config.cluster.name, user: config.user.name }],
      currentContext: 'selected',
    });
  }

  async requestOptions(signal?: AbortSignal): Promise<https.RequestOptions> {
    if (this.closing.signal.aborted) throw new CnabError('unavailable', `the connection to ${this.server} is closed`);
    const { token, clientCertificate, clientKey } = await this.prove(signal);
    const options: https.RequestOptions = {};
    try {
      await this.kubeConfig.applyToHTTPSOptions(options);
    } catch (error) {
      throw this.unusable(error);
    }
    this.agent ??= this.createAgent(options.agent);
    options.agent = this.agent;
    options.headers = { ...lowerCased(options.headers), ...this.config.impersonation };
    if (token !== undefined) options.headers['authorization'] = `Bearer ${token}`;
    const { authorization } = options.headers;
    if (typeof authorization === 'string' && !/^[\x20-\x7e]*$/.test(authorization)) {
      throw invalid(`the token of user "${this.user ?? ''}" holds characters that no token has`);
    }
    if (clientCertificate !== undefined) options.cert = clientCertificate;
    if (clientKey !== undefined) options.key = clientKey;
    const { servername } = options;
    if (servername !== undefined && net.isIP(servername) !== 0) {
      // TLS has no server name that is an address (RFC 6066, 3), but a certificate can be for one.
      delete options.servername;
      options.checkServerIdentity = (_host, certificate) => tls.checkServerIdentity(servername, certificate);
    }
    return options;
  }

  private async prove(signal: AbortSignal | undefined): Promise<Proof> {
    const proof = this.config.provider?.proof();
    if (proof === undefined) return {};
    return signal === undefined ? proof : untilAborted(signal, proof);
  }

  /** client-node reads certificate files and renews OIDC tokens; it throws what Node or the provider threw. */
  private unusable(error: unknown): unknown {
    if (!(error instanceof Error) || error instanceof TypeError) return error;
    const file = 'path' in error && typeof error.path === 'string' ? error.path : undefined;
    if (file !== undefined) {
      const code = 'code' in error ? String(error.code) : 'unreadable';
      return invalid(`cannot read ${file}, which the kubeconfig names (${code})`, error);
    }
    if (this.config.user.authProvider === undefined) return error;
    return new CredentialError(`no credentials for user "${this.user ?? ''}": ${oneLine(error.message)}`, {
      suggestions: ['Log in again.'],
      cause: error,
    });
  }

  refresh(): void {
    this.config.provider?.forget();
  }

  close(): void {
    this.closing.abort();
    this.agent?.destroy();
  }

  /** One for all requests, so that sockets are kept; client-node makes one for each request. */
  private createAgent(socks: unknown): http.Agent {
    const { proxy } = this.config;
    if (proxy?.protocol.startsWith('socks') === true && socks instanceof http.Agent) return socks;
    const plain = this.server.startsWith('http:');
    if (proxy !== undefined) return proxyAgent(proxy, plain ? 'http:' : 'https:');
    return plain ? new http.Agent({ keepAlive: true }) : new https.Agent({ keepAlive: true });
  }
}

/** Told as a mistake, and waited out in a run that goes on: files of credentials are renewed under it. */
function invalid(message: string, cause?: unknown): CredentialError {
  return new CredentialError(message, { cause }, 'invalid');
}

function lowerCased(headers: https.RequestOptions['headers']): http.OutgoingHttpHeaders {
  const pairs = Object.entries((headers ?? {}) as http.OutgoingHttpHeaders);
  return Object.fromEntries(pairs.map(([name, value]) => [name.toLowerCase(), value]));
}
