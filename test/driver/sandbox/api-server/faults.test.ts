import assert from 'node:assert/strict';
import { ScriptedRuntime, withApiServer, type TestApiServer } from '../../../helpers/api-server.js';
import { createJob, isFinished, jobWhen, podWhen, readLog } from '../../../helpers/api-server-jobs.js';

const SECRETS = '/api/v1/namespaces/default/secrets';
const LOG = { resource: 'pods/log', container: 'invocation' } as const;
const TEXT = 'line 1\nline 2\nline 3\n';

describe('an API server that misbehaves on order', () => {
  it('answers with a status, as often as was ordered', () =>
    withApiServer({}, async (server) => {
      server.faults.fail({ verb: 'list', resource: 'secrets', times: 1, skip: 1 }, 429, { retryAfterSeconds: 2 });
      assert.equal((await server.request('GET', SECRETS)).status, 200);
      const slow = await server.request('GET', SECRETS);
      assert.equal(slow.status, 429);
      assert.equal(slow.headers.get('retry-after'), '2');
      assert.equal(slow.json()['reason'], 'TooManyRequests');
      assert.equal((await server.request('GET', SECRETS)).status, 200);
    }));

  it('breaks a connection before it answers, and before it has ended', () =>
    withLog(async (server, read) => {
      server.faults.reset({ resource: 'secrets', times: 1 });
      await assert.rejects(server.request('GET', SECRETS));
      server.faults.body({ ...LOG, times: 1 }, { afterBytes: 10, then: 'reset' });
      await assert.rejects(read());
      assert.equal(await read(), TEXT);
    }));

  it('ends a log cleanly in the middle of a line', () =>
    withLog(async (server, read) => {
      server.faults.body({ ...LOG, times: 1 }, { afterBytes: 10, then: 'end' });
      assert.equal(await read(), TEXT.slice(0, 10));
      assert.equal(await read(), TEXT);
    }));

  it('falls silent, until it is told to go on', () =>
    withLog(async (server, read) => {
      server.faults.body({ ...LOG, times: 1 }, { afterBytes: 7, then: 'stall' });
      let over = false;
      const stalled = read().finally(() => (over = true));
      assert.equal(await read(), TEXT);
      assert.equal(over, false);
      server.faults.release();
      assert.equal(await stalled, TEXT.slice(0, 7));
    }));

  it('sends the last bytes twice', () =>
    withLog(async (server, read) => {
      server.faults.body({ ...LOG, times: 1 }, { afterBytes: 14, then: 'repeat', bytes: 7 });
      assert.equal(await read(), 'line 1\nline 2\nline 2\nline 3\n');
    }));

  it('holds a request until it is let go', () =>
    withApiServer({}, async (server) => {
      const release = server.faults.hold({ resource: 'secrets', times: 1 });
      const held = server.request('GET', SECRETS);
      assert.equal((await server.request('GET', SECRETS)).status, 200);
      release();
      assert.equal((await held).status, 200);
    }));

  it('says that it is another version', () =>
    withApiServer({ version: { minor: '28+', gitVersion: 'v1.28.15-eks' } }, async (server) => {
      assert.equal((await server.request('GET', '/version')).json()['minor'], '28+');
    }));
});

/** With a finished pod whose invocation container wrote TEXT. */
async function withLog(act: (server: TestApiServer, read: () => Promise<string>) => Promise<void>): Promise<void> {
  const invocation = async ({ log }: { log: (text: Uint8Array) => Promise<void> }): Promise<number> => {
    await log(Buffer.from(TEXT));
    return 0;
  };
  await withApiServer({ runtime: new ScriptedRuntime({ scripts: { invocation } }) }, async (server) => {
    const job = await createJob(server);
    await jobWhen(server, job, isFinished);
    const pod = await podWhen(server, job);
    await act(server, async () => (await readLog(server, pod, 'invocation')).text);
  });
}
