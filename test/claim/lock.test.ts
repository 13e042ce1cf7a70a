import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { dirname, join } from 'node:path';
import { factsOf, isAliveBy, isDead, parseOwner, type LockOwner, type ProcessFacts } from '../../src/claim/owner.js';
import { createClaimStore } from '../../src/claim/store.js';
import { CnabError } from '../../src/errors.js';
import { startWriter } from './processes.js';
import { NOW, removeFolder, storeIn, TARGET, tempFolder } from './samples.js';

const isAlive = isAliveBy((pid, signal) => process.kill(pid, signal));
const PROBE = { pid: process.pid, isAlive };
const GONE = 0x7ffffff0;

describe('the lock of an installation', () => {
  let home: string;
  let file: string;
  let facts: ProcessFacts;
  const claims = () => storeIn(home).on(TARGET);

  beforeEach(async () => {
    home = await tempFolder();
    file = join(home, 'locks/sandbox/app.json');
    facts = await factsOf(PROBE);
  });
  afterEach(() => removeFolder(home));

  async function put(owner: Partial<LockOwner> | string): Promise<void> {
    await mkdir(dirname(file), { recursive: true });
    const whole = { token: 'a'.repeat(32), ...facts, purpose: 'upgrade', since: '2026-01-01T00:00:00.000Z' };
    await writeFile(file, typeof owner === 'string' ? owner : JSON.stringify({ ...whole, ...owner }));
  }

  async function refusal(): Promise<CnabError> {
    try {
      await (await claims().lock('app', 'test')).release();
    } catch (error) {
      assert.ok(error instanceof CnabError);
      assert.equal(error.code, 'busy');
      return error;
    }
    throw new Error('the lock was given');
  }

  it('is held by one, names that one, and is free again when released', async () => {
    const held = await claims().lock('app', 'install');
    const error = await refusal();
    assert.equal(
      error.message,
      `"app" on sandbox is in use: install by process ${process.pid} on ${hostname()}, since ${new Date(NOW).toISOString()}`,
    );
    assert.deepEqual(error.suggestions, ['wait until it ends, or stop that process']);
    await (await claims().lock('other', 'install')).release();
    await held.release();
    await held.release();
    const again = await claims().lock('app', 'install');
    await held.release();
    await refusal();
    await again.release();
    assert.deepEqual(await readdir(dirname(file)), []);
  });

  it('says who holds it: process, start, boot, namespace, host, purpose and time', async () => {
    const held = await claims().lock('app', 'install');
    const owner = JSON.parse(await readFile(file, 'utf8')) as LockOwner;
    assert.equal(owner.pid, process.pid);
    assert.equal(owner.host, hostname());
    if (process.platform === 'linux') {
      assert.match(owner.started ?? '', /^\d+$/);
      assert.match(owner.bootId ?? '', /^[0-9a-f-]{36}$/);
      assert.match(owner.pidNamespace ?? '', /^pid:/);
    }
    await held.release();
  });

  it('does not remove a lock that somebody else has taken meanwhile', async () => {
    const held = await claims().lock('app', 'install');
    await put({ token: 'b'.repeat(32) });
    await held.release();
    assert.equal(parseOwner(await readFile(file, 'utf8'))?.token, 'b'.repeat(32));
  });

  it('is taken over from a process that is gone', async () => {
    await put({ pid: GONE });
    const held = await claims().lock('app', 'test');
    assert.equal(parseOwner(await readFile(file, 'utf8'))?.pid, process.pid);
    await held.release();
    assert.deepEqual(await readdir(dirname(file)), []);
  });

  it('is taken over when the pid belongs to another process by now', async function () {
    if (facts.started === undefined) return this.skip();
    await put({ started: '1' });
    await (await claims().lock('app', 'test')).release();
  });

  it('is taken over when the machine was started anew and the disk is its own', async function () {
    if (facts.bootId === undefined) return this.skip();
    await put({ bootId: '00000000-0000-0000-0000-000000000000' });
    await (await claims().lock('app', 'test')).release();
  });

  it('is presumed held by a process that cannot be seen, and says how to remove it', async () => {
    const { bootId: _, ...noBoot } = facts;
    for (const owner of [
      { ...facts, pid: GONE, pidNamespace: 'pid:[1]' },
      { ...noBoot, pid: GONE, host: 'elsewhere' },
    ]) {
      await put(JSON.stringify({ token: 'a', ...owner, purpose: 'upgrade', since: '2026-01-01T00:00:00.000Z' }));
      const error = await refusal();
      assert.match(error.message, /upgrade by process 2147483632 on \S+, since 2026-01-01T00:00:00.000Z$/);
      assert.deepEqual(error.suggestions, [
        `if that process is gone (it cannot be seen from ${hostname()}), remove its lock: rm ${file}`,
      ]);
    }
  });

  it('is taken over when its file stayed half written, or is not one of ours', async () => {
    for (const content of ['', '{"pid":12', '{}', 'null', '[]', '{"pid":"1","token":"x"}']) {
      await put(content);
      await (await claims().lock('app', 'test')).release();
      await assert.rejects(stat(file), { code: 'ENOENT' });
    }
  });

  it('is waited for a little while its file is being written', async () => {
    await put('');
    let reads = 0;
    const store = createClaimStore({
      home,
      ...PROBE,
      clock: {
        now: () => NOW,
        sleep: async () => {
          if ((reads += 1) === 3) await put({});
        },
      },
    });
    await assert.rejects(store.on(TARGET).lock('app', 'test'), { code: 'busy' });
    assert.equal(reads, 3);
  });

  it('is taken over from a process that died while it was taking over', async () => {
    await put({ pid: GONE });
    const judged = await readFile(file, 'utf8');
    const guard = createHash('sha256').update(`app.json\0${judged}`).digest('hex').slice(0, 32);
    await writeFile(
      join(dirname(file), `.guard-${guard}`),
      JSON.stringify({ ...(JSON.parse(judged) as object), token: 'c'.repeat(32) }),
    );
    await (await claims().lock('app', 'test')).release();
    assert.deepEqual(await readdir(dirname(file)), []);
  });

  it('of a killed process is free, and what it was writing is swept away', async () => {
    const holder = startWriter(home, 'hold');
    await holder.line();
    await mkdir(join(home, 'targets/sandbox/claims/app'), { recursive: true });
    await writeFile(join(home, 'targets/sandbox/claims/app/.tmp-0123'), 'half');
    const error = await refusal();
    assert.match(error.message, new RegExp(`test by process ${holder.child.pid} on`));
    await holder.kill();
    await (await claims().lock('app', 'test')).release();
    assert.deepEqual(await readdir(join(home, 'targets/sandbox/claims/app')), []);
  });
});

