import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { chmod, mkdtemp, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createFile, linkFile, makeFolder, replaceFile } from '../../src/claim/atomic-write.js';
import { removeFolder, tempFolder } from './samples.js';

describe('atomic writing', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await tempFolder();
  });
  afterEach(() => removeFolder(folder));

  it('creates a file once and leaves nothing else behind', async () => {
    const path = join(folder, 'a');
    assert.equal(await createFile(path, 'one'), true);
    assert.equal(await createFile(path, 'two'), false);
    assert.equal(await readFile(path, 'utf8'), 'one');
    assert.deepEqual(await readdir(folder), ['a']);
  });

  it('lets one of many that create the same file win, whole', async () => {
    const path = join(folder, 'a');
    const won = await Promise.all(Array.from({ length: 20 }, (_, at) => createFile(path, String(at).repeat(5000))));
    assert.equal(won.filter(Boolean).length, 1);
    assert.equal(await readFile(path, 'utf8'), String(won.indexOf(true)).repeat(5000));
    assert.deepEqual(await readdir(folder), ['a']);
  });

  it('does not write through a link that lies at the name', async () => {
    await writeFile(join(folder, 'victim'), 'safe');
    await symlink('victim', join(folder, 'a'));
    assert.equal(await createFile(join(folder, 'a'), 'x'), false);
    await replaceFile(join(folder, 'a'), 'x');
    assert.equal(await readFile(join(folder, 'victim'), 'utf8'), 'safe');
    assert.equal(await readFile(join(folder, 'a'), 'utf8'), 'x');
  });

  it('leaves nothing behind when it fails', async () => {
    await makeFolder(join(folder, 'a'));
    await assert.rejects(replaceFile(join(folder, 'a'), 'x'), { code: 'EISDIR' });
    assert.deepEqual(await readdir(folder), ['a']);
  });

  it('makes a folder with its parents and keeps the mode of one that is there', async () => {
    await makeFolder(join(folder, 'x/y/z'));
    await chmod(join(folder, 'x'), 0o755);
    await makeFolder(join(folder, 'x/y'));
    await makeFolder(join(folder, 'x'));
    assert.equal((await stat(join(folder, 'x'))).mode & 0o777, 0o755);
    assert.equal((await stat(join(folder, 'x/y/z'))).mode & 0o777, 0o700);
  });

  it('moves a file to another file system byte for byte', async function () {
    if (!existsSync('/dev/shm') || (await stat('/dev/shm')).dev === (await stat(folder)).dev) {
      this.test!.title += ' (skipped: there is one file system only)';
      return this.skip();
    }
    const other = await mkdtemp('/dev/shm/cnab-');
    try {
      const bytes = Buffer.alloc(300_000, 'random\0');
      await writeFile(join(other, 'staged'), bytes, { mode: 0o644 });
      await linkFile(join(other, 'staged'), join(folder, 'moved'), true);
      assert.deepEqual(await readdir(other), ['staged']);
      await linkFile(join(other, 'staged'), join(folder, 'moved'), false);
      assert.deepEqual(await readFile(join(folder, 'moved')), bytes);
      assert.equal((await stat(join(folder, 'moved'))).mode & 0o777, 0o600);
      assert.deepEqual([await readdir(other), await readdir(folder)], [[], ['moved']]);
    } finally {
      await removeFolder(other);
    }
  });

  it('gives a file a second name, 0600, in place of what had that, and never one of a link', async () => {
    const [staged, kept] = [join(folder, 'staged'), join(folder, 'kept')];
    await writeFile(staged, 'one', { mode: 0o644 });
    await writeFile(kept, 'in the way');
    await linkFile(staged, kept, false);
    await linkFile(staged, kept, false);
    assert.deepEqual([await readFile(kept, 'utf8'), await readFile(staged, 'utf8')], ['one', 'one']);
    assert.deepEqual([(await stat(kept)).ino, (await stat(kept)).mode & 0o777], [(await stat(staged)).ino, 0o600]);
    await symlink(staged, join(folder, 'link'));
    await assert.rejects(linkFile(join(folder, 'link'), kept, false), { code: 'ELOOP' });
  });
});
