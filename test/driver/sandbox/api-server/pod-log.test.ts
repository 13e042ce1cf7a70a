import assert from 'node:assert/strict';
import { setImmediate as turn } from 'node:timers/promises';
import type { Pod } from '../../../../src/driver/sandbox/api-server/pod-objects.js';
import {
  ScriptedRuntime,
  withApiServer,
  type ContainerScript,
  type ContainerWorld,
  type TestApiServer,
} from '../../../helpers/api-server.js';
import { createJob, podWhen, readLog, rotateLog, stateOf } from '../../../helpers/api-server-jobs.js';
import { ManualClock } from '../../../helpers/manual-clock.js';

describe('the log of a container', () => {
  it('joins the pieces of a long line, and puts one timestamp before it', () =>
    withInvocation(async ({ server, pod, world }) => {
      const line = 'x'.repeat(40_000);
      await world.log(line);
      await world.log('short');
      assert.equal((await readLog(server, pod, 'invocation')).text, `${line}\nshort\n`);
      const stamped = (await readLog(server, pod, 'invocation', 'timestamps=true')).text.split('\n');
      assert.match(stamped[0] ?? '', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}Z x+$/);
      assert.equal(stamped.length, 3);
    }));

  it('counts records, not lines, for tailLines', () =>
    withInvocation(async ({ server, pod, world }) => {
      await world.log('x'.repeat(40_000));
      await world.log('short');
      assert.equal(
        (await readLog(server, pod, 'invocation', 'tailLines=2')).text,
        `${'x'.repeat(40_000 - 2 * 16_384)}\nshort\n`,
      );
      assert.equal((await readLog(server, pod, 'invocation', 'tailLines=0')).text, '');
    }));

  it('cuts a line at limitBytes', () =>
    withInvocation(async ({ server, pod, world }) => {
      await world.log('one');
      await world.log('two');
      assert.equal((await readLog(server, pod, 'invocation', 'limitBytes=6')).text, 'one\ntw');
    }));

  it('begins with the whole second of sinceTime', async () => {
    const clock = new ManualClock(10_000);
    await withInvocation(async ({ server, pod, world }) => {
      await world.log('old');
      await clock.sleep(1000);
      const second = new Date(clock.now()).toISOString();
      await world.log('same second');
      await clock.sleep(500);
      const later = new Date(clock.now()).toISOString();
      await world.log('new');
      for (const since of [second, later]) {
        const log = await readLog(server, pod, 'invocation', `sinceTime=${encodeURIComponent(since)}`);
        assert.equal(log.text, 'same second\nnew\n', since);
      }
    }, clock);
  });

  it('keeps standard error and standard output in one log', () =>
    withInvocation(async ({ server, pod, world }) => {
      await world.log('out');
      await world.error('err');
      assert.equal((await readLog(server, pod, 'invocation')).text, 'out\nerr\n');
    }));

  it('is only the newest file after a rotation, unless a reader follows', () =>
    withInvocation(async ({ server, pod, world, end }) => {
      await world.log('one');
      const follow = readLog(server, pod, 'invocation', 'follow=true');
      await untilRead(server, 'one');
      rotateLog(server, pod, 'invocation');
      await world.log('two');
      assert.equal((await readLog(server, pod, 'invocation')).text, 'two\n');
      end(0);
      assert.equal((await follow).text, 'one\ntwo\n');
    }));

  it('loses what is rotated away twice while a reader is not looking', () =>
    withInvocation(async ({ server, pod, world, end }) => {
      await world.log('one');
      const follow = readLog(server, pod, 'invocation', 'follow=true');
      await untilRead(server, 'one');
      rotateLog(server, pod, 'invocation');
      void world.log('lost');
      rotateLog(server, pod, 'invocation');
      void world.log('three');
      end(0);
      assert.equal((await follow).text, 'one\nthree\n');
    }));

  it('is rotated a while after it has grown too large', async () => {
    const clock = new ManualClock(0);
    await withInvocation(async ({ server, pod, world }) => {
      await world.log(Buffer.alloc(11 * 1024 ** 2, `${'x'.repeat(1023)}\n`));
      assert.ok((await readLog(server, pod, 'invocation')).text.length > 10 * 1024 ** 2);
      await clock.elapse(10_000);
      await world.log('new');
      assert.equal((await readLog(server, pod, 'invocation')).text, 'new\n');
    }, clock);
  });

  it('ends a follow with the container, with the rest of its last line', () =>
    withInvocation(async ({ server, pod, world, end }) => {
      const follow = readLog(server, pod, 'invocation', 'follow=true');
      await world.log(Buffer.from('no newline'));
      end(0);
      assert.equal((await follow).text, 'no newline');
    }));

  it('is not there before the container is, and says what it waits for', () =>
    withApiServer({ runtime: new ScriptedRuntime({ scripts: {} }) }, async (server) => {
      const job = await createJob(server, { pod: { volumes: [{ name: 'outputs', secret: { secretName: 'never' } }] } });
      const pod = await podWhen(server, job, (now) => stateOf(now, 'outputs').waiting !== undefined);
      const answer = await readLog(server, pod, 'invocation');
      const message = `container "invocation" in pod "${pod.metadata.name}" is waiting to start: PodInitializing`;
      assert.equal(answer.status, 400);
      assert.deepEqual(answer.json(), {
        kind: 'Status',
        apiVersion: 'v1',
        metadata: {},
        status: 'Failure',
        message,
        reason: 'BadRequest',
        code: 400,
      });
    }));

  it('is answered with 204 while the pod has no node', () =>
    withApiServer({}, async (server) => {
      server.faults.neverSchedule('0/1 nodes are available: 1 Insufficient memory.');
      const pod = await podWhen(server, await createJob(server), (now) => now.status.conditions !== undefined);
      assert.equal(pod.status.conditions?.[0]?.reason, 'Unschedulable');
      assert.equal((await readLog(server, pod, 'invocation')).status, 204);
    }));

  it('is refused for options that make no sense', () =>
    withInvocation(async ({ server, pod }) => {
      const name = pod.metadata.name;
      const cases: [query: string, status: number, message: RegExp][] = [
        ['tailLines=-1', 422, /tailLines: Invalid value: -1: must be greater than or equal to 0/],
        ['limitBytes=0', 422, /limitBytes: Invalid value: 0: must be greater than 0/],
        ['sinceTime=abc', 400, /parsing time "abc"/],
        ['previous=true', 400, /previous terminated container "invocation" in pod "sample-.*" not found/],
      ];
      for (const [query, status, message] of cases) {
        const answer = await readLog(server, pod, 'invocation', query);
        assert.equal(answer.status, status, query);
        assert.match(answer.json<{ message: string }>().message, message);
      }
      assert.match((await readLog(server, pod, 'zzz')).text, /container zzz is not valid for pod sample-/);
      const path = `/api/v1/namespaces/default/pods/${name}/log`;
      assert.equal((await server.request('GET', path)).status, 200, 'the one regular container needs no name');
      assert.equal((await server.request('GET', '/api/v1/namespaces/default/pods/none/log')).status, 404);
      assert.equal((await server.request('POST', path)).status, 405);
    }));
});

interface Running {
  readonly server: TestApiServer;
  readonly pod: Pod;
  readonly world: ContainerWorld;
  readonly end: (code: number) => void;
}

/** A pod whose invocation container does what the test says. */
function withInvocation(act: (running: Running) => Promise<void>, clock?: ManualClock): Promise<void> {
  let end = (_code: number): void => undefined;
  let started = (_world: ContainerWorld): void => undefined;
  const begun = new Promise<ContainerWorld>((resolve) => (started = resolve));
  const ended = new Promise<number>((resolve) => (end = resolve));
  const invocation: ContainerScript = (world) => {
    started(world);
    return ended;
  };
  const runtime = new ScriptedRuntime({ scripts: { invocation } });
  return withApiServer({ runtime, ...(clock ? { clock } : {}) }, async (server) => {
    const job = await createJob(server);
    const world = await begun;
    const pod = await podWhen(server, job, (now) => stateOf(now, 'invocation').running !== undefined);
    await act({ server, pod, world, end });
    end(0);
  });
}

/** Until a body with this text was sent by the server. */
async function untilRead(server: TestApiServer, text: string): Promise<void> {
  while (!server.faults.sent.includes(text)) await turn();
}