describe('the owner of a lock', () => {
  const owner = async (more: Partial<LockOwner> = {}): Promise<LockOwner> => ({
    token: 'x',
    ...(await factsOf(PROBE)),
    purpose: 'p',
    since: 's',
    ...more,
  });

  it('is alive while it runs', async () => {
    assert.equal(await isDead(await owner(), await factsOf(PROBE), PROBE, '/tmp'), false);
  });

  it('is dead when it was killed and its parent has not reaped it', async () => {
    const folder = await tempFolder();
    await mkdir(join(folder, '77'));
    await writeFile(join(folder, '77/stat'), `77 (a (b) c) Z ${'0 '.repeat(18)}4711 0 0`);
    const probe = { pid: 77, hostname: 'h', isAlive: () => true, procRoot: folder };
    const facts = await factsOf(probe);
    assert.equal(facts.started, '4711');
    const held: LockOwner = { token: 'x', ...facts, purpose: 'p', since: 's' };
    assert.equal(await isDead(held, facts, probe, folder), true);
    await writeFile(join(folder, '77/stat'), `77 (a (b) c) S ${'0 '.repeat(18)}4711 0 0`);
    assert.equal(await isDead(held, facts, probe, folder), false);
    await removeFolder(folder);
  });

  it('is judged by its pid alone where there is no /proc', async () => {
    const probe = { pid: 5, hostname: 'mac', isAlive: (pid: number) => pid === 5, procRoot: '/nonexistent' };
    const facts = await factsOf(probe);
    assert.deepEqual(facts, { pid: 5, host: 'mac' });
    const held: LockOwner = { token: 'x', ...facts, purpose: 'p', since: 's' };
    assert.equal(await isDead(held, facts, probe, '/tmp'), false);
    assert.equal(await isDead({ ...held, pid: 6 }, facts, probe, '/tmp'), true);
    assert.equal(await isDead({ ...held, pid: 6, host: 'other' }, facts, probe, '/tmp'), false);
    assert.equal(await isDead({ ...held, pid: 6, bootId: 'linux' }, facts, probe, '/tmp'), false);
  });

  it("counts as alive when it is another user's", () => {
    const refuse = (code: string) => () => {
      throw Object.assign(new Error(code), { code });
    };
    assert.equal(isAliveBy(refuse('EPERM'))(1), true);
    assert.equal(isAliveBy(refuse('ESRCH'))(1), false);
  });
});
