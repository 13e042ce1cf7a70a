import assert from 'node:assert/strict';
import { KubernetesApi } from '../../../src/driver/kubernetes/api.js';
import { plainConnection } from '../../../src/driver/kubernetes/connection.js';
import type { KubernetesError } from '../../../src/driver/kubernetes/kubernetes-error.js';
import { watchList } from '../../../src/driver/kubernetes/watch.js';
import type { WatchOptions } from '../../../src/driver/kubernetes/watch.js';
import { cutAfter, httpPeer, json, refusal, reset, stall, text } from '../../helpers/http-peer.js';
import type { Answer, HttpPeer } from '../../helpers/http-peer.js';
import { ManualClock } from '../../helpers/manual-clock.js';

interface Pod {
  readonly metadata: { readonly uid: string; readonly name: string; readonly resourceVersion: string };
}

function pod(name: string, version: number, uid = name): Pod {
  return { metadata: { uid, name, resourceVersion: String(version) } };
}

function list(version: number, ...items: Pod[]): Answer {
  return json({ metadata: { resourceVersion: String(version) }, items });
}

function lines(...events: readonly [string, unknown][]): string {
  return events.map(([type, object]) => `${JSON.stringify({ type, object })}\n`).join('');
}

const expired = { kind: 'Status', code: 410, reason: 'Expired', message: 'too old resource version: 5 (9)' };

