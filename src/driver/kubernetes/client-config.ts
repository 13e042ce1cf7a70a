import type { Cluster, User } from '@kubernetes/client-node';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { CnabError } from '../../errors.js';
import type { Clock } from '../clock.js';
import { readExecPlugin } from './exec-plugin.js';
import { impersonationOf } from './impersonation.js';
import { findInCluster } from './in-cluster.js';
import { isRecord, textOf } from './kubeconfig-file.js';
import { selectContext } from './kubeconfig.js';
import type { KubeconfigSource, SelectedContext } from './kubeconfig.js';
import { parseProxyUrl, proxyFromEnvironment } from './proxy.js';
import { pluginProvider, tokenFileProvider } from './user-credentials.js';
import type { CredentialProvider } from './user-credentials.js';

/** All that a connection is made of: what client-node's KubeConfig takes, and what it does not know. */
export interface ClientConfig {
  readonly cluster: Cluster;
  readonly user: User;
  readonly context?: string;
  readonly userName?: string;
  readonly namespace?: string;
  /** Headers of `as`, `as-uid`, `as-groups`, `as-user-extra`. */
  readonly impersonation: Readonly<Record<string, string | string[]>>;
  readonly provider?: CredentialProvider;
  readonly proxy?: URL;
}

export interface ClientConfigSource extends KubeconfigSource {
  readonly inClusterRoot?: string;
  readonly onPluginOutput?: (chunk: Uint8Array) => void;
  readonly interactive?: boolean;
  readonly pluginTimeoutMs?: number;
}

const PLUGIN_MS = 60_000;
/** Somebody logs in with a browser meanwhile. */
const INTERACTIVE_PLUGIN_MS = 5 * 60_000;

/** `closing` ends a credential plugin that runs. Rejects with CnabError. */
export async function readClientConfig(
  source: ClientConfigSource,
  clock: Clock,
  closing: AbortSignal,
): Promise<ClientConfig> {
  const selected = await selectContext(source);
  if (selected !== undefined) return fromKubeconfig(source, selected, clock, closing);
  if (source.context === undefined) {
    const pod = await findInCluster(source.env, source.inClusterRoot);
    if (pod !== undefined) {
      const user: User = { name: 'in-cluster' };
      const cluster = { name: 'in-cluster', server: pod.server, caFile: pod.caFile, skipTLSVerify: false };
      return {
        cluster,
        user,
        ...(pod.namespace === undefined ? {} : { namespace: pod.namespace }),
        impersonation: {},
        provider: tokenFileProvider(pod.tokenFile, undefined, clock),
      };
    }
  }
  const file = path.join(source.home, '.kube', 'config');
  throw new CnabError(
    'unavailable',
    `no cluster: $KUBECONFIG is not set, ${file} does not exist, and this is not a pod with a service account token`,
    {
      suggestions: [
        'Name a kubeconfig with --kubeconfig FILE or $KUBECONFIG.',
        'Try the bundle without one: cnab install app ./bundle --driver sandbox',
      ],
    },
  );
}

async function fromKubeconfig(
  source: ClientConfigSource,
  selected: SelectedContext,
  clock: Clock,
  closing: AbortSignal,
): Promise<ClientConfig> {
  const { cluster, server } = readCluster(selected);
  const proxy = proxyOf(source, selected, server);
  const provider = await providerOf(source, selected, server, clock, closing);
  return {
    cluster: { ...cluster, ...(proxy?.protocol.startsWith('socks') === true ? { proxyUrl: proxy.href } : {}) },
    user: readUser(selected, provider),
    context: selected.name,
    ...(selected.userName === undefined ? {} : { userName: selected.userName }),
    ...(selected.namespace === undefined ? {} : { namespace: selected.namespace }),
    impersonation: impersonationOf(selected),
    ...(provider === undefined ? {} : { provider }),
    ...(proxy === undefined ? {} : { proxy }),
  };
}

