import assert from 'node:assert/strict';
import type tls from 'node:tls';
import { KubernetesApi } from '../../../src/driver/kubernetes/api.js';
import type { Connection } from '../../../src/driver/kubernetes/connection.js';
import { plainConnection } from '../../../src/driver/kubernetes/connection.js';
import { runExec } from '../../../src/driver/kubernetes/exec-stream.js';
import { isAbort, KubernetesError } from '../../../src/driver/kubernetes/kubernetes-error.js';
import { needsOpenssl } from '../../helpers/certificates.js';
import { execServer, holds, refuses, sends, type ExecAnswer, type ExecServer } from '../../helpers/exec-server.js';
import { ManualClock } from '../../helpers/manual-clock.js';
import { connectProxy, socksProxy } from '../../helpers/proxies.js';
import { base64, TlsCluster } from '../../helpers/tls-cluster.js';

const never = new AbortController().signal;

async function hello(api: KubernetesApi, signal = never): Promise<string> {
  let out = '';
  const source = { namespace: 'apps', pod: 'p', container: 'outputs' };
  const onData = (chunk: Buffer): void => void (out += chunk.toString());
  await runExec(api, { source, command: ['x'], doing: 'fetch outputs', signal, bytes: 5, onData });
  return out;
}

describe('the upgrade of an exec', () => {
  let server: ExecServer;
  let open: { close: () => unknown }[] = [];

  afterEach(async () => {
    for (const thing of open.reverse()) await thing.close();
    open = [];
  });

  async function serve(
    answers: ExecAnswer | readonly ExecAnswer[],
    wrap = (connection: Connection): Connection => connection,
    clock?: ManualClock,
  ): Promise<KubernetesApi> {
    server = await execServer(answers);
    const connection = wrap(plainConnection({ server: server.url }));
    open.push(server, connection);
    return new KubernetesApi(connection, clock === undefined ? {} : { clock });
  }

  async function refusal(answers: ExecAnswer | readonly ExecAnswer[]): Promise<KubernetesError> {
    const api = await serve(answers);
    const error: unknown = await hello(api).catch((thrown: unknown) => thrown);
    assert.ok(error instanceof KubernetesError, String(error));
    await holds(() => server.open() === 0);
    return error;
  }

  it('after a 401 the credentials are got anew, once', async () => {
    let token = 'old';
    const refreshable = (connection: Connection): Connection => ({
      ...connection,
      requestOptions: () => Promise.resolve({ headers: { authorization: `Bearer ${token}` } }),
      refresh: () => void (token = 'new'),
    });
    const denied = refuses(401, 'Unauthorized', 'Unauthorized');
    const api = await serve([denied, sends('hello')], refreshable);
    assert.equal(await hello(api), 'hello');
    assert.deepEqual(
      server.calls.map(({ request }) => request.headers.authorization),
      ['Bearer old', 'Bearer new'],
    );
    const twice = await serve(denied, refreshable);
    await assert.rejects(hello(twice), /does not accept the credentials \(Unauthorized\)/);
    assert.equal(server.calls.length, 2);
  });

  it('a refusal of the API server is told in its own words, and time does not heal it', async () => {
    const sentence =
      'pods "p" is forbidden: User "u" cannot create resource "pods/exec" in API group "" in the namespace "apps"';
    for (const [code, reason, message] of [
      [403, 'Forbidden', sentence],
      [404, 'NotFound', 'pods "p" not found'],
      [400, 'BadRequest', 'container outputs is not valid for pod p'],
    ] as const) {
      const error = await refusal(refuses(code, reason, message));
      assert.equal(error.message, `cannot fetch outputs: ${message}`);
      assert.deepEqual([error.statusCode, error.transient], [code, false]);
      assert.equal(server.calls.length, 1);
    }
    const { suggestions } = await refusal(refuses(403, 'Forbidden', sentence));
    assert.match(suggestions.join(), /A Role in namespace apps must allow: create on pods\/exec/);
  });

  it('what an API server cannot do now may come later', async () => {
    for (const code of [429, 500, 503]) {
      const error = await refusal(refuses(code, 'X', 'error dialing backend'));
      assert.deepEqual([error.statusCode, error.transient], [code, true]);
      assert.doesNotMatch(error.suggestions.join(), /WebSocket/);
    }
  });

  for (const [title, status, body, headers, words] of [
    [
      'takes the upgrade away',
      200,
      '<html>Welcome</html>',
      {},
      /the upgrade to a WebSocket did not reach http.* 200 where 101 was due/,
    ],
    [
      'leads elsewhere',
      301,
      '',
      { location: 'https://login.example/?token=x' },
      /redirect to https:\/\/login\.example\/, which is not followed/,
    ],
    ['cannot pass it on', 502, '<html>Bad Gateway</html>', { 'content-type': 'text/html' }, /answered 502: HTTP 502/],
    [
      'asks for an upgrade that it swallowed',
      400,
      'Upgrade request required',
      {},
      /the upgrade to a WebSocket did not reach/,
    ],
  ] as const) {
    it(`scenario 25: a proxy that ${title} is told with the way around it`, async () => {
      const error = await refusal((call) => call.refuse(status, body, headers));
      assert.match(error.message, words);
      assert.equal(error.statusCode, status);
      if (status !== 301) assert.match(error.suggestions.join(), /--outputs-via log/);
    });
  }

  it('a server that does not know the first protocol is asked with the second one', async () => {
    const accepts =
      (protocol: string): ExecAnswer =>
      async (call) => {
        const peer = await call.accept({ protocol });
        await peer.send(1, 'hello');
      };
    for (const first of [
      (call) => call.refuse(403),
      (call) => void call.accept({ protocol: false }),
    ] satisfies ExecAnswer[]) {
      const api = await serve([first, accepts('v5.channel.k8s.io')]);
      assert.equal(await hello(api), 'hello');
      assert.deepEqual(
        server.calls.map(({ request }) => request.headers['sec-websocket-protocol']),
        ['v4.channel.k8s.io', 'v5.channel.k8s.io'],
      );
    }
  });

  it('what answers and is no exec is told as that', async () => {
    const garbage: readonly [ExecAnswer, RegExp][] = [
      [(call) => void call.accept({ protocol: false }), /is no exec \(Server sent no subprotocol\)/],
      [(call) => void call.accept({ protocol: 'v9' }), /is no exec \(Server sent an invalid subprotocol\)/],
      [(call) => void call.socket.end('SSH-2.0-x\r\n'), /does not speak HTTP/],
      [
        (call) => void call.socket.write('HTTP/1.1 101 X\r\nupgrade: websocket\r\nconnection: upgrade\r\n\r\n'),
        /is no exec \(Invalid Sec-WebSocket-Accept header\)/,
      ],
    ];
    for (const [answer, words] of garbage) assert.match((await refusal(answer)).message, words);
  });

  it('a connection that breaks, or that nobody takes, is told and may be made later', async () => {
    const broken = await refusal((call) => void call.socket.resetAndDestroy());
    assert.match(broken.message, /^cannot fetch outputs: the connection to http:\S+ broke/);
    assert.equal(broken.transient, true);
    const nobody = new KubernetesApi(plainConnection({ server: 'http://127.0.0.1:1' }));
    await assert.rejects(hello(nobody), /refused the connection/);
  });

  it('half a minute without an answer is too long, and an abort ends the wait at once', async () => {
    const clock = new ManualClock(0);
    const api = await serve(() => undefined, undefined, clock);
    const silent = assert.rejects(hello(api), /did not answer in time \(nothing within 30 s\)/);
    await holds(() => server.calls.length === 1);
    await clock.elapse(30_000);
    await silent;
    const stop = new AbortController();
    const aborted = assert.rejects(hello(api, stop.signal), isAbort);
    await holds(() => server.calls.length === 2);
    stop.abort();
    await aborted;
    await holds(() => server.open() === 0);
  });

  it('a kept-alive socket of the API serves for it, and is not given back', async () => {
    const api = await serve(sends('hello'));
    await assert.rejects(api.get('/x', { doing: 'ask', signal: never, attempts: 1 }), /404/);
    assert.equal(server.open(), 1);
    assert.equal(await hello(api), 'hello');
    await holds(() => server.open() === 0);
  });
});

