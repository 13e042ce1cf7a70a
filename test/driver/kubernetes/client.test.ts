import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type tls from 'node:tls';
import { CnabError } from '../../../src/errors.js';
import { KubernetesApi } from '../../../src/driver/kubernetes/api.js';
import { connectWithKubeconfig } from '../../../src/driver/kubernetes/client.js';
import type { KubeconfigConnectionOptions } from '../../../src/driver/kubernetes/client.js';
import type { KubernetesError } from '../../../src/driver/kubernetes/kubernetes-error.js';
import { TestAuthority } from '../../helpers/certificates.js';
import type { Certificate } from '../../helpers/certificates.js';
import { httpPeer, json, refusal } from '../../helpers/http-peer.js';
import type { Answer, HttpPeer } from '../../helpers/http-peer.js';

const signal = new AbortController().signal;

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}

describe('connectWithKubeconfig', function () {
  this.timeout(20_000);
  let folder: string;
  let ca: TestAuthority;
  let server: Certificate;
  let alice: Certificate;
  const open: { close: () => unknown }[] = [];

  before(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'cnab-client-'));
    ca = new TestAuthority(folder);
    server = ca.issue('server', ['IP:127.0.0.1', 'DNS:cluster.test']);
    alice = ca.issue('alice', []);
  });

  after(() => rmSync(folder, { recursive: true, force: true }));

  afterEach(async () => {
    for (const thing of open.splice(0).reverse()) await thing.close();
  });

  /** The subject of the client's certificate, and the headers, as the server sees them. */
  const whoami: Answer = (request, response) => {
    const peer = (request.socket as tls.TLSSocket).getPeerCertificate();
    json({ subject: peer.subject, headers: request.headers })(request, response, '');
  };

  async function serve(answers: Answer | readonly Answer[], certificate = server): Promise<HttpPeer> {
    const { cert, key } = certificate;
    const peer = await httpPeer(answers, { cert, key, ca: ca.ca, requestCert: true, rejectUnauthorized: false });
    open.push(peer);
    return peer;
  }

  async function connect(
    cluster: object,
    user: object | undefined,
    more: Partial<KubeconfigConnectionOptions> & { context?: string; inContext?: object } = {},
  ) {
    const file = path.join(folder, `config-${Math.random()}`);
    const config = {
      'current-context': 'test',
      clusters: [{ name: 'c', cluster }],
      users: user === undefined ? [] : [{ name: 'alice', user }],
      contexts: [
        {
          name: 'test',
          context: { cluster: 'c', ...(user === undefined ? {} : { user: 'alice' }), ...more.inContext },
        },
      ],
    };
    writeFileSync(file, JSON.stringify(config));
    const connection = await connectWithKubeconfig({ kubeconfig: file, env: {}, home: '/nonexistent', ...more });
    open.push(connection);
    return { connection, api: new KubernetesApi(connection) };
  }

  interface Seen {
    readonly subject: { CN?: string; O?: string };
    readonly headers: Record<string, string>;
  }

  function ask(api: KubernetesApi): Promise<Seen> {
    return api.get<Seen>('/whoami', { doing: 'ask', signal, attempts: 1 });
  }

  it('shows a client certificate, given as data or as a file relative to the kubeconfig, over one connection', async () => {
    const peer = await serve(whoami);
    const data = await connect(
      { server: peer.url, 'certificate-authority-data': base64(ca.ca) },
      { 'client-certificate-data': base64(alice.cert), 'client-key-data': base64(alice.key) },
    );
    const files = await connect(
      { server: peer.url, 'certificate-authority': 'ca.crt' },
      { 'client-certificate': 'alice.crt', 'client-key': 'alice.key' },
    );
    for (const { api } of [data, files]) {
      for (let i = 0; i < 3; i++) assert.equal((await ask(api)).subject.CN, 'alice');
    }
    assert.equal(peer.connections(), 2);
    assert.equal(data.connection.server, peer.url);
    assert.equal(data.connection.context, 'test');
    assert.equal(data.connection.user, 'alice');
    assert.equal(data.connection.namespace, undefined);
  });

  it('takes the context’s namespace', async () => {
    const { connection } = await connect({ server: 'https://x' }, {}, { inContext: { namespace: 'payments' } });
    assert.equal(connection.namespace, 'payments');
  });

  it('sends a token, a user name with password, and whom to impersonate', async () => {
    const peer = await serve(whoami);
    const cluster = { server: peer.url, 'certificate-authority': ca.caFile };
    const impersonate = {
      as: 'bob',
      'as-uid': '7',
      'as-groups': ['dev', 'ops'],
      'as-user-extra': { 'Scopes/x': ['a'] },
    };
    const token = await connect(cluster, { token: 'abc', ...impersonate });
    const { headers } = await ask(token.api);
    assert.equal(headers['authorization'], 'Bearer abc');
    assert.equal(headers['impersonate-user'], 'bob');
    assert.equal(headers['impersonate-uid'], '7');
    assert.equal(headers['impersonate-group'], 'dev, ops');
    assert.equal(headers['impersonate-extra-scopes%2fx'] ?? headers['impersonate-extra-scopes%2Fx'], 'a');
    const basic = await connect(cluster, { username: 'u', password: 'p' });
    assert.equal((await ask(basic.api)).headers['authorization'], `Basic ${base64('u:p')}`);
  });

  it('reads a token file anew after a 401', async () => {
    for (const key of ['tokenFile', 'token-file']) {
      const file = path.join(folder, 'token');
      writeFileSync(file, 'old\n');
      const peer = await serve([
        whoami,
        (...exchange) => {
          writeFileSync(file, 'new\n');
          refusal(401, 'Unauthorized', 'Unauthorized')(...exchange);
        },
        whoami,
      ]);
      const { api } = await connect({ server: peer.url, 'certificate-authority': ca.caFile }, { [key]: 'token' });
      assert.equal((await ask(api)).headers['authorization'], 'Bearer old');
      assert.equal((await ask(api)).headers['authorization'], 'Bearer new');
    }
  });

  it('needs no user, and then still checks the certificate of the server', async () => {
    const peer = await serve(whoami);
    const { api } = await connect({ server: peer.url, 'certificate-authority': ca.caFile }, undefined);
    assert.equal((await ask(api)).headers['authorization'], undefined);
    await assert.rejects(ask((await connect({ server: peer.url }, undefined)).api), /is not signed by a known CA/);
  });

  it('says in one sentence what is wrong with a certificate', async () => {
    const wrongName = ca.issue('elsewhere', ['DNS:elsewhere.test']);
    const expired = ca.issue('expired', ['IP:127.0.0.1'], -1);
    const authority = { 'certificate-authority': ca.caFile };
    for (const [certificate, cluster, message] of [
      [server, {}, /^cannot ask: the certificate of https:\S+ is not signed by a known CA \(/],
      [wrongName, authority, /^cannot ask: the certificate of https:\S+ is for another name \(.*127.0.0.1.*\)$/],
      [expired, authority, /^cannot ask: the certificate of https:\S+ has expired$/],
    ] as const) {
      const peer = await serve(whoami, certificate);
      const { api } = await connect({ server: peer.url, ...cluster }, { token: 'abc' });
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
    const named = ca.issue('named', ['DNS:cluster.test']);
    const peer = await serve(whoami, named);
    const byName = { server: peer.url, 'certificate-authority': ca.caFile, 'tls-server-name': 'cluster.test' };
    assert.ok(await ask((await connect(byName, { token: 'a' })).api));
    const unchecked = { server: peer.url, 'insecure-skip-tls-verify': true };
    assert.ok(await ask((await connect(unchecked, { token: 'a' })).api));
  });

  it('says that a port speaks HTTP where TLS was expected, and the other way round', async () => {
    const plain = await httpPeer(whoami);
    open.push(plain);
    const { api } = await connect({ server: plain.url.replace('http:', 'https:') }, {});
    await assert.rejects(ask(api), /no TLS connection to https:\S+ \(/);
    const secure = await serve(whoami);
    const other = await connect({ server: secure.url.replace('https:', 'http:') }, {});
    await assert.rejects(ask(other.api), CnabError);
  });

  it('speaks plain HTTP where the kubeconfig says so', async () => {
    const peer = await httpPeer(json({ ok: true }));
    open.push(peer);
    const { api } = await connect({ server: peer.url }, { token: 'abc' });
    assert.deepEqual(await ask(api), { ok: true });
    assert.equal(peer.headers[0]?.authorization, 'Bearer abc');
  });

  it('says which certificate file cannot be read, and which data are none', async () => {
    const cluster = { server: 'https://127.0.0.1:1' };
    const missing = await connect(cluster, { 'client-certificate': 'gone.crt', 'client-key': 'gone.key' });
    await assert.rejects(ask(missing.api), /cannot read \S+gone.crt, which the kubeconfig names \(ENOENT\)/);
    await assert.rejects(
      connect(cluster, { 'client-certificate-data': base64('nothing'), 'client-key-data': '' }),
      /user "alice" of context "test" \(\S+\) has client-certificate-data that is not PEM in base64/,
    );
    const key = base64('-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n');
    const broken = await connect(cluster, { 'client-certificate-data': base64(alice.cert), 'client-key-data': key });
    await assert.rejects(
      ask(broken.api),
      (error: CnabError) => error.code === 'invalid' && /are not usable \(/.test(error.message),
    );
  });

  it('refuses a token and a server that cannot be right, without showing a secret', async () => {
    const { api } = await connect({ server: 'https://127.0.0.1:1' }, { token: 'a\u0001s3cret' });
    await assert.rejects(ask(api), (error: CnabError) => error.code === 'invalid' && !error.message.includes('s3cret'));
    for (const server of ['https://u:s3cret@x', 'ftp://s3cret', 'https://', undefined]) {
      await assert.rejects(connect({ server }, {}), (error: CnabError) => {
        assert.ok(error.code === 'invalid' && !error.message.includes('s3cret'), error.message);
        return true;
      });
    }
  });

  it('asks nothing more once it is closed', async () => {
    const peer = await serve(whoami);
    const { api, connection } = await connect({ server: peer.url, 'insecure-skip-tls-verify': true }, {});
    await ask(api);
    connection.close();
    await assert.rejects(ask(api), /the connection to \S+ is closed/);
    while (peer.open() > 0) await new Promise(setImmediate);
  });

  it('takes the service account inside a cluster, trimmed, IPv6 too', async () => {
    const root = mkdtempSync(path.join(folder, 'sa-'));
    writeFileSync(path.join(root, 'token'), 'mounted\n');
    writeFileSync(path.join(root, 'namespace'), 'here\n');
    writeFileSync(path.join(root, 'ca.crt'), ca.ca);
    const peer = await serve(whoami);
    const env = { KUBERNETES_SERVICE_HOST: '127.0.0.1', KUBERNETES_SERVICE_PORT: String(peer.port) };
    const pod = await connectWithKubeconfig({ env, home: folder, inClusterRoot: root });
    open.push(pod);
    assert.equal(pod.namespace, 'here');
    assert.equal(pod.context, undefined);
    assert.equal((await ask(new KubernetesApi(pod))).headers['authorization'], 'Bearer mounted');
    const six = { KUBERNETES_SERVICE_HOST: 'fd00::1', KUBERNETES_SERVICE_PORT: '443' };
    assert.equal(
      (await connectWithKubeconfig({ env: six, home: folder, inClusterRoot: root })).server,
      'https://[fd00::1]:443',
    );
  });

  it('says that there is no cluster, and how to do without one', async () => {
    await assert.rejects(
      connectWithKubeconfig({ env: {}, home: folder, inClusterRoot: folder }),
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
