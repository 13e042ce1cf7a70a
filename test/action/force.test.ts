import assert from 'node:assert/strict';
import type { KubernetesDriver } from '../../src/driver/kubernetes/driver.js';
import { ProcessRuntime, ScriptedRuntime, withApiServer, type TestApiServer } from '../helpers/api-server.js';
import { fastClock } from '../helpers/fast-clock.js';
import { testDriver } from '../helpers/kubernetes-run.js';
import { Stage } from './stage.js';

const FASTER = 6;

describe('--force over a run that heeds no signal', () => {
  let stage: Stage;
  beforeEach(async () => void (stage = await Stage.create()));
  afterEach(async () => stage.remove());

  const running = ({ cluster }: TestApiServer): number =>
    cluster.store
      .list('pods')
      .filter(({ status }) => status.containerStatuses?.some(({ state }) => state?.running !== undefined)).length;

  it('begins when no run tool of the earlier run runs any more, on the cluster', async () => {
    const leave = new AbortController();
    const beside: number[] = [];
    const runtime = new ScriptedRuntime({
      otherwise: new ProcessRuntime(),
      scripts: {
        invocation: async ({ log, write }) => {
          beside.push(server === undefined ? -1 : running(server));
          await log('up');
          write('/cnab/app/outputs/url', 'http://x');
          if (beside.length > 1) return 0;
          leave.abort({ kind: 'leave' });
          return new Promise<number>(() => undefined);
        },
      },
    });
    const clock = fastClock(FASTER);
    let server: TestApiServer | undefined;
    await withApiServer({ runtime, clock }, async (made) => {
      server = made;
      const using = async <T>(use: (driver: KubernetesDriver) => Promise<T>): Promise<T> => {
        const driver = testDriver(made, { clock, settings: { gracePeriodMs: 3000, holdTimeMs: 3_600_000 } });
        try {
          return await use(driver);
        } finally {
          await driver.close();
        }
      };
      const left = await using((driver) => stage.run('install', driver, {}, leave.signal));
      assert.equal(left.status, 'running');
      assert.equal(running(made), 1);
      const next = await using((driver) => stage.run('install', driver, { force: true }));
      assert.equal(next.status, 'succeeded');
      assert.deepEqual(beside, [0, 0]);
      const { records } = (await stage.store.on(next.target).read('app')) ?? { records: [] };
      const told = records.map(({ results }) => results.map(({ status }) => status).join(', '));
      assert.deepEqual(told, ['running, unknown', 'running, succeeded']);
    });
  });
});
