import assert from 'node:assert/strict';
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { CnabError } from '../../../src/errors.js';
import { KubernetesError } from '../../../src/driver/kubernetes/kubernetes-error.js';
import type { Certificate } from '../../helpers/certificates.js';
import { httpPeer, json, refusal } from '../../helpers/http-peer.js';
import { needsOpenssl } from '../../helpers/certificates.js';
import { ask, base64, TlsCluster, whoami } from '../../helpers/tls-cluster.js';

const signal = new AbortController().signal;

describe('connectWithKubeconfig', () => {
  let at: TlsCluster;
  let alice: Certificate;

  before(function () {
    needsOpenssl(this);
    at = new TlsCluster();
    alice = at.ca.issue('alice', []);
  });

  after(() => at?.remove());
  afterEach(() => at?.closeAll());

  it('shows a client certificate, given as data or as a file relative to the kubeconfig, over one connection', async () => {
    const peer = await at.serve(whoami);
    const data = await at.connect(
      { server: peer.url, 'certificate-authority-data': base64(at.ca.ca) },
      { 'client-certificate-data': base64(alice.cert), 'client-key-data': base64(alice.key) },
    );
    const files = await at.connect(
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
    const { connection } = await at.connect({ server: 'https://x' }, {}, { inContext: { namespace: 'payments' } });
    assert.equal(connection.namespace, 'payments');
  });

  it('sends a token, a user name with password, and whom to impersonate', async () => {
    const peer = await at.serve(whoami);
    const cluster = { server: peer.url, 'certificate-authority': at.ca.caFile };
    const impersonate = {
      as: 'bob',
      'as-uid': '7',
      'as-groups': ['dev', 'ops'],
      'as-user-extra': { 'Scopes/x': ['a'] },
    };
    const token = await at.connect(cluster, { token: 'abc', ...impersonate });
    const { headers } = await ask(token.api);
    assert.equal(headers['authorization'], 'Bearer abc');
    assert.equal(headers['impersonate-user'], 'bob');
    assert.equal(headers['impersonate-uid'], '7');
    assert.equal(headers['impersonate-group'], 'dev, ops');
    assert.equal(headers['impersonate-extra-scopes%2fx'] ?? headers['impersonate-extra-scopes%2Fx'], 'a');
    const basic = await at.connect(cluster, { username: 'u', password: 'p' });
    assert.equal((await ask(basic.api)).headers['authorization'], `Basic ${base64('u:p')}`);
  });

  it('reads a token file anew after a 401', async () => {
    for (const key of ['tokenFile', 'token-file']) {
      const file = path.join(at.folder, 'token');
      writeFileSync(file, 'old\n');
      const peer = await at.serve([
        whoami,
        (...exchange) => {
          writeFileSync(file, 'new\n');
          refusal(401, 'Unauthorized', 'Unauthorized')(...exchange);
        },
        whoami,
      ]);
      const { api } = await at.connect({ server: peer.url, 'certificate-authority': at.ca.caFile }, { [key]: 'token' });
      assert.equal((await ask(api)).headers['authorization'], 'Bearer old');
      assert.equal((await ask(api)).headers['authorization'], 'Bearer new');
    }
  });

  it('needs no user, and then still checks the certificate of the server', async () => {
    const peer = await at.serve(whoami);
    const { api } = await at.connect({ server: peer.url, 'certificate-authority': at.ca.caFile }, undefined);
    assert.equal((await ask(api)).headers['authorization'], undefined);
    await assert.rejects(ask((await at.connect({ server: peer.url }, undefined)).api), /is not signed by a known CA/);
  });

  it('speaks plain HTTP where the kubeconfig says so', async () => {
    const peer = await httpPeer(json({ ok: true }));
    at.closeLater(peer);
    const { api } = await at.connect({ server: peer.url }, { token: 'abc' });
    assert.deepEqual(await ask(api), { ok: true });
    assert.equal(peer.headers[0]?.authorization, 'Bearer abc');
  });

  it('says which certificate file cannot be read, and which data are none', async () => {
    const cluster = { server: 'https://127.0.0.1:1' };
    const missing = await at.connect(cluster, { 'client-certificate': 'gone.crt', 'client-key': 'gone.key' });
    await assert.rejects(ask(missing.api), /cannot read \S+gone.crt, which the kubeconfig names \(ENOENT\)/);
    await assert.rejects(
      at.connect(cluster, { 'client-certificate-data': base64('nothing'), 'client-key-data': '' }),
      /user "alice" of context "test" \(\S+\) has client-certificate-data that is not PEM in base64/,
    );
    const key = base64('-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n');
    const broken = await at.connect(cluster, { 'client-certificate-data': base64(alice.cert), 'client-key-data': key });
    await assert.rejects(
      ask(broken.api),
      (error: CnabError) => error.code === 'invalid' && /are not usable \(/.test(error.message),
    );
  });

  it('a certificate file or a token that is not usable for a moment does not end a run that goes on', async () => {
    const cluster = { server: 'https://127.0.0.1:1' };
    for (const user of [{ 'client-certificate': 'gone.crt', 'client-key': 'gone.key' }, { token: 'half\u0001' }]) {
      const { api } = await at.connect(cluster, user);
      await assert.rejects(
        ask(api),
        (error) => error instanceof KubernetesError && error.code === 'invalid' && error.transient,
      );
    }
  });

  it('refuses a token and a server that cannot be right, without showing a secret', async () => {
    const { api } = await at.connect({ server: 'https://127.0.0.1:1' }, { token: 'a\u0001s3cret' });
    await assert.rejects(ask(api), (error: CnabError) => error.code === 'invalid' && !error.message.includes('s3cret'));
    for (const server of ['https://u:s3cret@x', 'ftp://s3cret', 'https://', undefined]) {
      await assert.rejects(at.connect({ server }, {}), (error: CnabError) => {
        assert.ok(error.code === 'invalid' && !error.message.includes('s3cret'), error.message);
        return true;
      });
    }
  });

  it('runs a credential plugin for the first request, and again when the server refuses what it gave', async () => {
    const plugin = path.join(at.folder, 'plugin');
    const said = 'printf \'{"kind":"ExecCredential","status":{"token":"%s"}}\' "$(cat n)-$KUBERNETES_EXEC_INFO"';
    writeFileSync(
      plugin,
      `#!/bin/sh\ncd '${at.folder}'; echo x >> n; KUBERNETES_EXEC_INFO=$(echo "$KUBERNETES_EXEC_INFO" | base64 -w 0)\n${said.replace('$(cat n)', '$(wc -l < n)')}\n`,
    );
    chmodSync(plugin, 0o755);
    const no = refusal(401, 'Unauthorized', 'Unauthorized');
    const peer = await at.serve([whoami, whoami, no, whoami]);
    const cluster = { server: peer.url, 'certificate-authority': 'ca.crt' };
    const env = { PATH: process.env['PATH'] };
    const { api } = await at.connect(cluster, { exec: { command: './plugin', provideClusterInfo: true } }, { env });
    const tokens: string[] = [];
    for (let i = 0; i < 3; i++) tokens.push((await ask(api)).headers['authorization'] ?? '');
    const [, info = ''] = /^Bearer 1-(.*)$/.exec(tokens[0] ?? '') ?? [];
    assert.deepEqual((JSON.parse(Buffer.from(info, 'base64').toString()) as { spec: unknown }).spec, {
      interactive: false,
      cluster: { server: peer.url, 'certificate-authority-data': base64(at.ca.ca) },
    });
    assert.deepEqual(
      tokens.map((token) => token.split('-')[0]),
      ['Bearer 1', 'Bearer 1', 'Bearer 2'],
    );
  });

  it('does not run a plugin that fails again and again, nor takes the call for one that may have been made', async () => {
    const runs = path.join(at.folder, 'runs');
    const exec = { command: 'sh', args: ['-c', `echo x >> '${runs}'; exit 1`] };
    const { api } = await at.connect(
      { server: 'https://127.0.0.1:1' },
      { exec },
      { env: { PATH: process.env['PATH'] } },
    );
    await assert.rejects(api.create('/x', {}, { doing: 'ask', signal }), (error: KubernetesError) => {
      assert.match(error.message, /^no credentials for user "alice": sh failed with exit code 1$/);
      assert.equal(error.maybeApplied, false);
      return error.transient;
    });
    assert.equal(readFileSync(runs, 'utf8'), 'x\n');
  });

  it('asks nothing more once it is closed', async () => {
    const peer = await at.serve(whoami);
    const { api, connection } = await at.connect({ server: peer.url, 'insecure-skip-tls-verify': true }, {});
    await ask(api);
    connection.close();
    await assert.rejects(ask(api), /the connection to \S+ is closed/);
    while (peer.open() > 0) await new Promise(setImmediate);
  });
});
