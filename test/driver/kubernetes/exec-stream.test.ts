import assert from 'node:assert/strict';
import { setImmediate as turn, setTimeout as delay } from 'node:timers/promises';
import { KubernetesApi } from '../../../src/driver/kubernetes/api.js';
import { plainConnection } from '../../../src/driver/kubernetes/connection.js';
import { runExec, type ExecEnd, type ExecRequest } from '../../../src/driver/kubernetes/exec-stream.js';
import { isAbort } from '../../../src/driver/kubernetes/kubernetes-error.js';
import { systemClock, type Clock } from '../../../src/driver/clock.js';
import {
  execServer,
  holds,
  sends,
  STATUS,
  STDERR,
  STDOUT,
  write,
  type ExecAnswer,
  type ExecServer,
} from '../../helpers/exec-server.js';
import { ManualClock } from '../../helpers/manual-clock.js';

const SOURCE = { namespace: 'apps', pod: 'p', container: 'outputs' };

describe('an exec', () => {
  let server: ExecServer | undefined;
  let api: KubernetesApi | undefined;

  afterEach(async () => {
    api?.close();
    // No socket stays open behind a call that has ended.
    await holds(() => server === undefined || server.open() === 0);
    await server?.close();
    server = api = undefined;
  });

  async function run(answers: ExecAnswer | readonly ExecAnswer[], more: Partial<ExecRequest> = {}, clock?: Clock) {
    server = await execServer(answers);
    api = new KubernetesApi(plainConnection({ server: server.url, token: 't0ken' }), { clock: clock ?? systemClock });
    const chunks: Buffer[] = [];
    const end: ExecEnd = await runExec(api, {
      source: SOURCE,
      command: ['cat', 'a b', '&x=$y'],
      doing: 'fetch outputs',
      signal: new AbortController().signal,
      bytes: 0,
      onData: (chunk) => void chunks.push(chunk),
      ...more,
    });
    return { end, out: Buffer.concat(chunks).toString('latin1') };
  }

  it('asks for stdout and stderr of the command with the credentials of the connection, in a protocol that is passed through', async () => {
    const { end, out } = await run(sends('hello'), { bytes: 100 });
    assert.equal(out, 'hello');
    assert.deepEqual(end, { received: 5, stderr: '', status: { kind: 'success' } });
    const { request, command } = server?.calls[0] ?? assert.fail();
    const url = new URL(request.url ?? '', 'http://x');
    assert.equal(url.pathname, '/api/v1/namespaces/apps/pods/p/exec');
    assert.deepEqual(command, ['cat', 'a b', '&x=$y']);
    assert.deepEqual(
      ['container', 'stdout', 'stderr', 'stdin', 'tty'].map((name) => url.searchParams.get(name)),
      ['outputs', 'true', 'true', null, null],
    );
    assert.equal(request.headers.authorization, 'Bearer t0ken');
    assert.equal(request.headers['sec-websocket-protocol'], 'v4.channel.k8s.io');
    assert.equal(request.headers['sec-websocket-extensions'], undefined);
  });

  it('is over with the last byte that was wanted; what comes beyond it is not handed on', async () => {
    const { end, out } = await run(
      async (call) => {
        const peer = await call.accept();
        await peer.send(STDOUT, 'hello, wor');
        await peer.send(STDOUT, 'ld and more');
      },
      { bytes: 12 },
    );
    assert.deepEqual([out, end], ['hello, world', { received: 12, stderr: '' }]);
  });

  it('tells the exit code of a command that failed, and what it said on stderr, bounded', async () => {
    const { end } = await run(
      async (call) => {
        const peer = await call.accept();
        for (let i = 0; i < 1000; i++) await peer.send(STDERR, 'no such\u001b[31m file\n');
        await peer.exit(3);
      },
      { bytes: 10 },
    );
    assert.deepEqual(end.status, { kind: 'exit', code: 3 });
    assert.match(end.stderr, /^no such \[31m file no such/);
    assert.ok(end.stderr.length <= 4096);
  });

  it('a command that did not run at all is told in the words of the cluster', async () => {
    const { end } = await run(async (call) => {
      const peer = await call.accept();
      await peer.send(STATUS, '{"status":"Failure","message":"OCI runtime exec failed:\\n no\\u0007"}');
    });
    assert.deepEqual(end.status, { kind: 'error', message: 'OCI runtime exec failed:  no' });
  });

  it('scenario 25: a Success before the data: what comes after it is taken, and the wait for more is bounded', async () => {
    const clock = new ManualClock(0);
    let came = '';
    const running = run(
      async (call) => {
        const peer = await call.accept();
        await peer.send(STDOUT, 'be');
        await peer.success();
        await delay(20);
        await peer.send(STDOUT, 'fore');
      },
      { bytes: 100, onData: (chunk) => void (came += chunk.toString()) },
      clock,
    );
    await holds(() => came === 'before');
    let isOver = false;
    void running.finally(() => (isOver = true));
    // The second in which "fore" came is followed by one that brings nothing.
    for (; !isOver; await turn()) clock.tryElapse(1000);
    assert.ok(clock.asked.filter((ms) => ms === 1000).length <= 2);
    const { end } = await running;
    assert.deepEqual([end.received, end.status], [6, { kind: 'success' }]);
  });

  it('scenario 25: a close before the last bytes is told, with what came until then', async () => {
    const { end, out } = await run(
      async (call) => {
        const peer = await call.accept();
        await peer.send(STDOUT, 'hal');
        peer.close();
      },
      { bytes: 6 },
    );
    assert.deepEqual([out, end], ['hal', { received: 3, stderr: '', broken: 'it was closed' }]);
  });

  it('a reset in the middle is told, and is no error of the process', async () => {
    const { end } = await run(
      async (call) => {
        const peer = await call.accept();
        await peer.send(STDOUT, 'hal');
        await delay(20);
        peer.reset();
      },
      { bytes: 6 },
    );
    assert.equal(end.received, 3);
    assert.match(end.broken ?? '', /^it (broke|was closed)/);
  });

  it('scenario 25: pings that nobody answers end it after 20 s; those that are answered keep it for two minutes of silence', async () => {
    for (const answersPings of [false, true]) {
      const clock = new ManualClock(0);
      const running = run((call) => call.accept({ answersPings }).then(() => undefined), { bytes: 6 }, clock);
      let seconds = 0;
      const over = running.then(({ end }) => end);
      let end: ExecEnd | undefined;
      void over.then((ended) => (end = ended));
      while (end === undefined && seconds < 300) {
        await clock.elapse(5000);
        seconds += 5;
        await delay(5);
      }
      assert.equal(seconds, answersPings ? 120 : 20);
      assert.match(end?.broken ?? '', answersPings ? /said nothing for 120 s/ : /nothing came for 20 s, .* pings/);
      if (answersPings) assert.ok((server?.pings() ?? 0) >= 20);
      await holds(() => server?.open() === 0);
      await server?.close();
      server = undefined;
    }
  });

  it('channels that do not exist, empty messages, text and a status that is none are not taken for data', async () => {
    const { end, out } = await run(
      async (call) => {
        const peer = await call.accept();
        for (const channel of [0, 4, 77, 255]) await peer.send(channel, 'garbage');
        await peer.send(STDOUT, '');
        peer.client.send('\u0001text', { binary: false });
        peer.client.send(Buffer.alloc(0));
        await peer.send(STDOUT, 'good');
        await peer.send(STATUS, '{"status":');
        await peer.send(STATUS, '"Success"}');
        peer.close();
      },
      { bytes: 100 },
    );
    assert.deepEqual([out, end.status], ['good', { kind: 'success' }]);
  });

  it('a message of a size that nobody sends ends it before it is in memory', async () => {
    const { end } = await run(
      async (call) => {
        const peer = await call.accept();
        await peer.send(STDOUT, Buffer.alloc(8 * 1024 ** 2));
      },
      { bytes: 9e9 },
    );
    assert.equal(end.received, 0);
    assert.match(end.broken ?? '', /^it broke \(.*size/i);
  });

  it('a consumer that is slow slows the other side: little is held, and silence meanwhile is not its fault', async () => {
    const total = 64 * 1024 ** 2;
    let sent = 0;
    let most = 0;
    let taken = 0;
    const clock = new ManualClock(0);
    const running = run(
      async (call) => {
        const peer = await call.accept();
        for (; sent < total; sent += 32_768) await peer.send(STDOUT, Buffer.alloc(32_768));
      },
      {
        bytes: total,
        onData: async (chunk) => {
          if (taken === 0) {
            // Much more than a dead connection is given.
            for (let i = 0; i < 10; i++) await Promise.all([delay(10), clock.elapse(5000)]);
          }
          taken += chunk.length;
          most = Math.max(most, sent - taken);
        },
      },
      clock,
    );
    const { end } = await running;
    assert.deepEqual([end.received, end.broken], [total, undefined]);
    // What the kernel's socket buffers hold on both sides is in it.
    assert.ok(most < 24 * 1024 ** 2, `${most} bytes were on the way`);
  });

  it('an abort ends it at once, also while the consumer works, and leaves nothing open', async () => {
    const stop = new AbortController();
    const running = run(async (call) => write(await call.accept(), Buffer.alloc(1024 ** 2)), {
      bytes: 9e9,
      signal: stop.signal,
      onData: async () => {
        stop.abort();
        await delay(20);
      },
    });
    await assert.rejects(running, isAbort);
  });

  it('what the consumer throws comes out as it is', async () => {
    const running = run(async (call) => write(await call.accept(), Buffer.alloc(1024 ** 2)), {
      bytes: 9e9,
      onData: () => Promise.reject(new Error('disk full')),
    });
    await assert.rejects(running, /disk full/);
  });

  it('one that is over before anybody asks for it is not begun', async () => {
    await assert.rejects(run(sends(''), { signal: AbortSignal.abort() }), isAbort);
    assert.equal(server?.calls.length, 0);
  });
});
