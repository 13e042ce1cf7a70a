import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, readdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { copyOutputs, outputsFolderOf } from '../../../src/cli/wiring/outputs-folder.js';
import { removeHome, temporaryHome } from '../../helpers/run-cnab.js';

describe('--outputs-dir', () => {
  let home: string;
  const said: string[] = [];
  beforeEach(() => (home = temporaryHome()));
  afterEach(() => {
    removeHome(home);
    said.length = 0;
  });

  async function copy(names: readonly string[], flags: { sensitive?: string[]; included?: string[] } = {}) {
    const outputs = names.map((name, index) => {
      const file = join(home, `staged-${index}`);
      writeFileSync(file, `of ${name}`);
      return { name, file, sensitive: flags.sensitive?.includes(name) ?? false };
    });
    const included = flags.included ?? [];
    const given = { 'outputs-dir': 'out', 'include-sensitive': included };
    const folder = await outputsFolderOf(given, home);
    assert.ok(folder);
    await copyOutputs(folder, (line) => said.push(line))(outputs);
    return Object.fromEntries(
      readdirSync(join(home, 'out'))
        .sort()
        .map((name) => [name, readFileSync(join(home, 'out', name), 'utf8')]),
    );
  }

  it('gets private files, a sensitive one only when it is named', async () => {
    const files = await copy(['url', 'password', 'token'], { sensitive: ['password', 'token'], included: ['token'] });
    assert.deepEqual(files, { url: 'of url', token: 'of token' });
    assert.equal(statSync(join(home, 'out/token')).mode & 0o777, 0o600);
    assert.deepEqual(said, [
      'note: sensitive outputs are not copied to out unless --include-sensitive names them: password',
    ]);
  });

  it('keeps apart names that look like the file in the making, or differ in case alone', async () => {
    assert.deepEqual(await copy(['url.part', 'url']), { 'url.part': 'of url.part', url: 'of url' });
    const files = await copy(['Key', 'key']);
    assert.deepEqual(Object.values(files).sort(), ['of Key', 'of key', 'of url', 'of url.part']);
    assert.equal(new Set(Object.keys(files).map((name) => name.toLowerCase())).size, 4);
  });

  it('writes through no link that lies there', async () => {
    writeFileSync(join(home, 'precious'), 'precious');
    mkdirSync(join(home, 'out'));
    symlinkSync(join(home, 'precious'), join(home, 'out/url'));
    assert.deepEqual(await copy(['url']), { url: 'of url' });
    assert.equal(readFileSync(join(home, 'precious'), 'utf8'), 'precious');
  });

  it('that cannot be made is refused beforehand, and makes nothing', async () => {
    writeFileSync(join(home, 'file'), '');
    for (const folder of ['file', 'file/below', '/dev/null/x']) {
      const error = { code: 'invalid', message: new RegExp(`^the outputs cannot be left in ${folder}: `) };
      await assert.rejects(outputsFolderOf({ 'outputs-dir': folder }, home), error);
    }
    await outputsFolderOf({ 'outputs-dir': 'not/yet' }, home);
    assert.deepEqual(readdirSync(home), ['file']);
  });

  it('that fails afterwards does not say that nothing ran', async () => {
    const folder = { folder: 'file', included: [], cwd: home };
    writeFileSync(join(home, 'file'), '');
    await assert.rejects(copyOutputs(folder, () => undefined)([{ name: 'a', file: '/nowhere', sensitive: false }]), {
      code: 'outputs-incomplete',
      message: /^the outputs are in the record, but cannot be copied to file: /,
    });
  });

  it('is what --include-sensitive is for', async () => {
    assert.equal(await outputsFolderOf({}, home), undefined);
    await assert.rejects(outputsFolderOf({ 'include-sensitive': ['a'] }, home), { code: 'invalid' });
  });
});
