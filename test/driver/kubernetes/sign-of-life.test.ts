import assert from 'node:assert/strict';
import { heldJob, holderOf } from '../../../src/driver/kubernetes/holder.js';
import { Holds } from '../../../src/driver/kubernetes/holds.js';
import type { ApiServerFaults } from '../../helpers/api-server.js';
import { withProcesses, type Processes } from '../../helpers/begun-run.js';
import { ManualClock } from '../../helpers/manual-clock.js';
import { until } from '../../helpers/until.js';

const ONCE = { verb: 'patch', resource: 'jobs', times: 1 } as const;

function beatOn({ server }: Processes): number {
  const [job] = server.cluster.store.list('jobs');
  return (job === undefined ? undefined : holderOf(job as never))?.beat ?? 0;
}

describe('the sign of life of a process that is on a run', () => {
  for (const [what, refuse] of [
    ['a login that has expired', (faults: ApiServerFaults) => faults.fail(ONCE, 401)],
    ['an authorizer that is away', (faults: ApiServerFaults) => faults.fail(ONCE, 403)],
    ['a server that has no time', (faults: ApiServerFaults) => faults.fail(ONCE, 503)],
    ['a connection that breaks', (faults: ApiServerFaults) => faults.reset(ONCE)],
  ] as const) {
    it(`is given again after one that ${what} has refused`, async () => {
      let finish = (): void => undefined;
      const told = new Promise<void>((resolve) => (finish = resolve));
      const invocation = async (): Promise<number> => (await told, 0);
      await withProcesses({ named: true, faster: 30, invocation, faults: refuse }, async (processes) => {
        const running = processes.run();
        await until('a beat', () => beatOn(processes) > 0);
        finish();
        const { result } = await running;
        const patches = processes.server.faults.requests.filter(({ verb }) => verb === 'patch').length;
        assert.deepEqual([result.status, result.error], ['succeeded', undefined]);
        assert.ok(patches >= 2, `${patches} patches`);
      });
    });
  }

  for (const host of ['(none)', '', 'my box', 'büro', 'x'.repeat(300), 'ci-7\u001b[31m', 'node.example:1']) {
    it(`names a machine that is called ${JSON.stringify(host.slice(0, 20))}`, () => {
      const { own } = new Holds({ host, pid: 1 }, new ManualClock(0));
      assert.ok(own);
      assert.deepEqual(holderOf(heldJob({}, own)), own);
    });
  }
});

describe('who leaves a run whose outputs are being fetched', () => {
  it('asks for nothing more, because a server that is silent may not answer before the process is killed', async () => {
    const leave = new AbortController();
    const asked: string[] = [];
    await withProcesses(
      {
        operation: { outputs: [{ name: 'large', path: '/cnab/app/outputs/large', sensitive: false }] },
        invocation: ({ write }) => {
          write('/cnab/app/outputs/large', Buffer.alloc(3 * 1024 ** 2, 7));
          return 0;
        },
        faults: (faults) =>
          faults.body(
            { resource: 'pods/log', container: 'outputs', times: 1 },
            { afterBytes: 1_900_000, then: 'stall' },
          ),
      },
      async ({ run, server }) => {
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
      },
    );
  });
});
