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
