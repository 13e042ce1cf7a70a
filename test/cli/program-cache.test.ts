import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadProgram } from '../../bin/program.js';

interface Started {
  readonly answer: unknown;
  /** The process ends. */
  readonly end: () => void;
}

describe('the cache of compiled code', () => {
  let folder: string;
  let lib: string;
  let caches: string;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'cnab-cache-test-'));
    lib = join(folder, 'lib');
    caches = join(folder, 'cache/cnab');
    mkdirSync(lib);
    writeFileSync(join(lib, 'digest'), 'first');
    writeFileSync(
      join(lib, 'main.cjs'),
      `exports.answer = () => require('./part.cjs').answer + require('node:path').sep;`,
    );
    writeFileSync(join(lib, 'part.cjs'), `exports.answer = 'one';`);
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  function start(word = 'list', env: Record<string, string> = {}): Started {
    let end = () => {};
    const program = loadProgram(lib, {
      argv: ['node', 'cnab', word],
      env: { XDG_CACHE_HOME: join(folder, 'cache'), ...env },
      getuid: () => process.getuid?.() ?? -1,
      versions: process.versions,
      arch: process.arch,
      on: (_event, listener) => (end = listener),
    }) as { answer: () => unknown };
    return { answer: program.answer(), end: () => end() };
  }

  function run(word?: string, env?: Record<string, string>): unknown {
    const { answer, end } = start(word, env);
    end();
    return answer;
  }

  const cacheFiles = (): string[] => readdirSync(caches).map((name) => join(caches, name));
  const inode = (): number => statSync(cacheFiles()[0] ?? '').ino;

  it('is made by the first run for its user alone, and taken by the next, which makes no other', () => {
    assert.equal(run(), 'one/');
    assert.equal(cacheFiles().length, 1);
    assert.equal(statSync(cacheFiles()[0] ?? '').mode & 0o777, 0o600);
    assert.equal(statSync(caches).mode & 0o777, 0o700);
    const made = inode();
    assert.equal(run(), 'one/');
    assert.equal(inode(), made);
  });

  it('grows with each command and stays when all have been there', () => {
    run('list');
    const first = inode();
    run('show');
    const second = inode();
    assert.notEqual(second, first);
    run('list');
    run('show');
    assert.equal(inode(), second);
  });

  it('is another one for another build: V8 itself takes one source for another of the same length', () => {
    assert.equal(run(), 'one/');
    writeFileSync(join(lib, 'part.cjs'), `exports.answer = 'two';`);
    writeFileSync(join(lib, 'digest'), 'second');
    assert.equal(run(), 'two/');
    assert.equal(run(), 'two/');
    assert.equal(cacheFiles().length, 2);
  });

  it('is kept for the last four builds', () => {
    for (let build = 0; build < 6; build++) {
      writeFileSync(join(lib, 'digest'), `build ${build}`);
      run();
    }
    assert.equal(cacheFiles().length, 4);
    const made = cacheFiles().map((file) => statSync(file).ino);
    run();
    assert.deepEqual(
      cacheFiles().map((file) => statSync(file).ino),
      made,
      'the newest is among them',
    );
  });

  const damages: readonly [string, (file: string) => void][] = [
    ['is empty', (file) => writeFileSync(file, '')],
    ['is garbage', (file) => writeFileSync(file, Buffer.alloc(5000, 7))],
    ['can be written by others', (file) => chmodSync(file, 0o666)],
    [
      'is a link to such a file',
      (file) => {
        rmSync(file);
        symlinkSync('/etc/passwd', file);
      },
    ],
  ];
  for (const [what, damage] of damages) {
    it(`is not taken, and is made anew, where it ${what}`, () => {
      run();
      const [file = ''] = cacheFiles();
      damage(file);
      const damaged = inode();
      assert.equal(run(), 'one/');
      assert.notEqual(inode(), damaged);
      assert.equal(statSync(file).mode & 0o777, 0o600);
    });
  }

  it('may be missing: where no folder can be made, where there is no home, where Node is told to keep none', () => {
    writeFileSync(join(folder, 'cache'), 'a file');
    assert.equal(run(), 'one/');
    rmSync(join(folder, 'cache'));
    assert.equal(run('list', { XDG_CACHE_HOME: '', HOME: '' }), 'one/');
    assert.equal(run('list', { XDG_CACHE_HOME: 'relative' }), 'one/');
    assert.equal(run('list', { NODE_DISABLE_COMPILE_CACHE: '1' }), 'one/');
    assert.deepEqual(readdirSync(folder), ['lib']);
  });
});
