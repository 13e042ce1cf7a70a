import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Case } from '../../test/cluster/case.js';
import { makeUser, readmeRules } from '../../test/cluster/user.js';
import { TcpProxy, type TcpProxyOptions } from '../../test/helpers/tcp-proxy.js';

export interface ProxiedUser {
  readonly proxy: TcpProxy;
  readonly kubeconfig: string;
}

/** A user with the rights of the README's Role whose connections to the API server lead through a proxy. */
export async function proxiedUser(
  one: Case,
  line: Omit<TcpProxyOptions, 'host' | 'port'>,
  name = 'proxied',
): Promise<ProxiedUser> {
  const { hostname, port } = new URL(one.api.server);
  const proxy = await TcpProxy.start({ host: hostname, port: Number(port), ...line });
  one.defer(() => proxy.close());
  const { token } = await makeUser(one, readmeRules(one.namespace));
  const kubeconfig = join(one.home, `kubeconfig-${name}`);
  const cluster = {
    server: `https://127.0.0.1:${proxy.port}`,
    'certificate-authority-data': one.api.certificateAuthority,
    'tls-server-name': 'kubernetes',
  };
  // JSON is YAML.
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'node', cluster }],
    users: [{ name: 'user', user: { token } }],
    contexts: [{ name: 'node', context: { cluster: 'node', user: 'user', namespace: one.namespace } }],
    'current-context': 'node',
  };
  writeFileSync(kubeconfig, JSON.stringify(config), { mode: 0o600 });
  return { proxy, kubeconfig };
}
