import assert from 'node:assert/strict';
import { KubernetesApi } from '../../../src/driver/kubernetes/api.js';
import type { Connection } from '../../../src/driver/kubernetes/connection.js';
import { plainConnection } from '../../../src/driver/kubernetes/connection.js';
import { isAbort } from '../../../src/driver/kubernetes/kubernetes-error.js';
import type { KubernetesError } from '../../../src/driver/kubernetes/kubernetes-error.js';
import { cutAfter, httpPeer, json, refusal, reset, stall, text } from '../../helpers/http-peer.js';
import type { Answer, HttpPeer } from '../../helpers/http-peer.js';
import { ManualClock } from '../../helpers/manual-clock.js';

const JOBS = '/apis/batch/v1/namespaces/x/jobs';
const signal = new AbortController().signal;
const call = { doing: 'get job a', signal };

describe('KubernetesApi', () => {
  const open: { close: () => unknown }[] = [];
  let clock: ManualClock;

  async function start(answers: Answer | readonly Answer[], wrap: (c: Connection) => Connection = (c) => c) {
    const peer = await httpPeer(answers);
    const api = new KubernetesApi(wrap(plainConnection({ server: peer.url, token: 't0k' })), {
      clock,
      random: () => 0,
    });
    open.push(peer, api);
    return { peer, api };
  }

  beforeEach(() => {
    clock = new ManualClock(20_000);
  });

  afterEach(async () => {
    for (const thing of open.splice(0).reverse()) await thing.close();
  });

  it('keeps one connection for many calls and sends the token', async () => {
    const { peer, api } = await start(json({ ok: true }));
    for (let i = 0; i < 5; i++) assert.deepEqual(await api.get('/api/v1/x', call), { ok: true });
    assert.equal(peer.connections(), 1);
    assert.equal(peer.headers[0]?.authorization, 'Bearer t0k');
  });

  it('tries a reading again over resets, 429 and 5xx, with growing pauses and no earlier than Retry-After says', async () => {
    const { peer, api } = await start([
      reset,
      refusal(429, 'TooManyRequests', 'slow down', { 'retry-after': '7' }),
      refusal(503, 'ServiceUnavailable', 'not yet'),
      refusal(500, 'InternalError', 'etcdserver: leader changed'),
      json({ ok: true }),
    ]);
    assert.deepEqual(await api.get('/x', call), { ok: true });
    assert.equal(peer.seen.length, 5);
    assert.deepEqual(
      clock.asked.filter((ms) => ms < 30_000),
      [250, 7000, 1000, 2000],
    );
  });

  it('gives up after five attempts with the last error', async () => {
    const { peer, api } = await start(refusal(503, 'ServiceUnavailable', 'apiserver is shutting down'));
    await assert.rejects(api.get('/x', call), (error: KubernetesError) => {
      assert.equal(error.code, 'unavailable');
      assert.match(
        error.message,
        /^cannot get job a: http:\/\/127.0.0.1:\d+ answered 503: apiserver is shutting down$/,
      );
      return true;
    });
    assert.equal(peer.seen.length, 5);
  });

  it('repeats a reading at once on a kept socket that the server has closed', async () => {
    const { peer, api } = await start([json({ n: 1 }), (request) => request.socket.destroy(), json({ n: 2 })]);
    await api.get('/x', call);
    assert.deepEqual(await api.get('/x', call), { n: 2 });
    assert.deepEqual(
      clock.asked.filter((ms) => ms < 30_000),
      [],
    );
    assert.equal(peer.connections(), 2);
  });

  it('fetches credentials anew after a 401, once', async () => {
    let refreshed = 0;
    const counting = (c: Connection): Connection => ({ ...c, refresh: () => void refreshed++ });
    const no = refusal(401, 'Unauthorized', 'Unauthorized');
    const first = await start([no, json({ ok: true })], counting);
    assert.deepEqual(await first.api.get('/x', call), { ok: true });
    assert.equal(refreshed, 1);
    const second = await start(no, (c) => ({ ...counting(c), user: 'alice', context: 'prod' }));
    await assert.rejects(
      second.api.create(JOBS, {}, call),
      /does not accept the credentials of user "alice" \(Unauthorized\)/,
    );
    assert.equal(second.peer.seen.length, 2);
  });

  it('gives the warnings of an answer with the object', async () => {
    const warning = ['299 - "would violate PodSecurity \\"restricted\\""', '299 - "unknown field, a.b"'];
    const { peer, api } = await start(json({ metadata: { uid: 'u' } }, 201, { Warning: warning }));
    const created = await api.create(
      JOBS,
      { metadata: { name: 'a' } },
      { ...call, query: { fieldValidation: 'Warn' } },
    );
    assert.deepEqual(created.warnings, ['would violate PodSecurity "restricted"', 'unknown field, a.b']);
    assert.equal(peer.seen[0], `POST ${JOBS}?fieldValidation=Warn`);
    assert.equal(peer.bodies[0], '{"metadata":{"name":"a"}}');
  });

  it('does not create twice after a broken connection, and says that it may have happened', async () => {
    const { peer, api } = await start(reset);
    await assert.rejects(
      api.create(JOBS, { metadata: { name: 'a' } }, call),
      (error: KubernetesError) => error.maybeApplied,
    );
    assert.equal(peer.seen.length, 1);
  });

  it('adopts its own object when the first attempt had reached the server after all', async () => {
    const exists = refusal(409, 'AlreadyExists', 'jobs.batch "a" already exists');
    const ours = { metadata: { name: 'a', labels: { run: '1' } } };
    const isOurs = (job: typeof ours): boolean => job.metadata.labels.run === '1';
    const { peer, api } = await start([reset, exists, json(ours)]);
    assert.deepEqual((await api.create<typeof ours>(JOBS, ours, { ...call, isOurs })).object, ours);
    assert.deepEqual(peer.seen, [`POST ${JOBS}`, `POST ${JOBS}`, `GET ${JOBS}/a`]);
    const foreign = await start([reset, exists, json({ metadata: { name: 'a', labels: { run: '2' } } })]);
    await assert.rejects(foreign.api.create<typeof ours>(JOBS, ours, { ...call, isOurs }), /already exists/);
  });

  it("adopts an object that may not be read only where its name can be nobody else's", async () => {
    const answers = [
      reset,
      refusal(409, 'AlreadyExists', 'secrets "a" already exists'),
      refusal(403, 'Forbidden', 'secrets "a" is forbidden'),
    ];
    const ours = { metadata: { name: 'a' } };
    const once = { ...call, isOurs: () => false };
    const { api } = await start(answers);
    assert.deepEqual((await api.create(JOBS, ours, { ...once, oursIfUnreadable: true })).object, ours);
    await assert.rejects((await start(answers)).api.create(JOBS, ours, once), /forbidden/);
  });

  it('takes AlreadyExists at the first attempt for what it is', async () => {
    const { api } = await start(refusal(409, 'AlreadyExists', 'jobs.batch "a" already exists'));
    await assert.rejects(
      api.create(JOBS, { metadata: { name: 'a' } }, { ...call, isOurs: () => true }),
      /already exists/,
    );
  });

  it('repeats a creation where the server asks for it or nothing was sent', async () => {
    const busy = refusal(429, 'TooManyRequests', 'later', { 'retry-after': '1' });
    const { api } = await start([busy, json({ ok: 1 }, 201)]);
    assert.deepEqual((await api.create(JOBS, {}, call)).object, { ok: 1 });
    const closed = await start(json({}));
    await closed.peer.close();
    await assert.rejects(closed.api.create(JOBS, {}, call), (error: KubernetesError) => {
      assert.equal(error.maybeApplied, false);
      assert.match(error.message, /refused the connection$/);
      return true;
    });
  });

  it('deletes with a UID, a grace period and in the background; what is not there counts as deleted', async () => {
    const { peer, api } = await start([json({}), refusal(404, 'NotFound', 'jobs.batch "a" not found')]);
    assert.equal(await api.delete(`${JOBS}/a`, { ...call, uid: 'u1', gracePeriodSeconds: 0 }), true);
    assert.equal(await api.delete(`${JOBS}/a`, call), false);
    assert.deepEqual(JSON.parse(peer.bodies[0] ?? ''), {
      apiVersion: 'v1',
      kind: 'DeleteOptions',
      propagationPolicy: 'Background',
      preconditions: { uid: 'u1' },
      gracePeriodSeconds: 0,
    });
  });

  it('lists all pages, and starts anew when a page has expired', async () => {
    const pods = (...names: number[]) => names.map((name) => ({ metadata: { name: `${name}` } }));
    const page = (items: unknown, next?: string): Answer =>
      json({ metadata: { resourceVersion: '9', continue: next }, items });
    const paged = await start([page(pods(1, 2), 'c1'), page(pods(3))]);
    assert.deepEqual(await paged.api.list('/pods', call), { metadata: { resourceVersion: '9' }, items: pods(1, 2, 3) });
    assert.deepEqual(paged.peer.seen, ['GET /pods?limit=500', 'GET /pods?limit=500&continue=c1']);
    const expired = await start([page(pods(1), 'c1'), refusal(410, 'Expired', 'too old'), page(pods(1, 2))]);
    assert.deepEqual((await expired.api.list('/pods', call)).items, pods(1, 2));
    const none = await start(page(null));
    assert.deepEqual((await none.api.list('/pods', call)).items, []);
  });

  it('explains what is no JSON, in one line', async () => {
    const html = await start(text('<html>Log in</html>', 200, 'text/html'));
    await assert.rejects(
      html.api.get('/x', call),
      /^CnabError: cannot get job a: http:\S+ answered with text\/html, not JSON \(19 bytes\)$/,
    );
    const half = await start(cutAfter('{"a":', 'application/json'));
    await assert.rejects(half.api.get('/x', call), /the connection to http:\S+ broke/);
    const empty = await start(text('', 200, 'application/json'));
    await assert.rejects(empty.api.get('/x', call), /answered with an empty answer/);
  });

  it('does not follow a redirect, and says where it led', async () => {
    const { peer, api } = await start((_q, response) =>
      response.writeHead(302, { location: 'https://login.example/in?state=s3cret' }).end(),
    );
    await assert.rejects(
      api.get('/x', call),
      /answered with a redirect to https:\/\/login.example\/in, which is not followed/,
    );
    assert.equal(peer.seen.length, 1);
  });

  it('reads no answer beyond its limit', async () => {
    const peer = await httpPeer(text(Buffer.alloc(4 * 1024 * 1024, 97)));
    const api = new KubernetesApi(plainConnection({ server: peer.url }), { clock, maxBodyBytes: 1024 * 1024 });
    open.push(peer, api);
    await assert.rejects(api.get('/x', call), /is larger than 1 MiB/);
  });

  it('ends an attempt that gets no answer, or half of one, when its time is over', async () => {
    for (const silent of [stall(), stall('{"a":')]) {
      const { api } = await start(silent);
      const rejected = assert.rejects(
        api.get('/x', { ...call, timeoutMs: 25_000, attempts: 1 }),
        /did not answer in time \(nothing within 25 s\)/,
      );
      await clock.elapse(25_000);
      await rejected;
    }
  });

  it('ends at once with an AbortError when the signal is aborted, in a call and in a pause, and leaves no connection', async () => {
    const { peer, api } = await start(stall());
    for (const when of ['before', 'during']) {
      const stop = new AbortController();
      if (when === 'before') stop.abort({ kind: 'timeout' });
      const rejected = assert.rejects(api.get('/x', { ...call, signal: stop.signal }), isAbort);
      if (when === 'during') {
        while (peer.seen.length === 0) await new Promise(setImmediate);
        stop.abort({ kind: 'timeout' });
      }
      await rejected;
    }
    while (peer.open() > 0) await new Promise(setImmediate);
    const busy = await start(refusal(503, 'x', 'y', { 'retry-after': '30' }));
    const stop = new AbortController();
    const rejected = assert.rejects(busy.api.get('/x', { ...call, signal: stop.signal }), isAbort);
    while (!clock.asked.includes(30_000) || busy.peer.seen.length === 0) await new Promise(setImmediate);
    stop.abort();
    await rejected;
  });

  it('says the version of the server, also of managed ones', async () => {
    const { api } = await start(json({ major: '1', minor: '29+', gitVersion: 'v1.29.4-eks' }));
    assert.deepEqual(await api.serverVersion(call), { major: 1, minor: 29, gitVersion: 'v1.29.4-eks' });
    const other = await start(json({ version: '3' }));
    await assert.rejects(other.api.serverVersion(call), /does not say its version; is it a Kubernetes API server\?/);
  });

  it('opens a stream and refuses it with the server’s sentence', async () => {
    const { api } = await start([
      text('hello'),
      refusal(400, 'BadRequest', 'container "c" is waiting to start: ContainerCreating'),
    ]);
    const response = await api.stream('/log', call);
    let body = '';
    for await (const chunk of response) body += String(chunk);
    assert.equal(body, 'hello');
    await assert.rejects(api.stream('/log', call), (error: KubernetesError) => {
      assert.equal(error.serverMessage, 'container "c" is waiting to start: ContainerCreating');
      return error.statusCode === 400;
    });
  });

  it('speaks to a server below a path', async () => {
    const peer: HttpPeer = await httpPeer(json({}));
    const api = new KubernetesApi(plainConnection({ server: `${peer.url}/k8s/clusters/c-1/` }), { clock });
    open.push(peer, api);
    await api.get('/api', call);
    assert.deepEqual(peer.seen, ['GET /k8s/clusters/c-1/api']);
  });
});
