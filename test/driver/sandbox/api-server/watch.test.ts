import assert from 'node:assert/strict';
import type { KubernetesObject } from '../../../../src/driver/sandbox/api-server/objects.js';
import { withApiServer, type TestApiServer } from '../../../helpers/api-server.js';
import { ManualClock } from '../../../helpers/manual-clock.js';

const SECRETS = '/api/v1/namespaces/default/secrets';

interface WatchEvent {
  readonly type: string;
  readonly object: KubernetesObject & { readonly code?: number; readonly message?: string };
}

describe('a watch', () => {
  it('begins with what is there, and goes on with what comes', () =>
    withApiServer({}, async (server) => {
      await create(server, 'one');
      const watch = await openWatch(server, '');
      assert.deepEqual(await watch.next(), ['ADDED', 'one']);
      await create(server, 'two');
      assert.deepEqual(await watch.next(), ['ADDED', 'two']);
      await server.request('DELETE', `${SECRETS}/one`);
      assert.deepEqual(await watch.next(), ['DELETED', 'one']);
      watch.close();
    }));

  it('begins after the resourceVersion that it names, and misses nothing', () =>
    withApiServer({}, async (server) => {
      await create(server, 'before');
      const list = await server.request('GET', SECRETS);
      const { resourceVersion } = list.json<{ metadata: { resourceVersion: string } }>().metadata;
      await create(server, 'after');
      const watch = await openWatch(server, `resourceVersion=${resourceVersion}`);
      assert.deepEqual(await watch.next(), ['ADDED', 'after']);
      watch.close();
    }));

  it('sees an object that comes to match as ADDED, and one that no longer does as DELETED', () =>
    withApiServer({}, async (server) => {
      const watch = await openWatch(server, 'labelSelector=mark%3Dyes');
      await create(server, 'one', { mark: 'no' });
      for (const mark of ['yes', 'no']) {
        server.cluster.store.update('secrets', 'default', 'one', (secret) => ({
          ...secret,
          metadata: { ...secret.metadata, labels: { mark } },
        }));
      }
      assert.deepEqual(await watch.next(), ['ADDED', 'one']);
      assert.deepEqual(await watch.next(), ['DELETED', 'one']);
      watch.close();
    }));

  it('looks only into its namespace, and a cluster-wide one into all', () =>
    withApiServer({ namespaces: [{ name: 'default' }, { name: 'other' }] }, async (server) => {
      const here = await openWatch(server, '');
      const everywhere = await openWatch(server, 'fieldSelector=type%3DOpaque', '/api/v1/secrets');
      await server.request('POST', '/api/v1/namespaces/other/secrets', { metadata: { name: 'far' } });
      await create(server, 'near');
      assert.deepEqual(await here.next(), ['ADDED', 'near']);
      assert.deepEqual(await everywhere.next(), ['ADDED', 'far']);
      here.close();
      everywhere.close();
    }));

  it('gets an ERROR with code 410 for a resourceVersion that is forgotten', () =>
    withApiServer({}, async (server) => {
      await create(server, 'one');
      server.cluster.store.compact();
      const answer = await server.request('GET', `${SECRETS}?watch=1&resourceVersion=1`);
      assert.equal(answer.status, 200);
      const { type, object } = answer.json<WatchEvent>();
      assert.equal(type, 'ERROR');
      assert.equal(object.code, 410);
      assert.match(object.message ?? '', /^too old resource version: 1 \(\d+\)$/);
    }));

  it('ends cleanly after timeoutSeconds, with a bookmark where they were asked for', async () => {
    const clock = new ManualClock(0);
    await withApiServer({ clock }, async (server) => {
      const plain = server.request('GET', `${SECRETS}?watch=1&timeoutSeconds=7`);
      await clock.elapse(7000);
      assert.equal((await plain).text, '');
      const marked = server.request('GET', `${SECRETS}?watch=1&timeoutSeconds=7&allowWatchBookmarks=true`);
      await clock.elapse(7000);
      const { type, object } = (await marked).json<WatchEvent>();
      assert.equal(type, 'BOOKMARK');
      assert.equal(object.kind, 'Secret');
      assert.equal(object.metadata.resourceVersion, String(server.cluster.store.revision));
    });
  });

  it('is refused with a status for a selector that makes no sense', () =>
    withApiServer({}, async (server) => {
      const pods = '/api/v1/namespaces/default/pods';
      const field = await server.request('GET', `${pods}?watch=1&fieldSelector=spec.foo%3Da`);
      assert.equal(field.status, 400);
      assert.equal(field.json()['message'], 'field label not supported: spec.foo');
      const label = await server.request('GET', `${pods}?watch=1&labelSelector=a%20b`);
      assert.equal(label.status, 400);
    }));

  it('hears of changes late when that is ordered', async () => {
    const clock = new ManualClock(0);
    await withApiServer({ clock }, async (server) => {
      server.faults.delayWatch({ verb: 'watch', resource: 'secrets' }, 5000);
      const watch = await openWatch(server, '');
      await create(server, 'one');
      await clock.elapse(5000);
      assert.deepEqual(await watch.next(), ['ADDED', 'one']);
      watch.close();
    });
  });
});

function create(server: TestApiServer, name: string, labels: Record<string, string> = {}): Promise<unknown> {
  return server.request('POST', SECRETS, { metadata: { name, labels } });
}

interface Watch {
  next(): Promise<[type: string, name: string]>;
  close(): void;
}

async function openWatch(server: TestApiServer, query: string, path = SECRETS): Promise<Watch> {
  const stop = new AbortController();
  const response = await fetch(`${server.url}${path}?watch=1&${query}`, {
    headers: { authorization: `Bearer ${server.token}` },
    signal: stop.signal,
  });
  const lines = linesOf(response.body as unknown as AsyncIterable<Uint8Array>);
  return {
    close: () => stop.abort(),
    next: async () => {
      const { value } = (await lines.next()) as { value: string };
      const { type, object } = JSON.parse(value) as WatchEvent;
      return [type, object.metadata.name];
    },
  };
}

async function* linesOf(body: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  let rest = '';
  for await (const chunk of body) {
    const lines = (rest + Buffer.from(chunk).toString()).split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
  }
}
