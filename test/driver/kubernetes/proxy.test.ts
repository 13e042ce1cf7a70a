import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { KubernetesApi } from '../../../src/driver/kubernetes/api.js';
import { connectWithKubeconfig } from '../../../src/driver/kubernetes/client.js';
import { isAbort } from '../../../src/driver/kubernetes/kubernetes-error.js';
import { isExcepted, parseProxyUrl, proxyFromEnvironment } from '../../../src/driver/kubernetes/proxy.js';
import { needsOpenssl, TestAuthority } from '../../helpers/certificates.js';
import type { Certificate } from '../../helpers/certificates.js';
import { httpPeer, json } from '../../helpers/http-peer.js';
import { connectProxy, socksProxy } from '../../helpers/proxies.js';

describe('proxyFromEnvironment', () => {
  it('goes by the scheme of the server, in capitals or not, and never for this machine', () => {
    const https = new URL('https://k8s.example:6443');
    assert.equal(proxyFromEnvironment(https, { HTTPS_PROXY: 'http://p' }), 'http://p');
    assert.equal(proxyFromEnvironment(https, { https_proxy: ' p:3128 ' }), 'p:3128');
    assert.equal(proxyFromEnvironment(https, { HTTP_PROXY: 'http://p' }), undefined);
    assert.equal(proxyFromEnvironment(new URL('http://k8s'), { http_proxy: 'p' }), 'p');
    for (const own of ['https://localhost:1', 'https://127.0.0.9', 'https://[::1]']) {
      assert.equal(proxyFromEnvironment(new URL(own), { HTTPS_PROXY: 'http://p' }), undefined);
    }
    assert.equal(proxyFromEnvironment(https, { HTTPS_PROXY: 'http://p', no_proxy: '.example' }), undefined);
  });

  it('knows the exceptions by name, subdomain, address, range and port', () => {
    const yes: readonly [string, string][] = [
      ['https://a.b.example', 'b.example'],
      ['https://b.example', 'x, B.example'],
      ['https://a.example', '.example'],
      ['https://a.example', '*.example'],
      ['https://anything', '*'],
      ['https://10.1.2.3', '10.0.0.0/8'],
      ['https://10.1.2.3:6443', '10.1.2.3:6443'],
      ['https://10.1.2.3', '10.1.2.3'],
      ['https://[fd00::1]', 'fd00::/8'],
      ['https://[fd00::1]:6443', '[fd00:0::1]:6443'],
      ['https://[fd00::1]', 'fd00::1'],
      ['https://b.example', 'b.example:443'],
    ];
    const no: readonly [string, string][] = [
      ['https://b.example', '.b.example'],
      ['https://ab.example', 'b.example'],
      ['https://b.example:6443', 'b.example:443'],
      ['https://11.1.2.3', '10.0.0.0/8'],
      ['https://10.1.2.3', 'fd00::/8, 10.0.0.0/99, /, :'],
      ['https://b.example', ''],
    ];
    for (const [server, list] of yes) assert.equal(isExcepted(new URL(server), list), true, `${server} ${list}`);
    for (const [server, list] of no) assert.equal(isExcepted(new URL(server), list), false, `${server} ${list}`);
  });

  it('takes an address without a scheme for http, and refuses what is no proxy without showing it', () => {
    assert.equal(parseProxyUrl('p:3128', 'x').href, 'http://p:3128/');
    assert.equal(parseProxyUrl('socks5://p:1080', 'x').protocol, 'socks5:');
    for (const wrong of ['ftp://u:s3cret@p', 'http://', 'http://s3cret:x:y', 'http://u:s3%cret@p']) {
      assert.throws(
        () => parseProxyUrl(wrong, 'proxy-url'),
        /^CnabError: proxy-url is not the URL of an http, https or socks5 proxy$/,
      );
    }
  });
});

