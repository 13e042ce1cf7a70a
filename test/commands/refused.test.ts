import assert from 'node:assert/strict';
import { unfinishedDocument } from '../../src/cli/views/action.js';
import Install from '../../src/commands/install.js';
import Uninstall from '../../src/commands/uninstall.js';
import Upgrade from '../../src/commands/upgrade.js';
import { CnabError } from '../../src/errors.js';
import { elsewhere } from '../action/stage.js';
import type { FakeDriver } from '../helpers/fake-driver.js';
import { runInProcess } from '../helpers/run-command.js';
import { INSTALL, LeftRun } from './left-run.js';

type Document = Readonly<Record<string, unknown>>;

describe('the document of a command that an earlier run is in the way of', () => {
  let stage: LeftRun;
  let home: string;
  let driver: FakeDriver;
  beforeEach(() => {
    stage = new LeftRun();
    ({ home, driver } = stage);
  });
  afterEach(() => stage.remove());

  async function told(
    command: typeof Install | typeof Uninstall | typeof Upgrade,
    argv: readonly string[],
  ): Promise<readonly unknown[]> {
    const ran = driver.operations.length;
    const ended = await runInProcess(command, command.name.toLowerCase(), [...argv, '--json'], { home, driver });
    const body = (
      ended.thrown === undefined ? JSON.parse(ended.stdout) : ended.command.failureDocument(ended.thrown, 8)
    ) as Document;
    assert.equal(driver.operations.length, ran);
    const error = body['error'] as Document;
    return [body['installation'], body['runId'], body['status'], body['ran'], error['code'], error['exitCode']];
  }

  const refused = ['app', undefined, 'failed', 'no', 'contact-lost', 8];

  it('says that it did not run, where it is one of this machine', async () => {
    assert.equal((await stage.detach()).exitCode, 0);
    assert.deepEqual(await told(Uninstall, ['app']), refused);
    assert.deepEqual(await told(Upgrade, ['app']), refused);
    assert.deepEqual(await told(Install, INSTALL), refused);
  });

  it('says that it did not run, where it is one of another machine', async () => {
    await elsewhere(driver);
    assert.deepEqual(await told(Uninstall, ['app']), refused);
    assert.deepEqual(await told(Upgrade, ['app']), refused);
    assert.deepEqual(await told(Install, INSTALL), refused);
  });

  it('leaves it open only where the contact was lost to a run of its own', () => {
    const lost = new CnabError('contact-lost', 'the disk is full');
    const own = unfinishedDocument('install', { installation: 'app', runId: '01' }, lost, 8) as Document;
    assert.deepEqual([own['status'], own['ran']], ['unknown', 'unknown']);
  });
});
