import assert from 'node:assert/strict';
import { join } from 'node:path';
import { expectedLog, sha256, writeAllBytesBundle } from '../helpers/all-bytes-bundle.js';
import { removeHome, runCnab, temporaryHome, type Ran } from '../helpers/run-cnab.js';

describe('a bundle of 10,000 lines of log and outputs of every kind', () => {
  const home = temporaryHome();
  after(() => removeHome(home));
  const run = (...args: string[]): Promise<Ran> => runCnab(args, { home, env: { CNAB_DRIVER: 'sandbox' } });

  it('arrives whole: every byte of every output, every line of the log in order', async () => {
    const installed = await run('install', 'app', writeAllBytesBundle(join(home, 'bundle')), '--json');
    assert.equal(installed.code, 0, installed.stderr);
    const read = async (output: string): Promise<Buffer> => (await run('outputs', 'show', 'app', output)).bytes;
    assert.equal((await read('empty')).length, 0);
    assert.equal((await read('one')).toString(), 'x');
    assert.equal((await read('newline')).toString(), 'a file whose name has a newline');
    assert.equal((await read('dash')).toString(), 'odd');
    const random = await read('random');
    assert.equal(random.length, 1024 * 1024);
    assert.equal((await run('logs', 'app')).stdout, expectedLog(sha256(random)));
    const shown = installed.stderr.split('\n').filter((line) => line.startsWith('line '));
    assert.equal(shown.length, 10_000);
  }).timeout(60_000);
});
