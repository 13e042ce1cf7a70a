import assert from 'node:assert/strict';
import { ApiError } from '../../../src/driver/sandbox/api-server/api-error.js';
import type { ApiServerFaults, ContainerScript } from '../../helpers/api-server.js';
import { leaveOnLog, withProcesses, type ProcessParts } from '../../helpers/begun-run.js';
import { mustNotRun } from '../../helpers/kubernetes-run.js';

/** As a cluster whose admission is not told by the namespace's label. */
function wantRestricted(faults: ApiServerFaults): void {
  faults.onAdmission((kind, object) => {
    const { securityContext } = (object['spec'] ?? {}) as { securityContext?: { runAsNonRoot?: boolean } };
    if (kind !== 'pods' || securityContext?.runAsNonRoot === true) return object;
    const why = 'violates PodSecurity "restricted:latest": runAsNonRoot != true';
    throw new ApiError(403, 'Forbidden', `pods "p" is forbidden: ${why}`);
  });
}

const greets: ContainerScript = async ({ log, write }) => {
  await log('hello');
  write('/cnab/app/outputs/greeting', 'hi');
  return 0;
};

/** A run whose output stops coming when its first block is there. */
const STALLED: ProcessParts = {
  operation: { outputs: [{ name: 'large', path: '/cnab/app/outputs/large', sensitive: false }] },
  invocation: ({ write }) => {
    write('/cnab/app/outputs/large', Buffer.alloc(3 * 1024 ** 2, 7));
    return 0;
  },
  faults: (faults) =>
    faults.body({ resource: 'pods/log', container: 'outputs', times: 1 }, { afterBytes: 1_900_000, then: 'stall' }),
};

describe('a run that is detached from', () => {
  it('goes on when its pod is there, and is taken up whole', () =>
    withProcesses({ invocation: greets }, async ({ run, resume, state, server }) => {
      const { result, log } = await run({ detach: true });
      assert.deepEqual([result.status, result.keep, result.outputs, log], ['running', true, [], '']);
      assert.ok(state().podUid !== undefined);
      assert.equal(server.cluster.store.list('secrets').length, 1);
      const end = await resume();
      assert.deepEqual([end.result.status, end.log, end.outputs], ['succeeded', 'hello\n', { greeting: 'hi' }]);
    }));

  it('is stopped all the same by who asks for that before it is on its own', () =>
    withProcesses({ invocation: ({ terminated }) => terminated.then(() => 5) }, async ({ run, server }) => {
      const stop = new AbortController();
      const { result } = await run({
        detach: true,
        signal: stop.signal,
        onState: ({ podUid }) => {
          if (podUid !== undefined) stop.abort({ kind: 'signal', signal: 'SIGTERM' });
          return Promise.resolve();
        },
      });
      assert.deepEqual([result.status, result.error?.code], ['canceled', 'interrupted']);
      assert.ok(server.faults.requests.some(({ verb, resource }) => verb === 'delete' && resource === 'pods'));
    }));

  it('is not called one while the cluster refuses its pod', () =>
    withProcesses(
      { invocation: mustNotRun, faults: (faults) => faults.denyPods('exceeded quota: q') },
      async ({ run }) => {
        const { result } = await run({ detach: true });
        assert.deepEqual([result.status, result.ran, result.keep], ['failed', 'no', undefined]);
        assert.match(result.error?.message ?? '', /exceeded quota/);
      },
    ));

  it('comes in the restricted shape first, where it is refused without, and is found by either name', () =>
    withProcesses({ invocation: greets, faults: wantRestricted }, async ({ run, resume, state, server }) => {
      const { result } = await run({ detach: true });
      assert.equal(result.status, 'running');
      assert.match(state().job ?? '', /-2$/);
      const { namespace = '' } = state();
      const first = state().job?.replace(/-2$/, '') ?? '';
      const end = await resume({ state: { namespace, job: first } });
      assert.deepEqual([end.result.status, end.outputs], ['succeeded', { greeting: 'hi' }]);
      assert.equal(server.cluster.store.list('jobs').length, 1);
    }));

  it('names the second Job before the first one goes', () =>
    withProcesses({ invocation: greets, faults: wantRestricted }, async ({ run, server }) => {
      const seen: [string | undefined, boolean, number][] = [];
      const deletions = (): number => server.faults.requests.filter(({ verb }) => verb === 'delete').length;
      await run({
        detach: true,
        onState: ({ job = '', jobUid }) => {
          seen.push([job.slice(-2), jobUid !== undefined, deletions()]);
          return Promise.resolve();
        },
      });
      const [, , intent] = seen;
      assert.deepEqual(intent, ['-2', false, 0]);
    }));
});

describe('a run that is left', () => {
  it('before anything was made is canceled: there is nothing to go on', () =>
    withProcesses({ invocation: mustNotRun }, async ({ run, server }) => {
      const { result } = await run({ signal: AbortSignal.abort({ kind: 'leave' }) });
      assert.deepEqual([result.status, result.ran, result.keep], ['canceled', 'no', undefined]);
      assert.equal(server.cluster.store.list('jobs').length, 0);
    }));

  it('while outputs come keeps what has come, and they do not travel again', () =>
    withProcesses(STALLED, async ({ run, resume }) => {
      const leave = new AbortController();
      const left = await run({
        signal: leave.signal,
        onProgress: ({ receivedBytes = 0 }) => void (receivedBytes > 0 && leave.abort({ kind: 'leave' })),
      });
      assert.deepEqual([left.result.status, left.result.keep], ['running', true]);
      const end = await resume();
      assert.equal(end.outputs['large'], '\x07'.repeat(3 * 1024 ** 2));
      const [first] = end.progress.filter(({ phase }) => phase === 'collecting');
      assert.equal(first?.receivedBytes, 1024 ** 2, 'the first block is there from the beginning');
    }));

  it('while outputs come asks for nothing more, because a server that is silent may not answer before the process is killed', async () => {
    const leave = new AbortController();
    const asked: string[] = [];
    await withProcesses(STALLED, async ({ run, server }) => {
      const { result } = await run({
        signal: leave.signal,
        onProgress: ({ receivedBytes = 0 }) => {
          if (receivedBytes === 0 || leave.signal.aborted) return;
          server.faults.hold({ verb: 'get', resource: 'jobs' });
          asked.push(...server.faults.requests.map(({ verb, resource }) => `${verb} ${resource}`));
          leave.abort({ kind: 'leave' });
        },
      });
      const after = server.faults.requests.slice(asked.length).map(({ verb, resource }) => `${verb} ${resource}`);
      assert.deepEqual([result.status, after.filter((request) => request === 'get jobs')], ['running', []]);
    });
  });

  it('by one who takes it up goes on, also before anything of it was found', () =>
    withProcesses(
      { invocation: async ({ log, terminated }) => (await log('up'), await terminated, 0) },
      async ({ run, resume }) => {
        await run(leaveOnLog());
        for (const io of [leaveOnLog(), { signal: AbortSignal.abort({ kind: 'leave' }) }]) {
          const { result } = await resume({}, io);
          assert.deepEqual([result.status, result.keep, result.error], ['running', true, undefined]);
        }
      },
    ));
});