function readCluster(selected: SelectedContext): { readonly cluster: Cluster; readonly server: URL } {
  const { cluster, clusterName: name } = selected;
  const wrong = (what: string): CnabError =>
    new CnabError('invalid', `cluster "${name}" of context "${selected.name}" (${selected.file}) ${what}`);
  const address = textOf(cluster, 'server');
  if (address === undefined) throw wrong('has no server');
  let server: URL;
  try {
    server = new URL(/^[a-z]+:\/\//i.test(address) ? address : `https://${address}`);
  } catch {
    throw wrong('has a server that is no URL');
  }
  if (server.protocol !== 'https:' && server.protocol !== 'http:') throw wrong('has a server that is no http(s) URL');
  if (server.username !== '' || server.password !== '') throw wrong('has credentials in its server URL');
  const caData = pem(cluster, 'certificate-authority-data', wrong);
  const caFile = textOf(cluster, 'certificate-authority');
  const tlsServerName = textOf(cluster, 'tls-server-name');
  return {
    server,
    cluster: {
      name,
      server: `${server.origin}${server.pathname}`.replace(/\/+$/, ''),
      // client-node takes plain HTTP only with this mark.
      skipTLSVerify: cluster['insecure-skip-tls-verify'] === true || server.protocol === 'http:',
      // The data win over the file (client-go, api/types.go); client-node has it the other way round.
      ...(caData !== undefined ? { caData } : caFile !== undefined ? { caFile } : {}),
      ...(tlsServerName === undefined ? {} : { tlsServerName }),
    },
  };
}

function readUser(selected: SelectedContext, provider: CredentialProvider | undefined): User {
  const { user } = selected;
  const wrong = (what: string): CnabError =>
    new CnabError(
      'invalid',
      `user "${selected.userName ?? ''}" of context "${selected.name}" (${selected.file}) ${what}`,
    );
  const certData = pem(user, 'client-certificate-data', wrong);
  const keyData = pem(user, 'client-key-data', wrong);
  const certFile = textOf(user, 'client-certificate');
  const keyFile = textOf(user, 'client-key');
  const token = textOf(user, 'token')?.trim();
  const username = textOf(user, 'username');
  const authProvider = user['auth-provider'];
  return {
    name: selected.userName ?? 'anonymous',
    ...(certData !== undefined ? { certData } : certFile !== undefined ? { certFile } : {}),
    ...(keyData !== undefined ? { keyData } : keyFile !== undefined ? { keyFile } : {}),
    ...(token === undefined || provider !== undefined ? {} : { token }),
    ...(username === undefined ? {} : { username, password: textOf(user, 'password') ?? '' }),
    ...(isRecord(authProvider) && provider === undefined ? { authProvider } : {}),
  };
}

async function providerOf(
  source: ClientConfigSource,
  selected: SelectedContext,
  server: URL,
  clock: Clock,
  closing: AbortSignal,
): Promise<CredentialProvider | undefined> {
  const { user, cluster } = selected;
  const tokenFile = textOf(user, 'tokenFile') ?? textOf(user, 'token-file');
  if (tokenFile !== undefined) return tokenFileProvider(tokenFile, textOf(user, 'token')?.trim(), clock);
  // A static token wins over a plugin (client-go, transport/round_trippers.go).
  if (user['exec'] === undefined || user['exec'] === null || textOf(user, 'token') !== undefined) return undefined;
  const userName = selected.userName ?? '';
  const plugin = readExecPlugin(user['exec'], userName, selected.userFolder);
  const interactive = source.interactive === true;
  const run = {
    env: source.env,
    cluster: plugin.provideClusterInfo ? await pluginCluster(cluster, server) : {},
    user: userName,
    interactive,
    timeoutMs: source.pluginTimeoutMs ?? (interactive ? INTERACTIVE_PLUGIN_MS : PLUGIN_MS),
    signal: closing,
    ...(source.onPluginOutput === undefined ? {} : { onOutput: source.onPluginOutput }),
  };
  return pluginProvider(plugin, run, clock);
}

/** `spec.cluster` of an ExecCredential; the CA always as data, as client-go gives it (rest/exec.go). */
async function pluginCluster(
  cluster: Readonly<Record<string, unknown>>,
  server: URL,
): Promise<Record<string, unknown>> {
  const info: Record<string, unknown> = { server: server.href.replace(/\/+$/, '') };
  for (const key of ['tls-server-name', 'insecure-skip-tls-verify', 'certificate-authority-data', 'proxy-url']) {
    if (cluster[key] !== undefined) info[key] = cluster[key];
  }
  const caFile = textOf(cluster, 'certificate-authority');
  if (info['certificate-authority-data'] === undefined && caFile !== undefined) {
    // A file that is not there is told by the connection, which needs it too.
    const ca = await readFile(caFile).catch(() => undefined);
    if (ca !== undefined) info['certificate-authority-data'] = ca.toString('base64');
  }
  const { extensions } = cluster;
  const isForPlugin = (item: unknown): boolean =>
    isRecord(item) && item['name'] === 'client.authentication.k8s.io/exec';
  const found: unknown = Array.isArray(extensions) ? extensions.find(isForPlugin) : undefined;
  if (isRecord(found)) info['config'] = found['extension'];
  return info;
}

function proxyOf(source: ClientConfigSource, selected: SelectedContext, server: URL): URL | undefined {
  const own = textOf(selected.cluster, 'proxy-url');
  if (own !== undefined)
    return parseProxyUrl(own, `proxy-url of cluster "${selected.clusterName}" in ${selected.file}`);
  const proxy = proxyFromEnvironment(server, source.env);
  return proxy === undefined ? undefined : parseProxyUrl(proxy, 'the proxy in the environment');
}

function pem(
  record: Readonly<Record<string, unknown>>,
  key: string,
  wrong: (what: string) => CnabError,
): string | undefined {
  const value = textOf(record, key);
  if (value === undefined) return undefined;
  if (!Buffer.from(value, 'base64').includes('-----BEGIN ')) throw wrong(`has ${key} that is not PEM in base64`);
  return value;
}
