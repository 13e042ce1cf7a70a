import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { planAction } from '../../src/action/plan-action.js';
import type { PreparedAction } from '../../src/action/prepare.js';
import { systemClock } from '../../src/driver/clock.js';
import type { Target } from '../../src/claim/target.js';
import { FAKE_TARGET, FakeDriver } from '../helpers/fake-driver.js';
import { APP, elsewhere, loaded, refuses, Stage } from './stage.js';

describe('an action that is planned', () => {
  let stage: Stage;
  beforeEach(async () => (stage = await Stage.create()));
  afterEach(() => stage.remove());

  function plan(
    target: Target,
    bundle = APP,
    action = 'install',
    driver = new FakeDriver(() => assert.fail('the bundle ran'), target),
  ): Promise<PreparedAction> {
    const nothing = (): void => undefined;
    return planAction(
      {
        action,
        installation: 'app',
        bundle: loaded(bundle),
        parameters: [],
        choices: { credentialSets: [] },
        credentials: () => () => Promise.resolve(new Map()),
        reset: false,
        force: false,
        installIfAbsent: false,
        deleteRecord: false,
        ignoreRequiredExtensions: false,
      },
      {
        store: stage.store,
        driver,
        clock: systemClock,
        signal: new AbortController().signal,
        events: { onLog: nothing, onProgress: nothing, onWarning: nothing, onStart: nothing },
      },
    );
  }

  it('is decided like one that runs, and leaves nothing on the disk', async () => {
    const { operation, parameters } = await plan(FAKE_TARGET);
    assert.equal(operation.action, 'install');
    assert.deepEqual(
      parameters.applied.map(({ name, value, from }) => [name, value, from]),
      [
        ['greeting', undefined, 'not set'],
        ['port', 80, 'default'],
      ],
    );
    assert.deepEqual(readdirSync(stage.home), []);
  });

  it('warns of an image without a digest, but not in the sandbox, which runs no image', async () => {
    const unpinned = { ...APP, invocationImages: [{ image: 'registry.example/app:1.0.0' }] };
    assert.match((await plan(FAKE_TARGET, unpinned)).warnings.join(), /has no contentDigest/);
    const sandbox = { id: 'sandbox', driver: 'sandbox', label: 'sandbox' };
    assert.deepEqual((await plan(sandbox, unpinned)).warnings, []);
  });

  it('names the run of another machine that installs what there is nothing of yet', async () => {
    const driver = new FakeDriver(() => assert.fail('the bundle ran'));
    const { id } = await elsewhere(driver);
    await refuses(plan(FAKE_TARGET, APP, 'upgrade', driver), 'contact-lost', new RegExp(`run ${id}.* is running`));
  });

  it('is refused where the run would be: another machine is on this installation, which is recorded here too', async () => {
    await stage.run('install', (run) => run.output('url', 'http://x\n'));
    const driver = new FakeDriver(() => assert.fail('the bundle ran'));
    const { id } = await elsewhere(driver);
    await refuses(plan(FAKE_TARGET, APP, 'rotate', driver), 'contact-lost', new RegExp(`run ${id}.* is running`));
    assert.equal((await plan(FAKE_TARGET, APP, 'io.cnab.help', driver)).operation.action, 'io.cnab.help');
  });
});
