import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { ScriptedRuntime, withApiServer, type TestApiServer } from '../../../helpers/api-server.js';
import { createJob, podWhen, stateOf } from '../../../helpers/api-server-jobs.js';
import { execClient, execPath, type ExecAnswer, type ExecClientOptions } from '../../../helpers/exec-client.js';

const EXEC = { resource: 'pods/exec', container: 'outputs' } as const;
const TEXT = '0123456789';

/** A pod whose container `outputs` answers any command with TEXT. */
async function withExec(
  act: (exec: (options?: ExecClientOptions) => Promise<ExecAnswer>, server: TestApiServer) => Promise<void>,
): Promise<void> {
  const runtime = new ScriptedRuntime({
    scripts: {},
    exec: async (_container, _command, output) => {
      await output.stdout(Buffer.from(TEXT));
      return 0;
    },
  });
  await withApiServer({ runtime }, async (server) => {
    const pod = await podWhen(server, await createJob(server), (now) => stateOf(now, 'outputs').running !== undefined);
    const path = execPath(`/api/v1/namespaces/default/pods/${pod.metadata.name}`, 'outputs', ['any']);
    const http = { headers: { authorization: `Bearer ${server.token}` } };
    await act((options) => execClient(`${server.url}${path}`, { ...options, http }), server);
  });
}

describe('an exec that goes wrong on order', () => {
  it('breaks, or is closed, in the middle of the data, as often as was ordered', () =>
    withExec(async (exec, { faults }) => {
      faults.exec({ ...EXEC, times: 1 }, { afterBytes: 4, then: 'reset' });
      faults.exec({ ...EXEC, times: 1 }, { afterBytes: 5, then: 'close' });
      const [broken, closed, whole] = [await exec(), await exec(), await exec()];
      assert.deepEqual([broken.stdout.toString(), broken.code, broken.end], ['0123', 1006, undefined]);
      assert.deepEqual([closed.stdout.toString(), closed.code, closed.end], ['01234', 1000, undefined]);
      assert.deepEqual([whole.stdout.toString(), whole.end?.status], [TEXT, 'Success']);
    }));

  it('can break when all data are there and the status is not', () =>
    withExec(async (exec, { faults }) => {
      faults.exec(EXEC, { afterBytes: TEXT.length, then: 'reset' });
      const { stdout, end, code } = await exec();
      assert.deepEqual([stdout.toString(), end, code], [TEXT, undefined, 1006]);
    }));

  it('says Success before the last bytes, which come late or never', () =>
    withExec(async (exec, { faults }) => {
      faults.exec({ ...EXEC, times: 1 }, { afterBytes: 6, then: 'success' });
      faults.exec({ ...EXEC, times: 1 }, { afterBytes: 6, then: 'early-success' });
      const [lost, late] = [await exec(), await exec()];
      assert.deepEqual([lost.stdout.toString(), lost.end?.status, lost.code], ['012345', 'Success', 1000]);
      assert.deepEqual([late.stdout.toString(), late.end?.status, late.code], [TEXT, 'Success', 1000]);
      assert.deepEqual(late.channels, [1, 1, 3, 1]);
    }));

  it('changes a byte on the way', () =>
    withExec(async (exec, { faults }) => {
      faults.exec(EXEC, { afterBytes: 2, then: 'corrupt' });
      const { stdout, end } = await exec();
      assert.deepEqual([stdout.toString(), end?.status], ['0133456789', 'Success']);
    }));

  it('falls silent for a while, or until it is told to go on', () =>
    withExec(async (exec, { faults }) => {
      faults.exec({ ...EXEC, times: 1 }, { afterBytes: 3, then: 'pause', ms: 60 });
      const begin = performance.now();
      assert.equal((await exec()).stdout.toString(), TEXT);
      assert.ok(performance.now() - begin >= 60);
      faults.exec({ ...EXEC, times: 1 }, { afterBytes: 3, then: 'stall' });
      let got = '';
      const stalled = exec({ onStdout: (chunk) => void (got += chunk.toString()) });
      await sleep(60);
      assert.equal(got, '012');
      faults.release();
      assert.equal((await stalled).stdout.toString(), TEXT);
    }));

  it('leaves pings without an answer', () =>
    withExec(async (exec, { faults }) => {
      let pongs = 0;
      const listen: ExecClientOptions = {
        onOpen: (socket) => {
          socket.on('pong', () => (pongs += 1));
          socket.ping();
        },
      };
      faults.exec(EXEC, { afterBytes: 0, then: 'pause', ms: 60 });
      faults.leavePings({ ...EXEC, times: 1 });
      await exec(listen);
      assert.equal(pongs, 0);
      await exec(listen);
      assert.equal(pongs, 1);
    }));

  it('is forbidden, for one of the two rights it needs, though a review may have said yes', () =>
    withExec(async (exec, { faults }) => {
      const message = async (): Promise<unknown> => {
        const { status, text } = await exec();
        return [status, (JSON.parse(text) as { message: string }).message.replace(/sample-\w+/, 'sample')];
      };
      faults.forbid({ verb: 'create', resource: 'pods/exec' }, { review: true });
      assert.deepEqual(await message(), [403, 'pods "sample" is forbidden: ']);
      faults.forbid({ verb: 'get', resource: 'pods/exec' }, { review: true });
      const words = 'User "sandbox" cannot get resource "pods/exec" in API group "" in the namespace "default"';
      assert.deepEqual(await message(), [403, `pods "sample" is forbidden: ${words}`]);
    }));

  it('is answered in plain HTTP, by a proxy or by the server, or not at all', () =>
    withExec(async (exec, { faults }) => {
      faults.refuseUpgrade({ ...EXEC, times: 1 });
      const proxy = await exec();
      assert.deepEqual([proxy.status, proxy.text], [502, '<html><body>Bad Gateway</body></html>']);
      faults.fail({ ...EXEC, times: 1 }, 429, { retryAfterSeconds: 1 });
      assert.equal((await exec()).status, 429);
      faults.reset({ ...EXEC, times: 1 });
      const { status, code } = await exec();
      assert.deepEqual([status, code], [undefined, 1006]);
      assert.equal((await exec()).end?.status, 'Success');
    }));

  it('needs the token, and a pod with a node', () =>
    withExec(async (_exec, server) => {
      const path = (name: string): string =>
        `${server.url}${execPath(`/api/v1/namespaces/default/pods/${name}`, 'outputs', ['x'])}`;
      assert.equal((await execClient(path('any'))).status, 401);
      server.faults.neverSchedule('0/1 nodes are available: 1 Insufficient memory.');
      const job = await createJob(server, { name: 'homeless' });
      const { metadata } = await podWhen(server, job, (now) => now.status.conditions !== undefined);
      const http = { headers: { authorization: `Bearer ${server.token}` } };
      const { status, text } = await execClient(path(metadata.name), { http });
      assert.equal(status, 400);
      assert.match(text, /does not have a host assigned/);
    }));
});
