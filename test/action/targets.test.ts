import assert from 'node:assert/strict';
import { FAKE_TARGET, FakeDriver, type FakeRun } from '../helpers/fake-driver.js';
import { Stage, refuses } from './stage.js';

const ok = async (run: FakeRun): Promise<void> => run.output('url', 'http://x\n');

describe('an installation is known by its target and its name: runAction', () => {
  let stage: Stage;
  beforeEach(async () => (stage = await Stage.create()));
  afterEach(async () => stage.remove());

  it('says where a name is installed when it is not on this target', async () => {
    await stage.run('install', ok);
    const other = new FakeDriver(ok, {
      ...FAKE_TARGET,
      id: 'other',
      context: 'prod',
      server: 'https://10.0.0.1:6443',
      uid: 'uid-2',
    });
    await refuses(
      stage.run('upgrade', other),
      'not-found',
      /no installation "app" on prod \(https:\/\/10.0.0.1:6443\), namespace default[^]*installed on test[^]*--context test --namespace default/,
    );
  });

  it('gives commands that a shell takes as they are meant, whatever the installation is called', async () => {
    const installation = 'my app; reboot';
    await stage.run('install', ok, { installation });
    await refuses(
      stage.run('install', ok, { installation }),
      'wrong-state',
      /cnab upgrade 'my app; reboot' --context test --namespace default\n/,
    );
    await refuses(
      stage.run('upgrade', ok, { installation: '$(id)' }),
      'not-found',
      /cnab install '\$\(id\)' BUNDLE --context test --namespace default$/,
    );
  });

  it('names the kubeconfig that was named in commands that speak to the cluster, and in no other', async () => {
    const target = { ...FAKE_TARGET, kubeconfig: "/home/a b/it's" };
    const flags = String.raw`--kubeconfig '/home/a b/it'\''s' --context test --namespace default`;
    const driver = new FakeDriver(ok, target);
    assert.equal((await stage.run('install', driver)).status, 'succeeded');
    const upgrade = `To change it: cnab upgrade app ${flags}`;
    assert.ok(
      (await refuses(stage.run('install', driver), 'wrong-state', /already installed/)).suggestions.includes(upgrade),
    );
    await stage.run('uninstall', driver);
    const { suggestions } = await refuses(stage.run('upgrade', driver), 'wrong-state', /is uninstalled/);
    assert.deepEqual(suggestions, [
      `To install it again: cnab install app BUNDLE ${flags}`,
      'To drop its record: cnab forget app --context test --namespace default',
    ]);
    assert.deepEqual(await stage.store.targets(), [target]);
  });

  it("refuses to run one cluster's claim against another one behind the same address", async () => {
    await stage.run('install', ok);
    const recreated = new FakeDriver(ok, { ...FAKE_TARGET, id: 'recreated', uid: 'uid-2' });
    await refuses(stage.run('uninstall', recreated), 'wrong-state', /is not the cluster that "app" was installed on/);
  });
});
