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
    await refuses(stage.run('install', ok, { installation }), 'wrong-state', /cnab upgrade 'my app; reboot'\n/);
    await refuses(stage.run('upgrade', ok, { installation: '$(id)' }), 'not-found', /cnab install '\$\(id\)' BUNDLE/);
  });

  it("refuses to run one cluster's claim against another one behind the same address", async () => {
    await stage.run('install', ok);
    const recreated = new FakeDriver(ok, { ...FAKE_TARGET, id: 'recreated', uid: 'uid-2' });
    await refuses(stage.run('uninstall', recreated), 'wrong-state', /is not the cluster that "app" was installed on/);
  });
});
