import assert from 'node:assert/strict';
import { KubernetesApi } from '../../../src/driver/kubernetes/api.js';
import { plainConnection } from '../../../src/driver/kubernetes/connection.js';
import { LogReader } from '../../../src/driver/kubernetes/log-reader.js';
import type { LogReaderEvent, LogReaderOptions } from '../../../src/driver/kubernetes/log-reader.js';
import { cutAfter, httpPeer, refusal, reset, stall, text } from '../../helpers/http-peer.js';
import type { Answer, HttpPeer } from '../../helpers/http-peer.js';
import { ManualClock } from '../../helpers/manual-clock.js';

const source = { namespace: 'x', pod: 'p', container: 'invocation' };
const PATH = 'GET /api/v1/namespaces/x/pods/p/log?container=invocation';
const FOLLOW = `${PATH}&follow=true&timestamps=true`;
const LAST = `${PATH}&follow=false&timestamps=true`;

function line(second: number, content: string): string {
  return `2026-11-30T23:05:${String(second).padStart(2, '0')}.000000001Z ${content}\n`;
}

const A = line(10, 'a');
const B = line(20, 'b');
const C = line(30, 'c');

describe('LogReader', () => {
  const open: { close: () => unknown }[] = [];
  let clock: ManualClock;
  let stop: AbortController;
  let ended: AbortController;
  let out: string;
  let events: LogReaderEvent[];

  beforeEach(() => {
    clock = new ManualClock(4_000);
    stop = new AbortController();
    ended = new AbortController();
    out = '';
    events = [];
  });

  afterEach(async () => {
    stop.abort();
    for (const thing of open.splice(0).reverse()) await thing.close();
  });

  async function reader(answers: Answer | readonly Answer[], more: Partial<LogReaderOptions> = {}) {
    const peer = await httpPeer(answers);
    const api = new KubernetesApi(plainConnection({ server: peer.url }), { clock, random: () => 0 });
    open.push(peer, api);
    const options: LogReaderOptions = {
      source,
      signal: stop.signal,
      ended: ended.signal,
      resume: 'exact',
      onBytes: (chunk) => void (out += Buffer.from(chunk).toString('latin1')),
      onGap: () => void (out += '<gap>'),
      onEvent: (event) => events.push(event),
      ...more,
    };
    return { peer, log: new LogReader(api, options) };
  }

  /** Gives the answer, and lets the pod's status say that the container has terminated. */
  function thenEnded(answer: Answer): Answer {
    return (...exchange) => {
      ended.abort();
      answer(...exchange);
    };
  }

  async function requests(peer: HttpPeer, count: number): Promise<void> {
    while (peer.seen.length < count) await new Promise(setImmediate);
  }

  it('follows to the end of the container, and then reads once without following', async () => {
    const { peer, log } = await reader([thenEnded(text(A + B)), text(B + C)]);
    assert.deepEqual(await log.run(), { kind: 'ended', gaps: 0, bytes: 6, connections: 2 });
    // The follow stopped short because of a rotation just before the end; the last reading has the rest.
    assert.equal(out, 'a\nb\nc\n');
    assert.deepEqual(peer.seen, [FOLLOW, `${LAST}&sinceTime=2026-11-30T23%3A05%3A18Z`]);
  });

  it('does not take the clean end of a stream for the end of the log', async () => {
    const { peer, log } = await reader([text(A), text(A), thenEnded(text(A + B)), text(B)]);
    assert.equal((await log.run()).kind, 'ended');
    assert.equal(out, 'a\nb\n');
    assert.equal(peer.seen.length, 4);
    assert.deepEqual(events[1], { kind: 'interrupted', reason: 'the stream ended before the container', pauseMs: 250 });
  });

  it('goes on over resets, 429, 5xx and cuts in mid-line without losing or repeating a byte', async () => {
    const { log } = await reader([
      reset,
      cutAfter((A + B).slice(0, -1)),
      refusal(429, 'TooManyRequests', 'later', { 'retry-after': '3' }),
      refusal(500, 'InternalError', 'kubelet: dial tcp: i/o timeout'),
      cutAfter(line(20, 'bb').slice(0, -2)),
      thenEnded(text(line(20, 'bb') + C)),
      text(C),
    ]);
    assert.equal((await log.run()).gaps, 0);
    assert.equal(out, 'a\nbb\nc\n');
    assert.deepEqual(
      events.flatMap((event) => (event.kind === 'interrupted' ? [event.pauseMs] : [])),
      // Grows as long as no new byte comes.
      [250, 250, 3000, 1000, 2000],
    );
  });

  it('scenario 18: waits while the container has not started or the pod has no node', async () => {
    const starting = refusal(
      400,
      'BadRequest',
      'container "invocation" in pod "p" is waiting to start: PodInitializing',
    );
    const { log } = await reader([text('', 204), starting, starting, thenEnded(text(A)), text(A)]);
    assert.equal((await log.run()).kind, 'ended');
    assert.equal(out, 'a\n');
    assert.deepEqual(
      events.flatMap((event) => (event.kind === 'waiting' ? [event.reason] : [])),
      [
        'the pod has no node yet',
        ...Array<string>(2).fill('container "invocation" in pod "p" is waiting to start: PodInitializing'),
      ],
    );
  });

  it('ends without a byte when the container never started', async () => {
    const { log } = await reader(
      refusal(400, 'BadRequest', 'container "invocation" in pod "p" is waiting to start: StartError'),
    );
    ended.abort();
    assert.deepEqual(await log.run(), { kind: 'ended', gaps: 0, bytes: 0, connections: 0 });
  });

  it('waits, as the watch does, for a login that ran out while it read, and gives up when nobody renews it', async () => {
    const denied = [refusal(401, 'Unauthorized', 'Unauthorized'), refusal(403, 'Forbidden', 'pods "p" is forbidden')];
    clock = new ManualClock(10_000);
    // Each 401 is asked once more with fresh credentials.
    const { log } = await reader([cutAfter(A), ...denied, ...denied, thenEnded(text(A + B)), text(A + B)]);
    const { kind, gaps } = await log.run();
    assert.deepEqual([kind, gaps, out], ['ended', 0, 'a\nb\n']);
    const never = await reader([cutAfter(A), ...Array<Answer>(200).fill(refusal(403, 'Forbidden', 'no'))]);
    assert.equal((await never.log.run()).kind, 'failed');
  });

  it('fails on a container that does not exist, on forbidden, and on a second 401', async () => {
    for (const [answer, message] of [
      [refusal(400, 'BadRequest', 'container invocation is not valid for pod p'), /is not valid for pod p/],
      [refusal(403, 'Forbidden', 'pods "p" is forbidden'), /is forbidden/],
      [refusal(401, 'Unauthorized', 'Unauthorized'), /does not accept the credentials/],
    ] as const) {
      const end = await (await reader(answer)).log.run();
      assert.equal(end.kind, 'failed');
      assert.match(end.error?.message ?? '', message);
    }
  });

  it('says that the pod is gone, but not for a kubelet that does not know it yet', async () => {
    const unknown = refusal(404, 'NotFound', 'the server could not find the requested resource ( pods/log p)');
    const { log } = await reader([unknown, cutAfter(A), refusal(404, 'NotFound', 'pods "p" not found')]);
    const end = await log.run();
    assert.equal(end.kind, 'gone');
    assert.equal(end.error?.serverMessage, 'pods "p" not found');
    assert.equal(out, 'a\n');
  });

  it('tells a gap where the log was rotated away, and counts it', async () => {
    const { log } = await reader([cutAfter(A), thenEnded(text(C)), text(C)]);
    assert.deepEqual(await log.run(), { kind: 'ended', gaps: 1, bytes: 4, connections: 3 });
    assert.equal(out, 'a\n<gap>c\n');
  });

  it('tells a gap when the last reading does not hold the place of the one before', async () => {
    const { log } = await reader([thenEnded(text(A)), text('')]);
    assert.equal((await log.run()).gaps, 1);
    assert.equal(out, 'a\n<gap>');
  });

  it('reconnects after the silence that it is told is too long', async () => {
    const { peer, log } = await reader([stall(A), thenEnded(text(A + B)), text(B)], { idleMs: 45_000 });
    const run = log.run();
    await requests(peer, 1);
    while (out === '') await new Promise(setImmediate);
    await clock.elapse(45_000);
    assert.equal((await run).kind, 'ended');
    assert.equal(out, 'a\nb\n');
    assert.match(
      events[1]?.kind === 'interrupted' ? events[1].reason : '',
      /did not answer in time \(nothing within 45 s\)/,
    );
  });

  it('bears any silence without that, until there is evidence', async () => {
    const { peer, log } = await reader([stall(A), thenEnded(text(A + B)), text(B)]);
    const run = log.run();
    while (out === '') await new Promise(setImmediate);
    for (let i = 0; i < 3; i++) await clock.elapse(24 * 3600_000);
    assert.equal(peer.seen.length, 1);
    log.reconnect('no heartbeat');
    assert.equal((await run).kind, 'ended');
    assert.equal(out, 'a\nb\n');
    assert.deepEqual(events[1], { kind: 'interrupted', reason: 'no heartbeat', pauseMs: 250 });
  });

  it('cuts a stream that hangs after the container has ended', async () => {
    const { peer, log } = await reader([stall(A), text(A + B)]);
    const run = log.run();
    while (out === '') await new Promise(setImmediate);
    ended.abort();
    assert.equal((await run).kind, 'ended');
    assert.equal(out, 'a\nb\n');
    assert.equal(peer.seen.length, 2);
  });

  it('takes from a connection what comes within the silence that it may wait out after the end', async () => {
    const late: Answer = (request, response) => {
      response.writeHead(200, { 'content-type': 'text/plain' });
      response.write(A);
      ended.abort();
      void clock.sleep(4900).then(() => response.end(B));
    };
    const { log } = await reader([late, text('')], { drainMs: 5000 });
    const end = log.run();
    while (out === '') await new Promise(setImmediate);
    await clock.elapse(4900);
    assert.equal((await end).kind, 'ended');
    assert.equal(out, 'a\nb\n<gap>');
  });

  it('gives frames again from a second before what was taken, at the start of a line, with the timestamps that their reader knows', async () => {
    const { peer, log } = await reader([cutAfter(`${A}${B}`.slice(0, -1)), thenEnded(text(A + B)), text(B)], {
      resume: 'overlap',
      onBytes: (chunk) => Promise.resolve(void (out += Buffer.from(chunk).toString('latin1'))),
    });
    assert.equal((await log.run()).gaps, 0);
    assert.equal(out, `${A}${B}`.slice(0, -1) + A + B + B);
    assert.match(peer.seen[1] ?? '', /sinceTime=2026-11-30T23%3A05%3A19Z$/);
  });

  it('stops promptly wherever it is, and leaves no connection', async () => {
    const busy = refusal(503, 'x', 'y', { 'retry-after': '30' });
    for (const answers of [stall(), stall(A), [cutAfter(A), stall()], busy]) {
      stop = new AbortController();
      out = '';
      const { peer, log } = await reader(answers, { signal: stop.signal });
      const run = log.run();
      await requests(peer, Array.isArray(answers) ? 2 : 1);
      for (let i = 0; i < 20; i++) await new Promise(setImmediate);
      stop.abort({ kind: 'signal', signal: 'SIGINT' });
      assert.equal((await run).kind, 'stopped');
      while (answers !== busy && peer.open() > 0) await new Promise(setImmediate);
    }
  });

  it('waits for its consumer and holds little meanwhile', async () => {
    let written = 0;
    const flood: Answer = (_request, response) => {
      const chunk = Buffer.from(line(10, 'x'.repeat(65_000)));
      const more = (): void => {
        while (!response.destroyed && written < 200 * 1024 * 1024) {
          written += chunk.length;
          if (!response.write(chunk)) return void response.once('drain', more);
        }
      };
      more();
    };
    let release = (): void => undefined;
    const blocked = new Promise<void>((resolve) => (release = resolve));
    const { log } = await reader(flood, { onBytes: () => blocked });
    const run = log.run();
    for (let before = -1; before !== written;) {
      before = written;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    assert.ok(written < 16 * 1024 * 1024, `${written} bytes were taken while the consumer stood still`);
    stop.abort();
    assert.equal((await run).kind, 'stopped');
    release();
  });

  it('rejects with what its consumer throws', async () => {
    const { log } = await reader(stall(A), { onBytes: () => Promise.reject(new Error('disk full')) });
    await assert.rejects(log.run(), /^Error: disk full$/);
  });

  it('gives bytes that are no text as they are', async () => {
    const bytes = Buffer.from([0, 255, 13, 128, 10]);
    const stamped = Buffer.concat([Buffer.from(A.slice(0, -2)), bytes]);
    const { log } = await reader([thenEnded(text(stamped)), text(stamped)]);
    await log.run();
    assert.deepEqual(Buffer.from(out, 'latin1'), bytes);
  });
});
