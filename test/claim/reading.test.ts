import assert from 'node:assert/strict';
import { mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { execFileSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import type { TargetClaims } from '../../src/claim/claim-store.js';
import { statusOf } from '../../src/claim/status.js';
import { claim, idOf, removeFolder, result, storeIn, TARGET, tempFolder } from './samples.js';

describe('reading a claim store', () => {
  let home: string;
  let target: string;
  let claims: TargetClaims;

  beforeEach(async () => {
    home = await tempFolder();
    target = join(home, 'targets/sandbox');
    claims = storeIn(home).on(TARGET);
    await claims.saveClaim(claim(idOf(1)));
    await claims.saveResult('app', result(idOf(2), idOf(1), 'succeeded'));
  });
  afterEach(() => removeFolder(home));

  async function put(path: string, content: string | object): Promise<string> {
    const file = join(target, path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, typeof content === 'string' ? content : JSON.stringify(content));
    return file;
  }

  async function statuses(name = 'app'): Promise<readonly string[]> {
    return ((await claims.read(name))?.records ?? []).map(statusOf);
  }

  it('keeps unknown keys of claims, bundles and results', async () => {
    const odd = { ...claim(idOf(3)), extra: 1, bundle: { ...claim(idOf(3)).bundle, 'x-own': [1] } };
    await put(`claims/app/${idOf(3)}.json`, odd);
    await put(`results/${idOf(3)}/${idOf(4)}.json`, { ...result(idOf(4), idOf(3), 'failed'), 'x-own': true });
    const record = (await claims.read('app'))?.records[1];
    assert.deepEqual(record?.claim, odd);
    assert.equal((record?.results[0] as unknown as Record<string, unknown>)['x-own'], true);
  });

  it('reads "cancelled" as canceled and an unheard-of status as unknown', async () => {
    await put(`results/${idOf(1)}/${idOf(3)}.json`, { ...result(idOf(3), idOf(1), 'failed'), status: 'cancelled' });
    assert.deepEqual(await statuses(), ['canceled']);
    await put(`results/${idOf(1)}/${idOf(4)}.json`, { ...result(idOf(4), idOf(1), 'failed'), status: 'success' });
    assert.deepEqual(await statuses(), ['unknown']);
  });

  it('orders by id alone, whatever created says and in whatever order the files came', async () => {
    await claims.saveClaim(claim(idOf(30), 'uninstall', { created: '1999-01-01T00:00:00Z' }));
    await claims.saveClaim(claim(idOf(20), 'upgrade', { created: '2050-01-01T00:00:00Z' }));
    await claims.saveClaim(claim('01G1VJGY43HT3KZN82DS6DDIWK', 'logs'));
    const ids = (await claims.read('app'))?.records.map((record) => record.claim.id);
    assert.deepEqual(ids, [idOf(1), idOf(20), idOf(30), '01G1VJGY43HT3KZN82DS6DDIWK']);
  });

  it('takes a claim without results as unknown', async () => {
    await claims.saveClaim(claim(idOf(5), 'upgrade'));
    assert.deepEqual(await statuses(), ['succeeded', 'unknown']);
  });

  it('takes a result by the folder it lies in, not by the claim that it names', async () => {
    await put(`results/${idOf(1)}/${idOf(3)}.json`, result(idOf(3), idOf(9), 'failed'));
    assert.deepEqual(await statuses(), ['failed']);
  });

  it('tolerates a result whose output file is gone, and output files that no result has', async () => {
    await put(`outputs/${idOf(8)}/${idOf(8)}-orphan`, 'x');
    await put(
      `results/${idOf(1)}/${idOf(3)}.json`,
      result(idOf(3), idOf(1), 'succeeded', { outputs: { gone: { contentDigest: 'sha256:1' } } }),
    );
    assert.deepEqual(await statuses(), ['succeeded']);
    assert.equal(await claims.output(idOf(3), 'gone'), undefined);
    assert.deepEqual((await claims.list()).damaged, []);
  });

  it('makes strings of the metadata that another writer left as booleans', async () => {
    const outputs = { a: { generatedByBundle: true, size: 3, nested: {} }, b: null };
    await put(`results/${idOf(1)}/${idOf(3)}.json`, { ...result(idOf(3), idOf(1), 'succeeded'), outputs });
    const read = (await claims.read('app'))?.records[0]?.results[1]?.outputs;
    assert.deepEqual(read, { a: { generatedByBundle: 'true', size: '3' }, b: {} });
  });

  it('names half a claim, shows the rest in a list, and refuses to act on it', async () => {
    await claims.saveClaim(claim(idOf(7), 'install', { installation: 'other' }));
    const file = await put(`claims/app/${idOf(5)}.json`, `{"id":"${idOf(5)}","parameters":{"password":"hunter2`);
    const list = await claims.list();
    assert.deepEqual(
      list.installations.map(({ name }) => name),
      ['app', 'other'],
    );
    assert.deepEqual(list.damaged, [{ file, reason: 'it is not JSON, or was cut off' }]);
    await assert.rejects(claims.read('app'), (error: Error & { code?: string }) => {
      assert.equal(error.code, 'invalid');
      assert.equal(error.message, `a record of "app" cannot be read: ${file}: it is not JSON, or was cut off`);
      return true;
    });
    assert.equal((await claims.read('other'))?.name, 'other');
    await rename(file, `${file}.damaged`);
    assert.deepEqual(await statuses(), ['succeeded']);
  });

  it('shows a claim whose newest result is damaged as unknown, never as what it was before', async () => {
    const file = await put(`results/${idOf(1)}/${idOf(3)}.json`, '');
    const list = await claims.list();
    assert.deepEqual(list.damaged, [{ file, reason: 'it is empty' }]);
    assert.deepEqual(list.installations[0]?.records.map(statusOf), ['unknown']);
    await assert.rejects(claims.read('app'), /results.*it is empty/);
  });

  it('names every damaged record at once', async () => {
    await put(`claims/app/${idOf(5)}.json`, '[]');
    await put(`claims/app/${idOf(6)}.json`, { ...claim(idOf(6)), bundle: null });
    await put(`claims/app/${idOf(7)}.json`, claim(idOf(6)));
    await put(`claims/app/${idOf(8)}.json`, claim(idOf(8), 'install', { installation: 'other' }));
    await put(`claims/app/${idOf(9)}.json`, { ...claim(idOf(9)), id: undefined });
    await mkdir(join(target, `claims/app/${idOf(10)}.json`));
    execFileSync('mkfifo', [join(target, `claims/app/${idOf(11)}.json`)]);
    await symlink('nowhere', join(target, `claims/app/${idOf(12)}.json`));
    const { damaged } = await claims.list();
    assert.deepEqual(
      damaged.map(({ reason }) => reason),
      [
        'it is not a JSON object',
        'it has no "bundle"',
        `its id "${idOf(6)}" is not that of its file name, which a copy would have`,
        'it is a claim of another installation, "other"',
        'it has no "id"',
        'it is not a regular file',
        'it is not a regular file',
      ],
    );
    await assert.rejects(claims.read('app'), (error: Error & { details?: readonly string[] }) => {
      assert.equal(error.details?.length, 6);
      return true;
    });
  });

  it('hides nothing behind one place that cannot be read: a loop of links, a file where a folder is expected', async () => {
    const looped = join(target, `claims/app/${idOf(5)}.json`);
    await symlink(`${idOf(5)}.json`, looped);
    const stray = await put('claims/desktop.ini', 'x');
    await claims.saveClaim(claim(idOf(6), 'upgrade'));
    const results = await put(`results/${idOf(6)}`, 'x');
    const list = await claims.list();
    assert.deepEqual(list.installations[0]?.records.map(statusOf), ['succeeded', 'unknown']);
    assert.deepEqual(
      list.damaged.map(({ file }) => file),
      [looped, results, stray],
    );
    assert.match(list.damaged[0]?.reason ?? '', /symbolic links \(ELOOP\)/);
    await assert.rejects(claims.read('app'), { code: 'invalid' });
  });

  it('takes no file among the targets for one', async () => {
    await writeFile(join(home, 'targets/notes.txt'), 'x');
    assert.deepEqual(await storeIn(home).targets(), [TARGET]);
    assert.deepEqual(await storeIn(home).targetsOf('app'), [TARGET]);
  });

  it('takes no temporary file, backup or note for a record', async () => {
    for (const name of ['.tmp-0123', '.tmp-0123.json', `${idOf(5)}.json.damaged`, 'notes.txt', '.DS_Store', '.json']) {
      await put(`claims/app/${name}`, 'x');
      await put(`results/${idOf(1)}/${name}`, 'x');
    }
    await put('claims/.DS_Store', 'x');
    assert.deepEqual(await statuses(), ['succeeded']);
    assert.deepEqual((await claims.list()).damaged, []);
    assert.deepEqual(await storeIn(home).targetsOf('app'), [TARGET]);
  });

  it('does not take a marker without claims for an installation', async () => {
    await put('installations/ghost', '');
    await mkdir(join(target, 'claims/ghost'));
    assert.equal(await claims.read('ghost'), undefined);
    assert.deepEqual(
      (await claims.list()).installations.map(({ name }) => name),
      ['app'],
    );
    assert.deepEqual(await storeIn(home).targetsOf('ghost'), []);
  });

  it('still finds the installations of a target whose description is damaged, and reports the file', async () => {
    const file = await put('target.json', '{"id":');
    assert.deepEqual(await storeIn(home).targets(), [TARGET]);
    assert.deepEqual(await storeIn(home).targetsOf('app'), [TARGET]);
    assert.deepEqual((await claims.list()).damaged, [{ file, reason: 'it is not JSON, or was cut off' }]);
    await put('target.json', { id: 'elsewhere', driver: 'kubernetes', label: 'x' });
    assert.deepEqual((await claims.list()).damaged, [{ file, reason: 'it describes another target, "elsewhere"' }]);
    await rm(file);
    assert.deepEqual(await storeIn(home).targets(), [TARGET]);
    await claims.saveClaim(claim(idOf(5), 'upgrade'));
    assert.deepEqual((await claims.list()).damaged, []);
  });

  it('removes a damaged installation whole', async () => {
    await put(`claims/app/${idOf(5)}.json`, '{"id"');
    await put(`results/${idOf(5)}/${idOf(6)}.json`, '');
    await put(`outputs/${idOf(6)}/${idOf(6)}-key`, 'secret');
    await claims.remove('app');
    assert.deepEqual(await claims.list(), { installations: [], damaged: [] });
    assert.equal(await claims.output(idOf(6), 'key'), undefined);
  });
});
