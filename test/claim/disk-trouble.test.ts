import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { chmod, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { toDiskError } from '../../src/claim/disk-error.js';
import { CnabError } from '../../src/errors.js';
import { claim, idOf, removeFolder, result, storeIn, TARGET, tempFolder, USE } from './samples.js';

const run = promisify(execFile);
const WRITER = fileURLToPath(new URL('writer.ts', import.meta.url));

describe('a claim store that the disk refuses', () => {
  let top: string;

  beforeEach(async () => {
    top = await tempFolder();
  });
  afterEach(async () => {
    await chmod(top, 0o700);
    await removeFolder(top);
  });

  async function everyMethod(home: string, expected: RegExp): Promise<void> {
    const store = storeIn(home);
    const claims = store.on(TARGET);
    const calls = [
      () => store.targets(),
      () => store.targetsOf('app'),
      () => claims.list(),
      () => claims.read('app'),
      () => claims.nextId('app'),
      () => claims.lock('app', 'test'),
      () => claims.saveClaim(claim(idOf(1))),
      () => claims.saveResult('app', result(idOf(2), idOf(1), 'failed')),
      () => claims.output(idOf(2), 'x'),
      () => claims.remove('app'),
      () => claims.openRun('run', USE),
    ];
    for (const [at, call] of calls.entries()) {
      await assert.rejects(call(), (error: unknown) => {
        assert.ok(error instanceof CnabError, `call ${at}: ${String(error)}`);
        assert.match(error.message, expected);
        assert.doesNotMatch(error.message, /\n/);
        return true;
      });
    }
  }

  it('says in one sentence that the home is a file', async () => {
    const home = join(top, 'home');
    await writeFile(home, 'x');
    await everyMethod(home, /^cannot \w+ .*\/home.*: .* file.* \(E\w+\)$/);
    assert.equal(await readFile(home, 'utf8'), 'x');
  });

  it('says in one sentence that a folder above the home is a file', async () => {
    await writeFile(join(top, 'file'), 'x');
    await everyMethod(join(top, 'file', 'home'), /^cannot \w+ .*\/file.*: a part of the path is a file, not a folder/);
  });

  it('refuses a store of a newer version and leaves it alone', async () => {
    const schema = join(top, 'schema.json');
    await writeFile(schema, '{"version":2}');
    await everyMethod(
      top,
      /^the store in .* is of version 2 \(.*schema\.json\), and this program knows version 1 at most$/,
    );
    assert.equal(await readFile(schema, 'utf8'), '{"version":2}');
    assert.deepEqual(await readdir(top), ['schema.json']);
  });

  for (const [title, content] of [
    ['is cut off', '{"versi'],
    ['is empty', ''],
    ['has no version', '{}'],
    ['has a version that is no number', '{"version":"1"}'],
  ] as const) {
    it(`refuses a store whose schema.json ${title}`, async () => {
      await writeFile(join(top, 'schema.json'), content);
      await everyMethod(top, /^cannot tell the version of the store: .*schema\.json: it /);
    });
  }

  it('takes a store of this version with unknown keys', async () => {
    await writeFile(join(top, 'schema.json'), '{"version":1,"more":true}');
    await storeIn(top)
      .on(TARGET)
      .saveClaim(claim(idOf(1)));
    assert.equal((await storeIn(top).on(TARGET).list()).installations.length, 1);
  });

  it('names a folder that may not be written, without a stack', async function () {
    await mkdir(join(top, 'home'), { mode: 0o755 });
    await chmod(top, 0o755);
    // Root is refused nothing, so a process that is nobody tries.
    if (process.getuid?.() !== 0) return this.skip();
    const env = { ...process.env, WRITER_UID: '65534' };
    const argv = ['--import', 'tsx', WRITER, join(top, 'home', 'new'), 'claim'];
    const { stdout } = await run(process.execPath, argv, { env, encoding: 'utf8' });
    const report = JSON.parse(stdout) as { code: string; message: string };
    assert.equal(report.code, 'unavailable');
    assert.match(report.message, /^cannot write \/.*home.*: permission denied \(EACCES\)$/);
  });
});

describe('the translation of disk errors', () => {
  const errno = (code: string, path?: string) =>
    Object.assign(new Error(`${code}: x`), { code, ...(path ? { path } : {}) });

  it('has words and the path for each refusal', () => {
    for (const code of [
      'EACCES',
      'EPERM',
      'EROFS',
      'ENOSPC',
      'EDQUOT',
      'ENOTDIR',
      'EIO',
      'ESTALE',
      'EMFILE',
      'EWHATEVER',
    ]) {
      const error = toDiskError(errno(code), 'write', '/home/x');
      assert.ok(error instanceof CnabError);
      assert.equal(error.code, 'unavailable');
      assert.match(error.message, new RegExp(`^cannot write /home/x: .*${code}`));
    }
    assert.match(String(toDiskError(errno('EIO', '/the/file'), 'read', '/home')), /cannot read \/the\/file: /);
  });

  it('leaves our own bugs and our own errors as they are', () => {
    const own = new CnabError('busy', 'x');
    for (const error of [own, new TypeError('x'), Object.assign(new Error('x'), { code: 'ERR_INVALID_ARG' }), 'text']) {
      assert.equal(toDiskError(error, 'write', '/x'), error);
    }
  });
});

describe('a home where no folder can be made', () => {
  // Node's own recursive mkdir never comes back from here: it takes the ENOENT of mkdir(2) for a missing parent.
  it('is refused at once, though its parent answers that it is missing', async function () {
    if (process.platform !== 'linux') return this.skip();
    const store = storeIn('/proc/no-home/cnab');
    await assert.rejects(store.on(TARGET).saveClaim(claim(idOf(1))), {
      code: 'unavailable',
      message: /\/proc\/no-home/,
    });
  });
});