describe('a connection through a proxy', () => {
  let folder: string;
  let ca: TestAuthority;
  let server: Certificate;
  const open: { close: () => unknown }[] = [];

  before(function () {
    needsOpenssl(this);
    folder = mkdtempSync(path.join(tmpdir(), 'cnab-proxy-'));
    ca = new TestAuthority(folder);
    server = ca.issue('server', ['IP:127.0.0.1', 'DNS:cluster.test']);
  });

  after(() => {
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
  });

  afterEach(async () => {
    for (const thing of open.splice(0).reverse()) await thing.close();
  });

  async function proxy(...given: Parameters<typeof connectProxy>) {
    const made = await connectProxy(...given);
    open.push(made);
    return made;
  }

  async function connect(cluster: object, env: Record<string, string> = {}) {
    const file = path.join(folder, `config-${Math.random()}`);
    const config = {
      'current-context': 't',
      clusters: [{ name: 'c', cluster: { 'certificate-authority': ca.caFile, ...cluster } }],
      contexts: [{ name: 't', context: { cluster: 'c' } }],
    };
    writeFileSync(file, JSON.stringify(config));
    const connection = await connectWithKubeconfig({ kubeconfig: file, env, home: folder });
    open.push(connection);
    return new KubernetesApi(connection);
  }

  const call = { doing: 'ask', signal: new AbortController().signal, attempts: 1 };

  async function cluster() {
    const peer = await httpPeer(json({ ok: true }), { cert: server.cert, key: server.key });
    open.push(peer);
    return peer;
  }

  it('goes through proxy-url with its user name, in one kept tunnel, and checks the certificate of the server', async () => {
    const peer = await cluster();
    const via = await proxy(peer.port);
    const api = await connect({
      server: 'https://cluster.test:6443',
      'proxy-url': `http://u:p%40ss@127.0.0.1:${via.port}`,
    });
    for (let i = 0; i < 3; i++) assert.deepEqual(await api.get('/x', call), { ok: true });
    assert.deepEqual(via.asked, [
      { path: 'cluster.test:6443', authorization: `Basic ${Buffer.from('u:p@ss').toString('base64')}` },
    ]);
    const wrong = await connect({ server: 'https://other.test', 'proxy-url': `http://127.0.0.1:${via.port}` });
    await assert.rejects(wrong.get('/x', call), /is for another name/);
  });

  it('goes through the proxy of the environment, but not where NO_PROXY excepts the server', async () => {
    const peer = await cluster();
    const via = await proxy(peer.port);
    const env = { HTTPS_PROXY: `http://127.0.0.1:${via.port}` };
    await (await connect({ server: 'https://cluster.test' }, env)).get('/x', call);
    assert.deepEqual(
      via.asked.map((a) => a.path),
      ['cluster.test:443'],
    );
    const direct = await connect({ server: 'https://cluster.test:1' }, { ...env, NO_PROXY: '.test' });
    await assert.rejects(direct.get('/x', call));
    assert.equal(via.asked.length, 1);
  });

  it('writes IPv6 addresses in brackets, and reaches a plain HTTP server too', async () => {
    const peer = await httpPeer(json({ ok: true }));
    open.push(peer);
    const via = await proxy(peer.port);
    const api = await connect({ server: 'http://[fd00::1]:8080', 'proxy-url': `http://127.0.0.1:${via.port}` });
    assert.deepEqual(await api.get('/x', call), { ok: true });
    assert.equal(via.asked[0]?.path, '[fd00::1]:8080');
  });

  it('goes through a SOCKS proxy', async () => {
    const peer = await cluster();
    const socks = await socksProxy(peer.port);
    open.push(socks);
    const { port } = socks;
    const api = await connect({ server: 'https://cluster.test:6443', 'proxy-url': `socks5h://127.0.0.1:${port}` });
    assert.deepEqual(await api.get('/x', call), { ok: true });
    assert.deepEqual(await api.get('/x', call), { ok: true });
    assert.equal(socks.asked[0]?.path, 'cluster.test:6443');
  });

  it('says what the proxy answered, and does not show its password', async () => {
    for (const [status, message] of [
      [407, /no way to https:\/\/cluster.test: the proxy 127.0.0.1:\d+ asks for a user name and password \(407\)/],
      [503, /the proxy 127.0.0.1:\d+ answered 503/],
    ] as const) {
      const via = await proxy(1, status);
      const api = await connect({
        server: 'https://cluster.test',
        'proxy-url': `http://u:s3cret@127.0.0.1:${via.port}`,
      });
      await assert.rejects(
        api.get('/x', call),
        (error: Error) => message.test(error.message) && !error.message.includes('s3cret'),
      );
    }
    const gone = await connect({ server: 'https://cluster.test', 'proxy-url': 'http://127.0.0.1:1' });
    await assert.rejects(gone.get('/x', call), /the proxy 127.0.0.1:1 cannot be reached \(connect ECONNREFUSED/);
  });

  it('leaves no socket behind when the proxy says nothing', async () => {
    const via = await proxy(1, 'silence');
    const api = await connect({ server: 'https://cluster.test', 'proxy-url': `http://127.0.0.1:${via.port}` });
    const stop = new AbortController();
    const rejected = assert.rejects(api.get('/x', { ...call, signal: stop.signal }), isAbort);
    while (via.asked.length === 0) await new Promise(setImmediate);
    stop.abort();
    await rejected;
    api.close();
    while (via.sockets.size > 0) await new Promise(setImmediate);
  });
});
