import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createCredentialResolver, sourceFlag, type CredentialOptions } from '../../src/credential/resolve.js';
import { CnabError, type ErrorCode } from '../../src/errors.js';

const FIXTURES = resolve('../shared/conformance/cnab-go/credentials');

describe('credentials', () => {
  let home: string;
  let cwd: string;
  let env: Record<string, string | undefined>;

  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), 'cnab-credentials-'));
    cwd = join(home, 'cwd');
    env = { PATH: process.env['PATH'], TOKEN: 't0ken', EMPTY: '' };
    await mkdir(cwd);
    await mkdir(join(home, 'credentials'));
  });
  afterEach(() => rm(home, { recursive: true }));

  async function store(name: string, sources: Readonly<Record<string, object>>): Promise<void> {
    const credentials = Object.entries(sources).map(([key, source]) => ({ name: key, source }));
    await writeFile(join(home, 'credentials', `${name}.json`), JSON.stringify({ name, credentials }));
  }

  const resolver = (more: Partial<CredentialOptions>) =>
    createCredentialResolver({ sets: [], single: [], env, home, cwd, ...more });

  async function values(names: readonly string[], more: Partial<CredentialOptions>): Promise<Record<string, string>> {
    const found = await resolver(more)(names);
    return Object.fromEntries([...found].map(([name, bytes]) => [name, Buffer.from(bytes).toString('latin1')]));
  }

  async function refusal(
    names: readonly string[],
    more: Partial<CredentialOptions>,
    code: ErrorCode,
  ): Promise<CnabError> {
    try {
      await resolver(more)(names);
    } catch (error) {
      assert.ok(error instanceof CnabError, String(error));
      assert.equal(error.code, code);
      const all = [error.message, ...error.details, ...error.suggestions].join('\n');
      assert.doesNotMatch(all, /t0ken|hunter2/);
      return error;
    }
    throw new Error('it succeeded');
  }

  it("come from cnab-go's own example as cnab-go has them", async function () {
    if (!existsSync(FIXTURES)) {
      this.test!.title += ` (skipped: no ${FIXTURES})`;
      return this.skip();
    }
    await symlink(FIXTURES, join(cwd, 'testdata'));
    env['TEST_USE_VAR'] = 'kakapu';
    const found = await values(['read_file', 'run_program', 'use_var', 'plain_value'], {
      sets: [join(FIXTURES, 'staging-unix.yaml')],
    });
    assert.deepEqual(Object.fromEntries(Object.entries(found).map(([name, value]) => [name, value.trim()])), {
      read_file: 'serval',
      run_program: 'wildebeest',
      use_var: 'kakapu',
      plain_value: 'cassowary',
    });
    assert.equal(found['run_program'], 'wildebeest\n');
  });

  it('keep every byte', async () => {
    await writeFile(join(cwd, 'key'), Buffer.of(0, 255, 10));
    await store('s', {
      path: { path: 'key' },
      value: { value: ' é\n' },
      empty: { env: 'EMPTY' },
      command: { command: String.raw`printf "\377\n"` },
    });
    assert.deepEqual(await values(['path', 'value', 'empty', 'command'], { sets: ['s'] }), {
      path: '\0\xff\n',
      value: Buffer.from(' é\n').toString('latin1'),
      empty: '',
      command: '\xff\n',
    });
  });

  it('are resolved only where they are asked for', async () => {
    await store('s', { a: { env: 'TOKEN' }, broken: { env: 'NOT_SET' }, marker: { command: 'touch ran' } });
    assert.deepEqual(await values(['a', 'unheard-of'], { sets: ['s'] }), { a: 't0ken' });
    assert.equal(existsSync(join(cwd, 'ran')), false);
    assert.deepEqual(await values([], { sets: ['s'] }), {});
  });

  it('come from the last set that has them, and from the flag before any set', async () => {
    await store('one', { a: { value: '1' }, b: { value: '1' }, c: { env: 'NOT_SET' } });
    await store('two', { b: { value: '2' }, c: { value: '2' } });
    const notes: string[] = [];
    const found = await values(['a', 'b', 'c'], {
      sets: ['one', 'two'],
      single: ['c=env:NOT_SET', 'c=env:TOKEN'],
      onNote: (note) => notes.push(note),
    });
    assert.deepEqual(found, { a: '1', b: '2', c: 't0ken' });
    assert.match(notes[0] ?? '', /^credential "b" is taken from .*two\.json:1, not .*one\.json:1$/);
  });

  it('expand variables in the path of a set, and only there', async () => {
    env['DIR'] = cwd;
    await writeFile(join(cwd, 'key'), 'k');
    await writeFile(join(cwd, '$DIR'), 'literal');
    await store('s', { a: { path: '$DIR/key' }, b: { path: '${DIR}/key' }, c: { path: '$HMOE/key' } });
    assert.deepEqual(await values(['a', 'b', 'd'], { sets: ['s'], single: ['d=path:$DIR'] }), {
      a: 'k',
      b: 'k',
      d: 'literal',
    });
    const { details } = await refusal(['c'], { sets: ['s'] }, 'invalid');
    assert.match(details[0] ?? '', /path "\$HMOE\/key" names the variable HMOE, which is not set$/);
  });

  it('come from standard input as it is, once', async () => {
    async function* stdin(): AsyncGenerator<Uint8Array> {
      yield Buffer.from('a\0');
      yield await Promise.resolve(Buffer.from('b\n'));
    }
    assert.deepEqual(await values(['k'], { single: ['k=-'], stdin: stdin() }), { k: 'a\0b\n' });
    assert.throws(() => resolver({ single: ['a=-', 'b=-'] }), /not given in a form/);
    assert.match((await refusal(['k'], { single: ['k=-'] }, 'invalid')).details[0] ?? '', /there is no standard input/);
  });

  it('that fail are named all at once, each with its place, and a flag to paste', async () => {
    execFileSync('mkfifo', [join(cwd, 'unused')]);
    await writeFile(join(cwd, 'large'), Buffer.alloc(1024 * 1024 + 1));
    env['BYTES'] = 'a\ufffd';
    await store('s', {
      'my-token': { env: 'NOT_SET' },
      file: { path: 'nowhere' },
      home: { path: '~/x' },
      folder: { path: '.' },
      large: { path: 'large' },
      bytes: { env: 'BYTES' },
      command: { command: `sh -c "echo hunter2; exit 1"` },
      half: { value: '\ud800' },
      fine: { env: 'TOKEN' },
    });
    const names = ['my-token', 'file', 'home', 'folder', 'large', 'bytes', 'command', 'half', 'fine'];
    const error = await refusal(names, { sets: ['s'], single: ['flag=env:NOT_SET'] }, 'invalid');
    assert.equal(error.message, 'these credentials could not be read:');
    const at = `${join(home, 'credentials/s.json')}:1`;
    assert.deepEqual(error.details, [
      `credential "my-token" (${at}): environment variable NOT_SET is not set`,
      `credential "file" (${at}): file ${join(cwd, 'nowhere')} does not exist`,
      `credential "home" (${at}): file ${join(cwd, '~/x')} does not exist ("~" is not expanded here: write $HOME)`,
      `credential "folder" (${at}): file ${cwd} is a folder`,
      `credential "large" (${at}): file ${join(cwd, 'large')} is larger than 1048576 bytes`,
      `credential "bytes" (${at}): environment variable BYTES is not UTF-8: use a file`,
      `credential "command" (${at}): command "sh" ended with exit code 1`,
      `credential "half" (${at}): the value holds half a surrogate pair, which has no bytes`,
    ]);
    assert.match(
      error.suggestions[0] ?? '',
      /^Name another source for each: --credential my-token=env:MY_TOKEN --credential file=env:FILE /,
    );
    const flag = await refusal(['flag'], { single: ['flag=env:NOT_SET'] }, 'invalid');
    assert.deepEqual(flag.details, ['credential "flag" (--credential): environment variable NOT_SET is not set']);
  });

  it('are read from no set that is missing or broken, and all such sets are named', async () => {
    assert.match((await refusal(['a'], { sets: ['gone'] }, 'not-found')).message, /no credential set "gone"/);
    await writeFile(
      join(home, 'credentials/bad.yaml'),
      'credentials:\n- name: a\n  source: {value: hunter2, env: A}\n',
    );
    const error = await refusal(['a'], { sets: ['gone', 'bad'] }, 'not-found');
    assert.equal(error.message, 'these credential sets cannot be used:');
    assert.match(error.details.join('\n'), /"gone".*\n.*is not valid:\n.*bad\.yaml:2: credential "a": it has several/);
    await mkdir(join(home, 'credentials/dir.yaml'));
    assert.match((await refusal(['a'], { sets: ['dir'] }, 'invalid')).message, /cannot be read: file .* is a folder$/);
  });

  it('are never taken from the command line, and what may be one is not repeated', () => {
    const table: readonly [string, RegExp][] = [
      ['token=hunter2', /not taken from the command line.*write token=env:VAR/],
      ['my token=value:hunter2', /write 'my token=env:VAR'/],
      ['hunter2', /it has no "="/],
      ['=hunter2', /it has no name/],
      ['k=', /not taken from the command line/],
      ['k=env:', /"k" has nothing after "env:"/],
    ];
    for (const [text, expected] of table) {
      assert.throws(
        () => resolver({ single: [text] }),
        (error: unknown) => {
          assert.ok(error instanceof CnabError);
          assert.equal(error.code, 'invalid');
          assert.match(error.details.join('\n'), expected);
          assert.doesNotMatch([error.message, ...error.details, ...error.suggestions].join('\n'), /hunter2/);
          return true;
        },
      );
    }
    assert.throws(
      () => resolver({ single: ['ok=env:A', 'x', 'y=z'] }),
      (error: CnabError) => error.details.length === 2 && /number 2/.test(error.details[0] ?? ''),
    );
  });

  it('have a flag to paste, whatever their name', () => {
    assert.equal(sourceFlag('kubeconfig'), '--credential kubeconfig=env:KUBECONFIG');
    assert.equal(sourceFlag("it's 1"), `--credential 'it'\\''s 1=env:IT_S_1'`);
    assert.equal(sourceFlag('2fa'), '--credential 2fa=env:_2FA');
  });
});
