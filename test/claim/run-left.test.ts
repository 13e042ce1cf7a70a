import assert from 'node:assert/strict';
import { chmod, mkdir, readdir, truncate, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { TargetClaims } from '../../src/claim/claim-store.js';
import { factsOf } from '../../src/claim/owner.js';
import { claim, idOf, NOW, removeFolder, result, storeIn, TARGET, tempFolder, USE } from './samples.js';

const DAY = 24 * 60 * 60 * 1000;

describe('what a killed process left', () => {
  let home: string;
  let claims: TargetClaims;
  beforeEach(async () => {
    home = await tempFolder();
    claims = storeIn(home).on(TARGET);
  });
  afterEach(() => removeFolder(home));

  it('of a run is found without making a folder, with its state and what had come', async () => {
    assert.equal(await claims.runLeft(idOf(1)), undefined);
    assert.deepEqual(await claims.runsLeft([idOf(1)]), []);
    await assert.rejects(readdir(join(home, 'runs')), { code: 'ENOENT' });
    const run = await claims.openRun(idOf(1), USE);
    assert.equal((await claims.runLeft(idOf(1)))?.state, undefined);
    await run.saveState({ job: 'a' });
    await writeFile(run.logFile, 'hello\n');
    await writeFile(join(run.staging, '0.part'), 'x'.repeat(10_000));
    const left = await claims.runLeft(idOf(1));
    const state = { claim: idOf(1), installation: 'app', target: TARGET.id, job: 'a' };
    assert.deepEqual([left?.state, left?.logBytes, left?.logFile], [state, 6, run.logFile]);
    assert.equal(left?.stagedBytes, 10_000);
    assert.deepEqual(await claims.runsLeft([idOf(2), idOf(1)]), [idOf(1)]);
  });

  it('of a large output counts by what has come, not by how large it will be', async () => {
    const run = await claims.openRun(idOf(1), USE);
    await writeFile(join(run.staging, '0.part'), 'x'.repeat(4096));
    await truncate(join(run.staging, '0.part'), 1024 ** 3);
    const { stagedBytes = 0 } = (await claims.runLeft(idOf(1))) ?? {};
    assert.ok(stagedBytes >= 4096 && stagedBytes < 1024 ** 2, String(stagedBytes));
  });

  it('names the process that acts on an installation, and none that is gone', async () => {
    assert.equal(await claims.owner('app'), undefined);
    const lock = await claims.lock('app', 'upgrade');
    const owner = await claims.owner('app');
    assert.deepEqual([owner?.pid, owner?.purpose, owner?.since], [process.pid, 'upgrade', new Date(NOW).toISOString()]);
    await lock.release();
    assert.equal(await claims.owner('app'), undefined);
    await leaveLockOfDead();
    assert.equal(await claims.owner('app'), undefined);
  });

  it('is swept away a day later: files that no result has, folders of runs that no claim has', async () => {
    await claims.saveClaim(claim(idOf(1)));
    const run = await claims.openRun(idOf(1), USE);
    const stateless = await claims.openRun(idOf(2), USE);
    await claims.openRun(idOf(3), USE);
    const live = await claims.openRun(idOf(4), USE);
    await stateless.close();
    const file = join(run.staging, '0');
    await writeFile(file, 'x');
    await claims.saveResult('app', result(idOf(5), idOf(1), 'succeeded'), [{ name: 'o', file }]);
    const outputs = join(home, 'targets/sandbox/outputs');
    for (const id of [idOf(6), idOf(7)]) await mkdir(join(outputs, id));
    const old = new Date(NOW - 2 * DAY);
    for (const folder of [join(outputs, idOf(6)), join(outputs, idOf(5))]) await utimes(folder, old, old);
    for (const folder of [run.staging, stateless.staging, live.staging]) {
      const whole = join(folder, '..');
      for (const name of await readdir(whole)) await utimes(join(whole, name), old, old);
      await utimes(whole, old, old);
    }
    const now = new Date(NOW);
    await utimes(join(outputs, idOf(7)), now, now);
    await utimes(join(home, 'runs', idOf(3)), now, now);
    await leaveLockOfDead();
    await (await claims.lock('app', 'upgrade')).release();
    assert.deepEqual(await readdir(outputs), [idOf(5), idOf(7)]);
    assert.deepEqual(await readdir(join(home, 'runs')), [idOf(1), idOf(3), idOf(4)]);
  });

  it('is no reason for a lock not to be had', async () => {
    await claims.saveClaim(claim(idOf(1)));
    await mkdir(join(home, 'runs'));
    await writeFile(join(home, 'runs/a file'), '');
    await chmod(join(home, 'runs'), 0o500);
    await leaveLockOfDead();
    await (await claims.lock('app', 'upgrade')).release();
    await chmod(join(home, 'runs'), 0o700);
  });

  /** As a process that was killed; no process has such a pid. */
  async function leaveLockOfDead(): Promise<void> {
    const folder = join(home, 'locks/sandbox');
    await mkdir(folder, { recursive: true });
    const owner = {
      ...(await factsOf({ pid: process.pid, isAlive: () => true })),
      token: 'x',
      pid: 2 ** 22 + 1,
      purpose: 'install',
      since: new Date(NOW).toISOString(),
    };
    await writeFile(join(folder, 'app.json'), JSON.stringify(owner));
  }
});