describe('an exec over TLS', () => {
  let at: TlsCluster;

  before(function () {
    needsOpenssl(this);
    at = new TlsCluster();
  });

  after(() => at?.remove());
  afterEach(() => at?.closeAll());

  async function serve(): Promise<ExecServer> {
    const { cert, key } = at.server;
    const options = { cert, key, ca: at.ca.ca, requestCert: true, rejectUnauthorized: false };
    return at.closeLater(await execServer(sends('hello'), options));
  }

  it('shows the client certificate and the impersonation, and checks the certificate of the server', async () => {
    const server = await serve();
    const alice = at.ca.issue('alice', []);
    const user = {
      'client-certificate-data': base64(alice.cert),
      'client-key-data': base64(alice.key),
      as: 'bob',
      'as-groups': ['a', 'b'],
    };
    const trusted = { server: server.url, 'certificate-authority': at.ca.caFile };
    assert.equal(await hello((await at.connect(trusted, user)).api), 'hello');
    const { request } = server.calls[0] ?? assert.fail();
    assert.equal((request.socket as tls.TLSSocket).getPeerCertificate().subject.CN, 'alice');
    assert.deepEqual(request.headers['impersonate-user'], 'bob');
    assert.equal(request.headers['impersonate-group'], 'a, b');

    const unknown = await at.connect({ server: server.url }, user);
    await assert.rejects(hello(unknown.api), /is not signed by a known CA/);
    const named = await at.connect({ ...trusted, 'tls-server-name': 'other.test' }, user);
    await assert.rejects(hello(named.api), /is for another name/);
  });

  it('goes through an HTTP proxy and a SOCKS proxy, and says what a proxy answered', async () => {
    const server = await serve();
    const port = Number(new URL(server.url).port);
    const through = async (proxy: { port: number; close: () => void }, scheme: string): Promise<KubernetesApi> => {
      at.closeLater(proxy);
      const cluster = {
        server: 'https://cluster.test:6443',
        'certificate-authority': at.ca.caFile,
        'proxy-url': `${scheme}://127.0.0.1:${proxy.port}`,
      };
      return (await at.connect(cluster, { token: 'abc' })).api;
    };
    for (const [proxy, scheme] of [
      [await connectProxy(port), 'http'],
      [await socksProxy(port), 'socks5h'],
    ] as const) {
      assert.equal(await hello(await through(proxy, scheme)), 'hello');
      assert.deepEqual(
        proxy.asked.map(({ path }) => path),
        ['cluster.test:6443'],
      );
      await holds(() => proxy.sockets.size === 0);
    }
    const refusing = await through(await connectProxy(port, 407), 'http');
    await assert.rejects(hello(refusing), /asks for a user name and password \(407\)/);
  });

  it('plain HTTP to a TLS port is told, and nothing hangs', async () => {
    const server = await serve();
    const { api } = await at.connect({ server: server.url.replace('https:', 'http:') }, {});
    await assert.rejects(hello(api), /broke|does not speak HTTP|HTTP 400/);
  });
});
