import assert from 'node:assert/strict';
import { chmod, lstat, mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { TargetClaims } from '../../src/claim/claim-store.js';
import { BUNDLE, claim, idOf, removeFolder, result, storeIn, TARGET, tempFolder, USE } from './samples.js';

describe('the claim store', () => {
  let top: string;
  let home: string;
  let claims: TargetClaims;

  beforeEach(async () => {
    top = await tempFolder();
    home = join(top, 'share', 'cnab');
    claims = storeIn(home).on(TARGET);
  });
  afterEach(() => removeFolder(top));

  async function staged(name: string, content: string | Uint8Array): Promise<string> {
    const run = await claims.openRun('run', USE);
    await run.close();
    const file = join(run.staging, name);
    await writeFile(file, content);
    return file;
  }

  it('is empty, and writes nothing, where there is no home', async () => {
    const store = storeIn(home);
    assert.deepEqual(await store.targets(), []);
    assert.deepEqual(await store.targetsOf('app'), []);
    assert.deepEqual(await claims.list(), { installations: [], damaged: [] });
    assert.equal(await claims.read('app'), undefined);
    assert.equal(await claims.output(idOf(1), 'x'), undefined);
    assert.match(await claims.nextId('app'), /^0[0-9A-Z]{25}$/);
    await claims.remove('app');
    await assert.rejects(stat(home), { code: 'ENOENT' });
  });

  it('gives back what was saved', async () => {
    const first = claim(idOf(1), 'install', { parameters: { port: 80 }, custom: ['anything'] });
    await claims.saveClaim(first);
    await claims.saveResult('app', result(idOf(2), idOf(1), 'running'));
    const file = await staged('0', Uint8Array.of(0, 255, 10));
    const final = result(idOf(3), idOf(1), 'succeeded', { outputs: { greeting: { contentDigest: 'sha256:x' } } });
    await claims.saveResult('app', final, [{ name: 'greeting', file }]);

    const installation = await claims.read('app');
    assert.deepEqual(installation, {
      name: 'app',
      records: [{ claim: first, results: [result(idOf(2), idOf(1), 'running'), final] }],
    });
    assert.deepEqual(await claims.list(), { installations: [installation], damaged: [] });
    const output = await claims.output(idOf(3), 'greeting');
    assert.equal(output?.size, 3);
    assert.deepEqual(await readFile(output?.file ?? ''), Buffer.of(0, 255, 10));
    // A process that is killed between outputs and result finds them again where they were staged.
    assert.deepEqual(await readFile(file), Buffer.of(0, 255, 10));
    assert.deepEqual(await storeIn(home).targets(), [TARGET]);
    assert.deepEqual(await storeIn(home).targetsOf('app'), [TARGET]);
    assert.deepEqual(await storeIn(home).targetsOf('other'), []);
  });

  it("lies on disk in cnab-go's layout, one tree per target", async () => {
    await claims.saveClaim(claim(idOf(1)));
    await claims.saveResult('app', result(idOf(2), idOf(1), 'succeeded'), [
      { name: 'a/b', file: await staged('0', 'x') },
    ]);
    const tree = (await readdir(join(home, 'targets'), { recursive: true })).sort();
    assert.deepEqual(tree, [
      'sandbox',
      'sandbox/claims',
      'sandbox/claims/app',
      `sandbox/claims/app/${idOf(1)}.json`,
      'sandbox/installations',
      'sandbox/installations/app',
      'sandbox/outputs',
      `sandbox/outputs/${idOf(2)}`,
      `sandbox/outputs/${idOf(2)}/${idOf(2)}-a%2Fb`,
      'sandbox/results',
      `sandbox/results/${idOf(1)}`,
      `sandbox/results/${idOf(1)}/${idOf(2)}.json`,
      'sandbox/target.json',
    ]);
    assert.deepEqual(JSON.parse(await readFile(join(home, 'schema.json'), 'utf8')), { version: 1, claims: '1.0.0' });
  });

  it('makes folders 0700 and files 0600, whatever the umask, and leaves folders that were there', async () => {
    const before = process.umask(0);
    try {
      await mkdir(join(top, 'share'), { mode: 0o755 });
      await claims.saveClaim(claim(idOf(1)));
      const file = await staged('0', 'x');
      await chmod(file, 0o666);
      await claims.saveResult('app', result(idOf(2), idOf(1), 'succeeded'), [{ name: 'o', file }]);
      const run = await claims.openRun('run', USE);
      await run.saveState({ a: 1 });
      await run.close();
      const lock = await claims.lock('app', 'test');
      const locked = await readdir(home, { recursive: true });
      await lock.release();
      for (const name of locked) {
        if (name.endsWith('sandbox/app.json')) continue;
        const stats = await lstat(join(home, name));
        assert.equal(stats.mode & 0o777, stats.isDirectory() ? 0o700 : 0o600, name);
      }
      assert.ok(locked.some((name) => name.startsWith('locks/')));
      assert.equal((await stat(join(top, 'share'))).mode & 0o777, 0o755);
      assert.equal((await stat(home)).mode & 0o777, 0o700);
    } finally {
      process.umask(before);
    }
  });

  it('never changes a record', async () => {
    await claims.saveClaim(claim(idOf(1)));
    await assert.rejects(claims.saveClaim(claim(idOf(1), 'upgrade')), {
      name: 'CnabError',
      code: 'wrong-state',
      message: /recorded already.*claims\/app\/01ARZ/,
    });
    await claims.saveResult('app', result(idOf(2), idOf(1), 'running'));
    const file = await staged('0', 'x');
    await assert.rejects(
      claims.saveResult('app', result(idOf(2), idOf(1), 'failed'), [{ name: 'o', file }]),
      /recorded already/,
    );
    assert.equal(await readFile(file, 'utf8'), 'x');
    const record = (await claims.read('app'))?.records[0];
    assert.deepEqual([record?.claim.action, record?.results[0]?.status], ['install', 'running']);
  });

  it('keeps outputs of any name apart, with their bytes', async () => {
    const names = [
      'a\nb',
      '../../etc/passwd',
      '-rf',
      '..',
      '.',
      '',
      'x'.repeat(300),
      'Key',
      'key',
      'KEY',
      '\ud800',
      'a/b',
      'é',
    ];
    await claims.saveClaim(claim(idOf(1)));
    const outputs = [];
    for (const [at, name] of names.entries()) outputs.push({ name, file: await staged(String(at), `content ${at}`) });
    await claims.saveResult('app', result(idOf(2), idOf(1), 'succeeded'), outputs);
    for (const [at, name] of names.entries()) {
      const stored = await claims.output(idOf(2), name);
      assert.equal(await readFile(stored?.file ?? '', 'utf8'), `content ${at}`, JSON.stringify(name));
      assert.equal(stored?.name, name);
    }
    assert.equal(await claims.output(idOf(2), 'kEY'), undefined);
    const files = await readdir(join(home, 'targets/sandbox/outputs', idOf(2)));
    assert.equal(new Set(files.map((file) => file.toLowerCase())).size, names.length);
  });

  it('keeps installations apart by target and by name', async () => {
    const other = storeIn(home).on({ id: 'kubernetes-x', driver: 'kubernetes', label: 'prod/x', namespace: 'x' });
    await claims.saveClaim(claim(idOf(1)));
    await other.saveClaim(claim(idOf(1), 'install', { installation: 'App' }));
    await other.saveClaim(claim(idOf(2), 'install', { installation: '../app' }));
    assert.deepEqual(
      (await claims.list()).installations.map(({ name }) => name),
      ['app'],
    );
    assert.deepEqual((await other.list()).installations.map(({ name }) => name).sort(), ['../app', 'App']);
    assert.deepEqual(
      (await storeIn(home).targets()).map(({ label }) => label),
      ['prod/x', 'sandbox'],
    );
    assert.deepEqual(
      (await storeIn(home).targetsOf('App')).map(({ id }) => id),
      ['kubernetes-x'],
    );
  });

  it('remembers how a target was last seen', async () => {
    await claims.saveClaim(claim(idOf(1)));
    await storeIn(home)
      .on({ ...TARGET, label: 'renamed', user: 'alice' })
      .saveClaim(claim(idOf(2), 'upgrade'));
    assert.deepEqual(await storeIn(home).targets(), [{ ...TARGET, label: 'renamed', user: 'alice' }]);
  });

  it('removes what a killed run left, its staged outputs too, and nothing of another run', async () => {
    await claims.saveClaim(claim(idOf(1)));
    const killed = await claims.openRun(idOf(1), USE);
    const other = await claims.openRun(idOf(9), USE);
    await writeFile(join(killed.staging, '0.part'), 'secret');
    await killed.close();
    await claims.remove('app');
    assert.deepEqual(await readdir(join(home, 'runs')), [idOf(9)]);
    await other.remove();
  });

  it('removes all of one installation and nothing of another', async () => {
    for (const name of ['app', 'app2']) {
      const base = name === 'app' ? 10 : 20;
      await claims.saveClaim(claim(idOf(base), 'install', { installation: name, bundle: BUNDLE }));
      const file = await staged(name, 'x');
      await claims.saveResult(name, result(idOf(base + 1), idOf(base), 'succeeded'), [{ name: 'o', file }]);
    }
    await claims.remove('app');
    await claims.remove('app');
    assert.equal(await claims.read('app'), undefined);
    assert.equal((await claims.read('app2'))?.records.length, 1);
    const left = await readdir(join(home, 'targets'), { recursive: true });
    assert.deepEqual(
      left.filter((name) => name.includes(idOf(10)) || name.includes(idOf(11))),
      [],
    );
    assert.ok(left.some((name) => name.endsWith(`${idOf(21)}-o`)));
    assert.deepEqual(await readdir(join(home, 'targets/sandbox/installations')), ['app2']);
  });

  it('refuses a result whose claim was removed, and leaves its outputs where they were', async () => {
    await claims.saveClaim(claim(idOf(1)));
    await claims.remove('app');
    const file = await staged('0', 'x');
    await assert.rejects(claims.saveResult('app', result(idOf(2), idOf(1), 'succeeded'), [{ name: 'o', file }]), {
      code: 'not-found',
    });
    assert.equal(await readFile(file, 'utf8'), 'x');
  });

  it('keeps the state of a run until it is removed', async () => {
    const run = await claims.openRun('01/run', USE);
    assert.equal(await run.readState(), undefined);
    await run.saveState({ job: 'a' });
    await run.saveState({ job: 'b' });
    await run.close();
    const whose = { claim: '01/run', installation: 'app', target: TARGET.id };
    const again = await storeIn(home).on(TARGET).openRun('01/run', USE);
    assert.deepEqual(await again.readState(), { ...whose, job: 'b' });
    await again.close();
    await writeFile(join(home, 'runs/01%2Frun/state.json'), '{"job":');
    await assert.rejects(run.readState(), { code: 'invalid', message: /state\.json: it is not JSON/ });
    await run.remove();
    await run.remove();
    assert.deepEqual(await readdir(join(home, 'runs')), []);
  });

  it('leaves outputs where they were staged, and nowhere else, when the result cannot be written', async () => {
    await claims.saveClaim(claim(idOf(1)));
    const [a, b] = [await staged('a', 'one'), await staged('b', 'two')];
    const outputs = [
      { name: 'a', file: a },
      { name: 'b', file: b },
    ];
    await writeFile(join(home, 'targets/sandbox/results'), 'a file where the folder should be');
    await assert.rejects(claims.saveResult('app', result(idOf(2), idOf(1), 'succeeded'), outputs), {
      code: 'unavailable',
    });
    assert.deepEqual([await readFile(a, 'utf8'), await readFile(b, 'utf8')], ['one', 'two']);
    assert.deepEqual(await readdir(join(home, 'targets/sandbox/outputs')).catch(() => []), []);
    await removeFolder(join(home, 'targets/sandbox/results'));
    await claims.saveResult('app', result(idOf(2), idOf(1), 'succeeded'), outputs);
    assert.equal((await claims.output(idOf(2), 'b'))?.size, 3);
  });

  it('never moves what a symbolic link points to', async () => {
    await claims.saveClaim(claim(idOf(1)));
    const { staging } = await claims.openRun('run', USE);
    const { symlink } = await import('node:fs/promises');
    await symlink('/etc/hostname', join(staging, 'link'));
    await assert.rejects(
      claims.saveResult('app', result(idOf(2), idOf(1), 'succeeded'), [{ name: 'o', file: join(staging, 'link') }]),
      { code: 'unavailable', message: /symbolic links/ },
    );
  });
});
