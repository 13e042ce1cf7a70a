import assert from 'node:assert/strict';
import { mkdir, readdir, readFile, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ClaimStore, TargetClaims } from '../../src/claim/claim-store.js';
import { InUse } from '../../src/claim/in-use.js';
import { factsOf } from '../../src/claim/owner.js';
import { claim, idOf, NOW, removeFolder, storeIn, TARGET, tempFolder, USE } from './samples.js';

const DAY = 24 * 60 * 60 * 1000;
const OTHER = { ...TARGET, id: 'other', label: 'other' };

describe('the folder of a run', () => {
  let home: string;
  let store: ClaimStore;
  let claims: TargetClaims;
  beforeEach(async () => {
    home = await tempFolder();
    store = storeIn(home);
    claims = store.on(TARGET);
  });
  afterEach(() => removeFolder(home));
  const locks = (): Promise<string[]> => readdir(join(home, 'locks/.runs'));

  it("is one process's at a time, by whatever target and name another one knows the run", async () => {
    const run = await claims.openRun(idOf(1), { installation: 'app', purpose: 'install' });
    await writeFile(run.logFile, 'mine\n');
    for (const [on, use] of [
      [claims, USE],
      [store.on(OTHER), { installation: 'other', purpose: 'resume' }],
    ] as const) {
      const refused = await on.openRun(idOf(1), use).catch((error: unknown) => error);
      assert.ok(refused instanceof InUse, String(refused));
      assert.deepEqual([refused.code, refused.of, refused.owner?.pid], ['busy', 'run', process.pid]);
      const what = `run ${idOf(1)} of "${use.installation}" is in use: install by process ${process.pid} on `;
      assert.ok(refused.message.startsWith(what), refused.message);
    }
    assert.equal(await readFile(run.logFile, 'utf8'), 'mine\n');
    await run.close();
    await run.close();
    await (await store.on(OTHER).openRun(idOf(1), USE)).close();
    assert.deepEqual(await locks(), []);
  });

  it('says whose run it is, to whoever opens it next', async () => {
    const run = await claims.openRun(idOf(1), USE);
    assert.equal(run.keptFor, undefined);
    await run.saveState({ job: 'a' });
    await run.close();
    const next = await store.on(OTHER).openRun(idOf(1), { installation: 'else', purpose: 'test' });
    assert.deepEqual(next.keptFor, { installation: 'app', targetId: TARGET.id });
    await next.close();
    await writeFile(join(home, 'runs', idOf(1), 'state.json'), '{');
    const damaged = await claims.openRun(idOf(1), USE);
    assert.equal(damaged.keptFor, undefined);
    await damaged.close();
  });

  it('is taken over from a process that is gone, and leaves no lock then', async () => {
    await leaveLockOfDead(idOf(1));
    await (await claims.openRun(idOf(1), USE)).close();
    assert.deepEqual(await locks(), []);
  });

  it('is not removed with a record while a process has it, or where it is kept for another target', async () => {
    for (const n of [1, 2, 3]) await claims.saveClaim(claim(idOf(n)));
    await claims.openRun(idOf(1), USE);
    const foreign = await store.on(OTHER).openRun(idOf(2), USE);
    await foreign.saveState({});
    await foreign.close();
    await (await claims.openRun(idOf(3), USE)).close();
    await claims.remove('app');
    assert.deepEqual(await readdir(join(home, 'runs')), [idOf(1), idOf(2)]);
    assert.deepEqual(await locks(), [`${idOf(1)}.json`]);
  });

  it('leaves no lock of a dead process for ever where nothing else is left of the run', async () => {
    await leaveLockOfDead(idOf(2));
    await mkdir(join(home, 'runs', idOf(3)), { recursive: true });
    await leaveLockOfDead(idOf(3));
    const old = new Date(NOW - 2 * DAY);
    await utimes(join(home, 'runs', idOf(3)), old, old);
    await leaveLockOfDead('app', 'locks/sandbox');
    await (await claims.lock('app', 'upgrade')).release();
    assert.deepEqual([await locks(), await readdir(join(home, 'runs'))], [[], []]);
  });

  /** As a process that was killed; no process has such a pid. */
  async function leaveLockOfDead(name: string, folder = 'locks/.runs'): Promise<void> {
    await mkdir(join(home, folder), { recursive: true });
    const facts = await factsOf({ pid: process.pid, isAlive: () => true });
    const owner = { ...facts, token: 'x', pid: 2 ** 22 + 1, purpose: 'install', since: new Date(NOW).toISOString() };
    await writeFile(join(home, folder, `${name}.json`), JSON.stringify(owner));
  }
});
