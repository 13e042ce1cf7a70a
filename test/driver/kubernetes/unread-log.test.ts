import assert from 'node:assert/strict';
import type { Interception } from '../../../src/driver/sandbox/api-server/faults.js';
import type { RequestInfo } from '../../../src/driver/sandbox/api-server/request-info.js';
import { ApiServerFaults, type ContainerScript } from '../../helpers/api-server.js';
import { withProcesses } from '../../helpers/begun-run.js';
import { wanted } from '../../scenarios/stage.js';

const FASTER = 30;
/** More than a log that has ended is waited for. */
const AWAY_MS = 5 * 60_000;

/** The API server answers, and cannot reach the kubelet for the logs of these containers. */
class KubeletAway extends ApiServerFaults {
  away: readonly string[] = [];

  override intercept(request: RequestInfo): Interception | undefined | Promise<Interception | undefined> {
    const container = request.query.get('container') ?? '';
    if (request.subresource !== 'log' || !this.away.includes(container)) return super.intercept(request);
    const body = { kind: 'Status', status: 'Failure', code: 500, message: 'dial tcp 10.0.0.4:10250: i/o timeout' };
    return { status: 500, body, headers: {} };
  }
}

describe('a kubelet that is away while the cluster is there', () => {
  for (const [what, isBackInTime] of [
    ['costs nothing where it is back when the bundle ends, however long it was away', true],
    ['leaves the outputs where they are where it stays away, for whoever comes later', false],
  ] as const) {
    it(what, () => {
      const faults = new KubeletAway();
      faults.away = ['outputs', 'invocation'];
      const invocation: ContainerScript = async ({ write, log, sleep }) => {
        await log('one');
        await sleep((AWAY_MS + 30_000) / FASTER);
        write('/cnab/app/outputs/report', 'the report');
        if (isBackInTime) faults.away = [];
        await log('two');
        return 0;
      };
      const parts = { faster: FASTER, server: { faults }, invocation, operation: { outputs: wanted('report') } };
      return withProcesses(parts, async ({ run, resume, server }) => {
        const first = await run();
        if (isBackInTime) {
          assert.deepEqual([first.result.error, first.result.logComplete], [undefined, true]);
          assert.deepEqual([first.outputs, first.log], [{ report: 'the report' }, 'one\ntwo\n']);
          return;
        }
        assert.deepEqual([first.result.error?.code, first.result.keep], ['outputs-incomplete', true]);
        assert.match(first.result.error?.message ?? '', /i\/o timeout/);
        assert.deepEqual([first.result.outstanding, server.cluster.store.list('jobs').length], [{}, 1]);
        faults.away = [];
        const second = await resume();
        assert.deepEqual([second.result.error, second.outputs], [undefined, { report: 'the report' }]);
      });
    });
  }
});
