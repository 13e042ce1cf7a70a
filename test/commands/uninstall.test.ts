import assert from 'node:assert/strict';
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { layoutOf } from '../../src/claim/layout.js';
import Uninstall from '../../src/commands/uninstall.js';
import { CnabError } from '../../src/errors.js';
import { FAKE_TARGET, FakeDriver, type FakeRun } from '../helpers/fake-driver.js';
import { recordRun, storeAt } from '../helpers/recorded-installation.js';
import { removeHome, temporaryHome } from '../helpers/run-cnab.js';
import { runInProcess } from '../helpers/run-command.js';

async function leaveOutputs(run: FakeRun): Promise<void> {
  for (const name of ['url', 'count', 'password', 'blob']) await run.output(name, '1');
}

describe('cnab uninstall', () => {
  let home: string;
  let cnab: string;
  beforeEach(() => {
    home = temporaryHome();
    cnab = join(home, 'cnab');
  });
  afterEach(() => removeHome(home));

  const uninstall = (argv: string[], driver = new FakeDriver(leaveOutputs)) =>
    runInProcess(Uninstall, 'uninstall', argv, { home, driver });
  const record = (name: string, action = 'install') => recordRun(cnab, { name, action, target: FAKE_TARGET });

  it('runs each name once, goes on after one that fails, and ends with the first failure', async () => {
    await record('a');
    await record('c');
    const driver = new FakeDriver(leaveOutputs);
    const { exitCode, stdout, stderr } = await uninstall(['a', 'b', 'a', 'c', '--json'], driver);
    assert.equal(exitCode, 6);
    assert.deepEqual(
      driver.operations.map(({ installation }) => installation),
      ['a', 'c'],
    );
    const { installations } = JSON.parse(stdout) as { installations: { installation: string; status: string }[] };
    assert.deepEqual(
      installations.map(({ installation, status }) => `${installation} ${status}`),
      ['a succeeded', 'b failed', 'c succeeded'],
    );
    assert.match(stderr, /^error: no installation "b" on test/m);
  });

  it('tells wrong flags once', async () => {
    const { thrown } = await uninstall(['a', 'b', '--timeout', '90']);
    assert.match((thrown as CnabError).message, /--timeout 90 has no unit/);
  });

  it('takes what is not installed, or not any more, for no failure with --ignore-not-found', async () => {
    await record('old');
    await record('old', 'uninstall');
    const driver = new FakeDriver(leaveOutputs);
    const { exitCode, stdout, stderr } = await uninstall(['old', 'gone', '--ignore-not-found'], driver);
    assert.deepEqual([exitCode, stdout, driver.operations.length], [0, '', 0]);
    assert.equal(
      stderr,
      'note: "old": already uninstalled; nothing was run\nnote: "gone": not installed; nothing was run\n',
    );
    assert.equal((await uninstall(['old'])).exitCode, 9);
    assert.equal((await uninstall(['gone'])).exitCode, 6);
  });

  it('takes nothing but a name without a record for not installed: a set that is not there is a failure', async () => {
    await record('app');
    for (const flags of [
      ['-c', 'nosuch'],
      ['--params', 'nosuch.yaml'],
      ['-c', 'nosuch', '--dry-run'],
    ]) {
      const driver = new FakeDriver(leaveOutputs);
      const { exitCode, stderr } = await uninstall(['app', '--ignore-not-found', ...flags], driver);
      assert.notEqual(exitCode, 0, flags.join(' '));
      assert.match(stderr, /nosuch/);
      assert.equal(driver.operations.length, 0);
    }
  });

  it('lists each name that was asked for, also those that were not tried any more', async () => {
    for (const name of ['a', 'b', 'c']) await record(name);
    const error = new CnabError('timed-out', 'the time was over');
    const driver = new FakeDriver(() => Promise.resolve({ status: 'failed', error }));
    const { exitCode, stdout, stderr } = await uninstall(['a', 'b', 'c', '--json'], driver);
    assert.equal(exitCode, 4);
    const { installations } = JSON.parse(stdout) as { installations: Record<string, unknown>[] };
    assert.deepEqual(
      installations.map(({ installation, ran, note }) => [installation, ran, note]),
      [
        ['a', 'yes', undefined],
        ['b', 'no', 'not tried'],
        ['c', 'no', 'not tried'],
      ],
    );
    assert.match(stderr, /^note: not tried any more: "b", "c"$/m);
  });

  it('names no run of the one before in the document of one that fails before its run', async () => {
    await record('a');
    await record('b');
    const claims = layoutOf(cnab).on(FAKE_TARGET.id).claims('b');
    for (const name of await readdir(claims)) await writeFile(join(claims, name), '{');
    const { stdout } = await uninstall(['a', 'b', '--ignore-not-found', '--json']);
    const { installations } = JSON.parse(stdout) as { installations: Record<string, unknown>[] };
    assert.equal(typeof installations[0]?.['runId'], 'string');
    assert.deepEqual([installations[1]?.['installation'], installations[1]?.['runId']], ['b', undefined]);
  });

  it('deletes only the record of what is uninstalled with --delete-record', async () => {
    await record('old');
    await record('old', 'uninstall');
    const driver = new FakeDriver(leaveOutputs);
    const { exitCode, stdout } = await uninstall(['old', '--delete-record', '--json'], driver);
    assert.deepEqual([exitCode, driver.operations.length], [0, 0]);
    const body = JSON.parse(stdout) as Record<string, unknown>;
    assert.deepEqual([body['status'], body['ran'], body['note']], ['succeeded', 'no', 'record deleted']);
    assert.deepEqual(await storeAt(cnab).targetsOf('old'), []);
  });
});
