import assert from 'node:assert/strict';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Install from '../../src/commands/install.js';
import Uninstall from '../../src/commands/uninstall.js';
import type { Operation } from '../../src/driver/driver.js';
import type { DriverSettings } from '../../src/driver/settings.js';
import { CnabError } from '../../src/errors.js';
import { FakeDriver } from '../helpers/fake-driver.js';
import { RECORDED_BUNDLE } from '../helpers/recorded-installation.js';
import { removeHome, temporaryHome } from '../helpers/run-cnab.js';
import { runInProcess, type InProcess } from '../helpers/run-command.js';

class PreviewingDriver extends FakeDriver {
  readonly settings: DriverSettings[] = [];

  preview({ action, installation }: Operation): readonly object[] {
    return [{ kind: 'Job', metadata: { name: `${action}-${installation}`, absent: undefined } }, { kind: 'Secret' }];
  }
}

describe('--dry-run', () => {
  let home: string;
  let driver: PreviewingDriver;
  beforeEach(() => {
    home = temporaryHome();
    writeFileSync(join(home, 'bundle.json'), JSON.stringify(RECORDED_BUNDLE));
    driver = new PreviewingDriver(() => assert.fail('the bundle ran'));
  });
  afterEach(() => removeHome(home));

  function given(more: Partial<InProcess> = {}): InProcess {
    const openDriver = (_name: string, settings: DriverSettings): Promise<PreviewingDriver> => {
      driver.settings.push(settings);
      return Promise.resolve(driver);
    };
    return { home, driver, parts: { openDriver }, ...more };
  }
  const install = (...argv: string[]) =>
    runInProcess(Install, 'install', ['app', 'bundle.json', '-p', 'token=tell-nobody', ...argv], given());

  it('shows each parameter with its source and each object, and no sensitive value', async () => {
    const { exitCode, stdout, stderr } = await install('--dry-run', '-p', 'greeting=hi');
    assert.equal(exitCode, 0);
    assert.match(stdout, /^PARAMETER +VALUE +FROM\n/);
    assert.match(stdout, /^greeting +"hi" +-p$/m);
    assert.match(stdout, /^token +\*{6} +-p$/m);
    assert.match(stdout, /\n---\nkind: Job\nmetadata:\n {2}name: install-app\n---\nkind: Secret\n$/);
    assert.match(stderr, /^install app -> test .*\nrun none, this is a dry run$/m);
    assert.ok(!(stdout + stderr).includes('tell-nobody'));
  });

  it('says nothing beside it with --quiet, and names the installation also when it is refused', async () => {
    assert.equal((await install('--dry-run', '-q')).stderr, '');
    const { thrown, command } = await install('--dry-run', '-p', 'nope=1');
    const body = command.failureDocument(thrown, 2) as Record<string, unknown>;
    assert.deepEqual([body['action'], body['installation'], body['ran']], ['install', 'app', 'no']);
  });

  it('gives one document with --json', async () => {
    const { stdout } = await install('--dry-run', '--json');
    const body = JSON.parse(stdout) as Record<string, unknown>;
    assert.deepEqual([body['dryRun'], body['ran'], body['action']], ['client', 'no', 'install']);
    assert.deepEqual(body['objects'], [{ kind: 'Job', metadata: { name: 'install-app' } }, { kind: 'Secret' }]);
    const parameters = body['parameters'] as { name: string; sensitive: boolean }[];
    assert.deepEqual(
      parameters.find(({ name }) => name === 'token'),
      { name: 'token', from: '-p', sensitive: true },
    );
  });

  it('records nothing, runs nothing and lets the driver create nothing', async () => {
    await install('--dry-run', '--create-namespace');
    assert.equal(existsSync(join(home, 'cnab')), false);
    assert.deepEqual([driver.operations.length, driver.closed], [0, 1]);
    assert.equal(driver.settings[0]?.dryRun, true);
  });

  it('is refused for what a run would be refused for', async () => {
    const { thrown } = await install('--dry-run', '-p', 'nonsense=1');
    assert.ok(thrown instanceof CnabError);
    assert.match(thrown.details.join(), /no parameter "nonsense"/);
    const { thrown: other } = await runInProcess(Uninstall, 'uninstall', ['ghost', '--dry-run', '--json'], given());
    assert.equal(other, undefined);
  });

  it('reads the pod patch, and says where it is broken', async () => {
    writeFileSync(join(home, 'pod.yaml'), 'spec:\n  nodeSelector: {disk: ssd}\n');
    await install('--dry-run', '--pod-patch', 'pod.yaml');
    assert.deepEqual(driver.settings[0]?.podPatch, {
      file: 'pod.yaml',
      document: { spec: { nodeSelector: { disk: 'ssd' } } },
    });
    writeFileSync(join(home, 'pod.yaml'), 'spec:\n  nodeSelector: {disk: ssd\n');
    assert.match(String((await install('--pod-patch', 'pod.yaml')).thrown), /pod patch pod\.yaml:3:1: /);
    writeFileSync(join(home, 'pod.yaml'), '- spec\n');
    assert.match(String((await install('--pod-patch', 'pod.yaml')).thrown), /must be one object, a part of a Pod/);
    assert.match(
      String((await install('--pod-patch', 'nowhere.yaml')).thrown),
      /pod patch .*nowhere\.yaml does not exist/,
    );
  });

  it('of an uninstallation keeps the record, also with --delete-record', async () => {
    const done = new FakeDriver(async (run) => {
      await run.output('url', 'x');
      await run.output('count', '3');
      await run.output('password', 'y');
      await run.output('blob', 'z');
    });
    await runInProcess(Install, 'install', ['app', 'bundle.json', '-p', 'token=tell-nobody', '-p', 'greeting=hi'], {
      home,
      driver: done,
    });
    for (const argv of [
      ['app', '--dry-run'],
      ['app', '--dry-run', '--delete-record'],
    ]) {
      const { exitCode, stdout } = await runInProcess(Uninstall, 'uninstall', argv, given());
      assert.equal(exitCode, 0);
      assert.match(stdout, /name: uninstall-app/);
    }
    assert.equal(driver.operations.length, 0);
  });
});
