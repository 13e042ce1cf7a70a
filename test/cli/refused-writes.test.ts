import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { closeSync, existsSync, openSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import Install from '../../src/commands/install.js';
import { FakeDriver } from '../helpers/fake-driver.js';
import { RECORDED_BUNDLE } from '../helpers/recorded-installation.js';
import { environment, removeHome, ROOT, temporaryHome } from '../helpers/run-cnab.js';
import { runInProcess, type InProcess } from '../helpers/run-command.js';

/** As a file on a full disk. */
function full(): Writable {
  const refuse = Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' });
  // The process's own streams refuse each write anew and stay open.
  const write = (_chunk: unknown, callback: (error: Error) => void): boolean => (callback(refuse), true);
  return Object.assign(new Writable(), { write });
}

describe('a command whose words are refused', () => {
  let home: string;
  beforeEach(() => (home = temporaryHome()));
  afterEach(() => removeHome(home));

  (existsSync('/dev/full') ? it : it.skip)('says so in one sentence and is no bug', () => {
    const disk = openSync('/dev/full', 'w');
    const { status, stderr } = spawnSync(process.execPath, [join(ROOT, 'bin/run.js'), 'list', '--json'], {
      stdio: ['ignore', disk, 'pipe'],
      env: environment({ home }),
      encoding: 'utf8',
    });
    closeSync(disk);
    assert.deepEqual([status, stderr], [3, 'error: cannot write the answer: ENOSPC: no space left on device, write\n']);
  });

  function install(streams: NonNullable<InProcess['streams']>) {
    writeFileSync(join(home, 'bundle.json'), JSON.stringify({ ...RECORDED_BUNDLE, outputs: {} }));
    const argv = ['app', 'bundle.json', '-p', 'greeting=hi', '-p', 'token=tell-nobody', '--json'];
    return runInProcess(Install, 'install', argv, { home, driver: new FakeDriver(async () => {}), streams });
  }

  it('has installed all the same when only its messages were refused', async () => {
    const { exitCode, thrown, stdout } = await install({ stderr: full() });
    assert.deepEqual([exitCode, thrown], [0, undefined]);
    const { status, ran } = JSON.parse(stdout) as { status: string; ran: string };
    assert.deepEqual([status, ran], ['succeeded', 'yes']);
  });

  it('never says that nothing ran when the answer of a run was refused', async () => {
    const { exitCode, thrown, stderr } = await install({ stdout: full() });
    assert.deepEqual([exitCode, thrown], [5, undefined]);
    assert.match(stderr, /^error: the run is over, but cannot write the answer: ENOSPC.*\n +.*cnab show NAME\n$/m);
  });
});
