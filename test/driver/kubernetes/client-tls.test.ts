import assert from 'node:assert/strict';
import { CnabError } from '../../../src/errors.js';
import type { KubernetesError } from '../../../src/driver/kubernetes/kubernetes-error.js';
import { httpPeer } from '../../helpers/http-peer.js';
import { needsOpenssl } from '../../helpers/certificates.js';
import { ask, TlsCluster, whoami } from '../../helpers/tls-cluster.js';

describe('the certificate of the API server', () => {
  let at: TlsCluster;

  before(function () {
    needsOpenssl(this);
    at = new TlsCluster();
  });

  after(() => at?.remove());
  afterEach(() => at?.closeAll());

  it('says in one sentence what is wrong with a certificate', async () => {
    const wrongName = at.ca.issue('elsewhere', ['DNS:elsewhere.test']);
    const expired = at.ca.issue('expired', ['IP:127.0.0.1'], -1);
    const authority = { 'certificate-authority': at.ca.caFile };
    for (const [certificate, cluster, message] of [
      [at.server, {}, /^cannot ask: the certificate of https:\S+ is not signed by a known CA \(/],
      [wrongName, authority, /^cannot ask: the certificate of https:\S+ is for another name \(.*127.0.0.1.*\)$/],
      [expired, authority, /^cannot ask: the certificate of https:\S+ has expired$/],
    ] as const) {
      const peer = await at.serve(whoami, certificate);
      const { api } = await at.connect({ server: peer.url, ...cluster }, { token: 'abc' });
      await assert.rejects(ask(api), (error: KubernetesError) => {
        assert.equal(error.code, 'unavailable');
        assert.equal(error.transient, false);
        assert.match(error.message, message);
        assert.ok(error.suggestions.length > 0);
        return true;
      });
    }
  });

  it('checks the certificate against tls-server-name, or not at all if told so', async () => {
    const named = at.ca.issue('named', ['DNS:cluster.test']);
    const peer = await at.serve(whoami, named);
    const byName = { server: peer.url, 'certificate-authority': at.ca.caFile, 'tls-server-name': 'cluster.test' };
    assert.ok(await ask((await at.connect(byName, { token: 'a' })).api));
    const unchecked = { server: peer.url, 'insecure-skip-tls-verify': true };
    assert.ok(await ask((await at.connect(unchecked, { token: 'a' })).api));
  });

  it('says that a port speaks HTTP where TLS was expected, and the other way round', async () => {
    const plain = await httpPeer(whoami);
    at.closeLater(plain);
    const { api } = await at.connect({ server: plain.url.replace('http:', 'https:') }, {});
    await assert.rejects(ask(api), /no TLS connection to https:\S+ \(/);
    const secure = await at.serve(whoami);
    const other = await at.connect({ server: secure.url.replace('https:', 'http:') }, {});
    await assert.rejects(ask(other.api), CnabError);
  });
});
