import assert from 'node:assert/strict';
import type { RequestOptions } from 'node:https';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import type * as client from '@kubernetes/client-node';

const file = fileURLToPath(new URL('../../../lib/kubernetes-client-node.cjs', import.meta.url));
const require = createRequire(import.meta.url);

describe('the cluster client of the built program', () => {
  const wasRead = () => Object.keys(require.cache).some((name) => name.endsWith('kubernetes-client-node-later.cjs'));
  let KubeConfig: (typeof client)['KubeConfig'];
  before(() => {
    ({ KubeConfig } = require(file) as typeof client);
  });

  async function agentOf(proxyUrl?: string): Promise<RequestOptions['agent']> {
    const config = new KubeConfig();
    const cluster = { name: 'c', server: 'https://cluster.example', skipTLSVerify: false };
    config.loadFromOptions({
      clusters: [{ ...cluster, ...(proxyUrl === undefined ? {} : { proxyUrl }) }],
      users: [{ name: 'u', token: 't' }],
      contexts: [{ name: 'x', cluster: 'c', user: 'u' }],
      currentContext: 'x',
    });
    const options: RequestOptions = {};
    await config.applyToHTTPSOptions(options);
    return options.agent;
  }

  it('reads the libraries for SOCKS, OIDC and the like only where a kubeconfig needs one', async () => {
    await agentOf();
    assert.equal(wasRead(), false);
    const agent = (await agentOf('socks5://127.0.0.1:1')) as { proxy?: { host: string; type: number } };
    assert.deepEqual([agent.proxy?.host, agent.proxy?.type], ['127.0.0.1', 5]);
    assert.equal(wasRead(), true);
  });

  it('takes an HTTP proxy and an HTTPS proxy', async () => {
    for (const proxyUrl of ['http://127.0.0.1:1', 'https://127.0.0.1:1']) {
      const agent = (await agentOf(proxyUrl)) as { proxy?: URL };
      assert.equal(agent.proxy?.href, `${proxyUrl}/`);
    }
  });

  it('fails to renew an OIDC token by what the issuer says, and not for want of the library', async () => {
    const config = new KubeConfig();
    const token = ['{}', '{"exp":1}', 'x'].map((part) => Buffer.from(part).toString('base64url')).join('.');
    const values = {
      'idp-issuer-url': 'https://127.0.0.1:1',
      'client-id': 'a',
      'client-secret': 'b',
      'refresh-token': 'r',
    };
    config.loadFromOptions({
      clusters: [{ name: 'c', server: 'https://cluster.example', skipTLSVerify: false }],
      users: [{ name: 'u', authProvider: { name: 'oidc', config: { ...values, 'id-token': token } } }],
      contexts: [{ name: 'x', cluster: 'c', user: 'u' }],
      currentContext: 'x',
    });
    await assert.rejects(config.applyToHTTPSOptions({}), /"server" must be an instance of URL|fetch failed/);
  });
});
