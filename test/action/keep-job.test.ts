import assert from 'node:assert/strict';
import { FAKE_TARGET, FakeDriver, type FakeLife } from '../helpers/fake-driver.js';
import { Stage } from './stage.js';

const whole = async (run: FakeLife): Promise<void> => run.output('url', 'http://x\n');

describe('a run whose process was killed', () => {
  let stage: Stage;
  beforeEach(async () => (stage = await Stage.create()));
  afterEach(async () => stage.remove());

  it('that was to keep its Job is put away with that wish, and given up with it', async () => {
    const posted = { namespace: 'default', job: 'cnab-job', jobUid: 'uid-of-job', keepJob: true } as const;
    for (const [settled, said] of [
      [true, /^$/],
      [false, /is given up: it is stopped, and its Job stays\./],
    ] as const) {
      await stage.store.on(FAKE_TARGET).remove('app');
      stage.warnings.length = 0;
      await stage.kill('install', (run) => run.io.onState(posted));
      const { claim } = await stage.last();
      if (settled) {
        const result = {
          id: await stage.store.on(FAKE_TARGET).nextId('app'),
          claimId: claim.id,
          created: claim.created,
        };
        await stage.store.on(FAKE_TARGET).saveResult('app', { ...result, status: 'succeeded' });
      }
      const next = new FakeDriver(whole);
      const states: unknown[] = [];
      next.release = (run) => (states.push(run.state), Promise.resolve([]));
      await stage.run('install', next, { force: true });
      assert.deepEqual(states[0], posted);
      assert.match(stage.warnings.join(), said);
    }
  });
});
