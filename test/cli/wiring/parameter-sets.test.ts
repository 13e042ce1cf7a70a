import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Install from '../../../src/commands/install.js';
import Upgrade from '../../../src/commands/upgrade.js';
import type { CnabError } from '../../../src/errors.js';
import { FakeDriver } from '../../helpers/fake-driver.js';
import { RECORDED_BUNDLE } from '../../helpers/recorded-installation.js';
import { removeHome, temporaryHome } from '../../helpers/run-cnab.js';
import { runInProcess } from '../../helpers/run-command.js';

describe('a parameter set that serves several bundles', () => {
  let home: string;
  let driver: FakeDriver;
  beforeEach(() => {
    home = temporaryHome();
    writeFileSync(join(home, 'bundle.json'), JSON.stringify({ ...RECORDED_BUNDLE, outputs: {} }));
    driver = new FakeDriver(() => Promise.resolve());
  });
  afterEach(() => removeHome(home));

  const upgrade = (set: string) => {
    writeFileSync(join(home, 'set.yaml'), set);
    return runInProcess(Upgrade, 'upgrade', ['app', '--params', './set.yaml'], { home, driver, env: { HI: 'hello' } });
  };
  const greeting = '- {name: greeting, source: {env: HI}}';

  it('is read for what the installed bundle declares, where the command names no bundle', async () => {
    const given = ['app', 'bundle.json', '-p', 'greeting=hi', '-p', 'token=t'];
    await runInProcess(Install, 'install', given, { home, driver });
    const { exitCode } = await upgrade(`parameters:\n${greeting}\n- {name: other, source: {env: NOT_SET}}\n`);
    assert.equal(exitCode, 0);
    const variable = driver.operations[1]?.environment.find(({ name }) => name === 'GREETING');
    assert.equal(Buffer.from(variable?.value ?? []).toString(), 'hello');
    const { thrown } = await upgrade('parameters:\n- {name: greeting, source: {env: NOT_SET}}\n');
    assert.match((thrown as CnabError).message, /parameter "greeting" .*NOT_SET/);
  });
});
