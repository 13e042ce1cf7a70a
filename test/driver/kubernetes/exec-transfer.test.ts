import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { KubernetesApi } from '../../../src/driver/kubernetes/api.js';
import { plainConnection } from '../../../src/driver/kubernetes/connection.js';
import { fetchByExec } from '../../../src/driver/kubernetes/exec-transfer.js';
import { isAbort } from '../../../src/driver/kubernetes/kubernetes-error.js';
import { Assembler } from '../../../src/frame/assemble.js';
import { fetchFrom, file, LIMITS, SOURCE } from '../../helpers/exec-fetch.js';
import { ExecPod } from '../../helpers/exec-pod.js';
import {
  execServer,
  refuses,
  sends,
  STDOUT,
  write,
  type ExecAnswer,
  type ExecPeer,
} from '../../helpers/exec-server.js';
import { RUN_ID } from '../../helpers/operation.js';
import { withFolder } from '../../helpers/staging.js';
import { until } from '../../helpers/until.js';

const MIB = 1024 ** 2;

/** No further exec changes it. */
const FINAL = { kind: 'failed', mayHeal: false, brought: false } as const;

describe('the fetch of outputs by exec', () => {
  it('brings many small files in one exec, sealed ones too, and tells of progress', async () => {
    const files = [file(1), file(65_536, { sealed: true }), undefined, file(0), file(70_000), file(3 * MIB + 1)];
    const { end, asked, equal, progress } = await fetchFrom(files);
    assert.deepEqual(end, { kind: 'complete' });
    assert.deepEqual(asked, ['files 0 5', 'salt']);
    assert.deepEqual(equal, [true, true, false, true, true, true]);
    assert.ok(progress >= 3);
  });

  it('fetches what is its own; a small file in between comes along, a large one does not', async () => {
    const files = [file(10), file(MIB), file(10), file(MIB + 1), file(10)];
    const { end, asked, equal } = await fetchFrom(files, { indices: [0, 2, 4] });
    assert.deepEqual(end, { kind: 'complete' });
    assert.deepEqual(asked, ['files 0 2', 'range 4 0 10']);
    assert.deepEqual(equal, [true, true, true, false, true]);
  });

  it('asks for a large file in ranges, each as large as the way is fast', async () => {
    const { end, asked, equal } = await fetchFrom([file(70 * MIB + 5)]);
    assert.deepEqual(end, { kind: 'complete' });
    assert.equal(asked[0], `range 0 0 ${64 * MIB}`);
    assert.equal(asked[1], `range 0 ${64 * MIB} ${6 * MIB + 5}`);
    assert.deepEqual(equal, [true]);
  });

  it('goes on from what an earlier process brought', async () => {
    const large = file(5 * MIB);
    const { asked, equal } = await fetchFrom([large], {
      before: async (assembler) => {
        await assembler.receive(0, 0, large.bytes.subarray(0, MIB));
        await assembler.receive(0, 3 * MIB, large.bytes.subarray(3 * MIB, 4 * MIB));
      },
    });
    assert.deepEqual(asked, [`range 0 ${MIB} ${2 * MIB}`, `range 0 ${4 * MIB} ${MIB}`]);
    assert.deepEqual(equal, [true]);
  });

  type Stored = (bytes: number) => Promise<void>;
  const cuts: readonly [string, (peer: ExecPeer, bytes: Buffer, stored: Stored) => Promise<void>][] = [
    [
      'a close before the last bytes',
      async (peer, bytes) => {
        await write(peer, bytes.subarray(0, -1));
        peer.close();
      },
    ],
    [
      'a reset in the middle',
      async (peer, bytes, stored) => {
        await write(peer, bytes.subarray(0, 2.5 * MIB));
        // A reset discards what the other side has not read yet.
        await stored(2 * MIB);
        peer.reset();
      },
    ],
    [
      'a Success before the last bytes, which never come',
      async (peer, bytes) => {
        await write(peer, bytes.subarray(0, 2.5 * MIB));
        await peer.success();
        peer.close();
      },
    ],
    [
      'a Success before any data',
      async (peer, bytes) => {
        await peer.success();
        await write(peer, bytes);
        peer.close();
      },
    ],
  ];
  for (const [title, fault] of cuts) {
    it(`scenario 25: ${title}: only what is missing is asked for again`, async () => {
      let assembler: Assembler | undefined;
      const stored: Stored = (bytes) => until('the bytes are stored', () => (assembler?.receivedBytes ?? 0) >= bytes);
      const { end, asked, equal } = await fetchFrom([file(3 * MIB)], {
        answers: (pod) => (pod.faults.set(0, (peer, bytes) => fault(peer, bytes, stored)), pod.answer),
        before: (given) => Promise.resolve(void (assembler = given)),
      });
      assert.deepEqual(end, { kind: 'complete' });
      assert.deepEqual(equal, [true]);
      const rest = title.includes('any data') ? [] : [`range 0 ${2 * MIB} ${MIB}`];
      assert.deepEqual(asked, [`range 0 0 ${3 * MIB}`, ...rest]);
    });
  }

  it('cuts that go on for ever do not matter as long as each exec brings something', async () => {
    const { end, equal } = await fetchFrom([file(9 * MIB), file(100)], {
      answers: (pod) => {
        for (let exec = 0; exec < 7; exec++) {
          pod.faults.set(exec, async (peer, bytes) => {
            await write(peer, bytes.subarray(0, 1.2 * MIB));
            peer.close();
          });
        }
        return pod.answer;
      },
    });
    assert.deepEqual([end, equal], [{ kind: 'complete' }, [true, true]]);
  });

  it('scenario 25: three execs in a row that bring nothing are enough, and what came before is kept', async () => {
    const { end, asked, equal } = await fetchFrom([file(100), file(3 * MIB)], {
      answers: () => async (call) => {
        const peer = await call.accept();
        await peer.send(STDOUT, randomBytes(50));
        peer.close();
      },
    });
    assert.equal(asked.length, 3);
    assert.deepEqual(equal, [false, false]);
    assert.ok(end.kind === 'failed');
    assert.deepEqual(
      [end.reason, end.mayHeal],
      ['cannot fetch outputs from pod p: the exec ended early: it was closed', true],
    );
  });

  for (const [what, answer, why] of [
    [
      'a 403 although the review said yes',
      refuses(403, 'Forbidden', 'pods "p" is forbidden'),
      /pod p: pods "p" is forb/,
    ],
    ['an upgrade that a proxy swallows', (call) => call.refuse(200, '<html>'), /upgrade to a WebSocket did not reach/],
  ] as readonly (readonly [string, ExecAnswer, RegExp])[]) {
    it(`scenario 25: ${what} on the first exec ends it at once`, async () => {
      const { end, asked } = await fetchFrom([file(100)], { answers: () => answer });
      assert.equal(asked.length, 1);
      assert.ok(end.kind === 'failed' && !end.mayHeal);
      assert.match(end.reason, why);
    });
  }

  it('an API server that is away is waited for, but not for ever', async () => {
    const away = refuses(503, 'ServiceUnavailable', 'apiserver not ready');
    const { end, asked, equal } = await fetchFrom([file(100)], {
      answers: (pod) => [away, away, away, away, away, pod.answer],
    });
    assert.deepEqual([end, equal, asked.length], [{ kind: 'complete' }, [true], 6]);
    const gone = await fetchFrom([file(100)], { answers: () => away, skipMs: 10_000 });
    assert.match('reason' in gone.end ? gone.end.reason : '', /answered 503: apiserver not ready/);
    assert.ok(gone.asked.length > 5 && gone.asked.length < 30, String(gone.asked.length));
  });

  it('the bad part of a file whose whole is wrong is found by digests, and it alone comes again', async () => {
    const large = file(40 * MIB);
    const { end, asked, equal } = await fetchFrom([large], {
      answers: (pod) => {
        pod.faults.set(0, async (peer, bytes) => {
          const damaged = Buffer.from(bytes);
          damaged.writeUInt8((damaged[21 * MIB + 7] ?? 0) ^ 1, 21 * MIB + 7);
          await write(peer, damaged);
          await peer.success();
        });
        return pod.answer;
      },
    });
    assert.deepEqual([end, equal], [{ kind: 'complete' }, [true]]);
    const ranges = asked.filter((text) => text.startsWith('range'));
    assert.deepEqual(ranges.slice(1), [`range 0 ${20 * MIB} ${3 * MIB}`]);
    assert.ok(asked.length < 12, asked.join());
  });

  it('a node that cannot begin the exec which tells digests or the salt does not make a file another one', async () => {
    const cannotFork: ExecAnswer = async (call) => (await call.accept()).exit(2);
    const damaged = file(700);
    const { end, equal, asked } = await fetchFrom([damaged, file(10, { sealed: true })], {
      answers: (pod) => {
        const asIs: ExecAnswer = (call) => pod.answer(call);
        pod.faults.set(0, async (peer, bytes) => {
          bytes.writeUInt8(bytes.readUInt8(7) ^ 1, 7);
          await write(peer, bytes);
          await peer.success();
        });
        return [asIs, cannotFork, cannotFork, asIs, cannotFork, cannotFork, cannotFork, asIs];
      },
    });
    assert.deepEqual([end, equal], [{ kind: 'complete' }, [true, true]], asked.join());
  });

  it('a file that is another one by now is given up, and keeps no other from coming', async () => {
    for (const now of [Buffer.alloc(0), randomBytes(700)]) {
      const changed = file(700, { now });
      const { end, equal } = await fetchFrom([file(100), changed, file(100), file(2 * MIB)]);
      assert.deepEqual(equal, [true, false, true, true]);
      assert.deepEqual(end, { ...FINAL, brought: true, reason: 'an output changed after the bundle had ended' });
    }
  });

  it('where the disk has no room nothing is asked for', async () => {
    const { end, asked } = await fetchFrom([file(100, { sealed: true })], { freeBytes: 10 });
    assert.deepEqual(end, { ...FINAL, reason: 'there is no room for the outputs' });
    assert.deepEqual(
      asked.filter((text) => text !== 'salt'),
      [],
    );
  });

  it('a salt that is none is asked for three times', async () => {
    const { end, asked } = await fetchFrom([file(10, { sealed: true })], {
      answers: (pod) => [pod.answer, sends('x'.repeat(65))],
    });
    assert.deepEqual(asked, ['range 0 0 10', 'salt', 'salt', 'salt']);
    assert.match('reason' in end ? end.reason : '', /does not tell what its list of outputs is sealed with/);
  });

  it('an abort ends it, and what the disk says comes out', async () => {
    const pod = new ExecPod([file(MIB)]);
    const server = await execServer(pod.answer);
    const api = new KubernetesApi(plainConnection({ server: server.url }));
    try {
      await withFolder(async (staging) => {
        const assembler = new Assembler({ runId: RUN_ID, wanted: 1, staging, limits: LIMITS });
        await assembler.accept(pod.log);
        const given = { api, source: SOURCE, assembler, indices: [0], onProgress: () => undefined };
        await assert.rejects(fetchByExec({ ...given, signal: AbortSignal.abort() }), isAbort);
        const stop = new AbortController();
        const running = fetchByExec({ ...given, onProgress: () => stop.abort(), signal: stop.signal });
        await assert.rejects(running, isAbort);
      });
    } finally {
      api.close();
      await server.close();
    }
  });
});