describe('watchList', () => {
  const open: { close: () => unknown }[] = [];
  let clock: ManualClock;
  let stop: AbortController;

  beforeEach(() => {
    clock = new ManualClock(20_000);
    stop = new AbortController();
  });

  afterEach(async () => {
    stop.abort();
    for (const thing of open.splice(0).reverse()) await thing.close();
  });

  /** The events as words, until `count` of them have come; then the watch is stopped. */
  async function watch(peer: HttpPeer, count: number, more: Partial<WatchOptions> = {}): Promise<string[]> {
    const api = new KubernetesApi(plainConnection({ server: peer.url }), { clock, random: () => 0 });
    open.push(peer, api);
    const words: string[] = [];
    for await (const event of watchList<Pod>(api, '/pods', { doing: 'watch pods', signal: stop.signal, ...more })) {
      words.push(
        event.type === 'LISTED'
          ? `LISTED ${event.list.items.length}`
          : `${event.type} ${event.object.metadata.name}@${event.object.metadata.resourceVersion}`,
      );
      if (words.length === count) stop.abort();
    }
    return words;
  }

  it('lists, then watches from the version of the list', async () => {
    const peer = await httpPeer([
      list(5, pod('a', 3)),
      stall(lines(['MODIFIED', pod('a', 6)], ['DELETED', pod('a', 7)])),
    ]);
    const query = { labelSelector: 'run=1' };
    assert.deepEqual(await watch(peer, 4, { query }), ['ADDED a@3', 'LISTED 1', 'MODIFIED a@6', 'DELETED a@7']);
    assert.deepEqual(peer.seen, [
      'GET /pods?limit=500&labelSelector=run%3D1',
      'GET /pods?labelSelector=run%3D1&watch=1&allowWatchBookmarks=true&resourceVersion=5&timeoutSeconds=50',
    ]);
  });

  it('says that there is nothing', async () => {
    assert.deepEqual(await watch(await httpPeer([list(5), stall('\n')]), 1), ['LISTED 0']);
  });

  it('goes on from the last version, a bookmark’s too, when the server ends the watch', async () => {
    const peer = await httpPeer([
      list(5),
      text(lines(['ADDED', pod('a', 6)], ['BOOKMARK', { metadata: { resourceVersion: '20' } }])),
      stall(lines(['MODIFIED', pod('a', 21)])),
    ]);
    assert.deepEqual(await watch(peer, 3), ['LISTED 0', 'ADDED a@6', 'MODIFIED a@21']);
    assert.match(peer.seen[2] ?? '', /resourceVersion=20&/);
  });

  it('goes on after a reset in the middle of an event, which then comes whole and once', async () => {
    const event = lines(['ADDED', pod('a', 6)], ['ADDED', pod('b', 7)]);
    const peer = await httpPeer([list(5), cutAfter(event.slice(0, -20)), reset, stall(lines(['ADDED', pod('b', 7)]))]);
    const troubles: string[] = [];
    const onTrouble = (error: KubernetesError): number => troubles.push(error.message);
    assert.deepEqual(await watch(peer, 3, { onTrouble }), ['LISTED 0', 'ADDED a@6', 'ADDED b@7']);
    assert.equal(troubles.length, 2);
    assert.match(troubles[0] ?? '', /^cannot watch pods: the connection to http:\S+ broke/);
  });

  it('lists anew after 410, as a status or an event, and makes up for what it missed, deletions first', async () => {
    for (const gone of [refusal(410, 'Expired', 'too old resource version'), text(lines(['ERROR', expired]))]) {
      stop = new AbortController();
      const peer = await httpPeer([
        list(5, pod('a', 1), pod('b', 2), pod('c', 3)),
        gone,
        list(9, pod('a', 1), pod('b', 8), pod('c', 9, 'another')),
        stall('\n'),
      ]);
      assert.deepEqual((await watch(peer, 8)).slice(4), ['DELETED c@3', 'MODIFIED b@8', 'ADDED c@9', 'LISTED 3']);
    }
  });

  it('does not repeat a state that it knows', async () => {
    const peer = await httpPeer([list(5, pod('a', 5)), stall(lines(['ADDED', pod('a', 5)], ['ADDED', pod('b', 6)]))]);
    assert.deepEqual(await watch(peer, 3), ['ADDED a@5', 'LISTED 1', 'ADDED b@6']);
  });

  it('lists when there is no connection at first, as often as it takes', async () => {
    const peer = await httpPeer([reset, refusal(503, 'x', 'y'), list(5), stall('\n')]);
    assert.deepEqual(await watch(peer, 1), ['LISTED 0']);
    assert.deepEqual(clock.asked.filter((ms) => ms < 30_000).slice(0, 2), [250, 500]);
  });

  it('pauses when the server ends every watch at once', async () => {
    const peer = await httpPeer([list(5), text(''), text(''), text(''), stall(lines(['ADDED', pod('a', 6)]))]);
    assert.deepEqual(await watch(peer, 2), ['LISTED 0', 'ADDED a@6']);
    assert.deepEqual(clock.asked.filter((ms) => ms < 30_000).slice(0, 3), [250, 500, 1000]);
  });

  it('opens a new watch when the old one is silent beyond its time', async () => {
    const peer = await httpPeer([list(5), stall('\n'), stall(lines(['ADDED', pod('a', 6)]))]);
    const words = watch(peer, 2);
    while (peer.seen.length < 2) await new Promise(setImmediate);
    await clock.elapse(65_000);
    assert.deepEqual(await words, ['LISTED 0', 'ADDED a@6']);
  });

  it('takes no silence before it for an outage: who slept beyond its patience tries again', async () => {
    const peer = await httpPeer([list(5), stall('\n'), reset, reset, stall(lines(['ADDED', pod('a', 6)]))]);
    const outages: number[] = [];
    const onTrouble = (_error: KubernetesError, forMs: number): number => outages.push(forMs);
    const words = watch(peer, 2, { patienceMs: 60_000, onTrouble });
    while (peer.seen.length < 2) await new Promise(setImmediate);
    await clock.elapse(65_000);
    assert.deepEqual(await words, ['LISTED 0', 'ADDED a@6']);
    assert.deepEqual(outages, [0, 250]);
  });

  it('throws what time does not heal, and what lasts longer than its patience', async () => {
    const forbidden = await httpPeer([list(5), refusal(403, 'Forbidden', 'pods is forbidden: no')]);
    await assert.rejects(watch(forbidden, 9), /cannot watch pods: pods is forbidden: no/);
    const down = await httpPeer(reset);
    await assert.rejects(watch(down, 9, { patienceMs: 10_000 }), /the connection to http:\S+ broke/);
  });

  it('goes on after an event that is no JSON', async () => {
    const peer = await httpPeer([list(5), text('{"type":\n'), stall(lines(['ADDED', pod('a', 6)]))]);
    assert.deepEqual(await watch(peer, 2), ['LISTED 0', 'ADDED a@6']);
  });

  it('returns when it is stopped, whatever it waits for, and leaves no connection', async () => {
    for (const answers of [
      stall(),
      [list(5), stall()],
      [list(5), stall('\n')],
      [refusal(503, 'x', 'y', { 'retry-after': '30' })],
    ]) {
      stop = new AbortController();
      const peer = await httpPeer(answers);
      const words = watch(peer, 9);
      const requests = Array.isArray(answers) ? answers.length : 1;
      while (peer.seen.length < requests) await new Promise(setImmediate);
      stop.abort({ kind: 'timeout' });
      await words;
      for (const thing of open.splice(0).reverse()) if (thing !== peer) await thing.close();
      while (peer.open() > 0) await new Promise(setImmediate);
      await peer.close();
    }
  });
});
