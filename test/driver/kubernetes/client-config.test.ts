import assert from 'node:assert/strict';
import { mkdtempSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { CnabError } from '../../../src/errors.js';
import { KubernetesApi } from '../../../src/driver/kubernetes/api.js';
import { connectWithKubeconfig } from '../../../src/driver/kubernetes/client.js';
import { needsOpenssl } from '../../helpers/certificates.js';
import { ask, TlsCluster, whoami } from '../../helpers/tls-cluster.js';

describe('without a kubeconfig', () => {
  let at: TlsCluster;

  before(function () {
    needsOpenssl(this);
    at = new TlsCluster();
  });

  after(() => at?.remove());
  afterEach(() => at?.closeAll());

  it('takes the service account inside a cluster, trimmed, IPv6 too', async () => {
    const root = mkdtempSync(path.join(at.folder, 'sa-'));
    writeFileSync(path.join(root, 'token'), 'mounted\n');
    writeFileSync(path.join(root, 'namespace'), 'here\n');
    writeFileSync(path.join(root, 'ca.crt'), at.ca.ca);
    const peer = await at.serve(whoami);
    const env = { KUBERNETES_SERVICE_HOST: '127.0.0.1', KUBERNETES_SERVICE_PORT: String(peer.port) };
    const pod = await connectWithKubeconfig({ env, home: at.folder, inClusterRoot: root });
    at.closeLater(pod);
    assert.equal(pod.namespace, 'here');
    assert.equal(pod.context, undefined);
    assert.equal((await ask(new KubernetesApi(pod))).headers['authorization'], 'Bearer mounted');
    const six = { KUBERNETES_SERVICE_HOST: 'fd00::1', KUBERNETES_SERVICE_PORT: '443' };
    assert.equal(
      (await connectWithKubeconfig({ env: six, home: at.folder, inClusterRoot: root })).server,
      'https://[fd00::1]:443',
    );
    const none = { KUBERNETES_SERVICE_HOST: 'a b', KUBERNETES_SERVICE_PORT: 'tcp://x' };
    await assert.rejects(
      connectWithKubeconfig({ env: none, home: at.folder, inClusterRoot: root }),
      (error: CnabError) => error.code === 'invalid' && error.message.endsWith('no address: "a b","tcp://x"'),
    );
  });

  it('says that there is no cluster, and how to do without one', async () => {
    await assert.rejects(
      connectWithKubeconfig({ env: {}, home: at.folder, inClusterRoot: at.folder }),
      (error: CnabError) => {
        assert.equal(error.code, 'unavailable');
        assert.match(
          error.message,
          /^no cluster: \$KUBECONFIG is not set, \S+\/\.kube\/config does not exist, and this is not a pod/,
        );
        assert.ok(error.suggestions.includes('Try the bundle without one: cnab install app ./bundle --driver sandbox'));
        return true;
      },
    );
  });
});
