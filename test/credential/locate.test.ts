import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { locateSet, setNames } from '../../src/credential/locate.js';
import { CnabError, type ErrorCode } from '../../src/errors.js';

describe('finding a set by NAME or FILE', () => {
  let top: string;
  let home: string;
  let cwd: string;

  beforeEach(async () => {
    top = await mkdtemp(join(tmpdir(), 'cnab-locate-'));
    home = join(top, 'home');
    cwd = join(top, 'cwd');
    await mkdir(join(home, 'credentials'), { recursive: true });
    await mkdir(cwd);
  });
  afterEach(() => rm(top, { recursive: true }));

  const find = async (given: string, anyFile = false) =>
    (await locateSet(given, 'credential', { home, cwd, anyFile })).path;

  async function refusal(given: string, code: ErrorCode): Promise<CnabError> {
    const error = await find(given).catch((thrown: unknown) => thrown);
    assert.ok(error instanceof CnabError, String(error));
    assert.equal(error.code, code);
    return error;
  }

  it('takes a name for a stored set, with any of three endings', async () => {
    for (const file of ['a.yaml', 'b.yml', 'c.json', 'with.dot.yaml'])
      await writeFile(join(home, 'credentials', file), '');
    assert.equal(await find('a'), join(home, 'credentials/a.yaml'));
    assert.equal(await find('b'), join(home, 'credentials/b.yml'));
    assert.equal(await find('c'), join(home, 'credentials/c.json'));
    assert.equal(await find('with.dot'), join(home, 'credentials/with.dot.yaml'));
    assert.deepEqual(await setNames(home, 'credential'), ['a', 'b', 'c', 'with.dot']);
  });

  it('takes what has a slash, or exists with such an ending, for a file', async () => {
    await writeFile(join(cwd, 'x.yaml'), '');
    await writeFile(join(cwd, 'plain'), '');
    assert.equal(await find('x.yaml'), join(cwd, 'x.yaml'));
    assert.equal(await find('./plain'), join(cwd, 'plain'));
    assert.equal(await find(join(cwd, 'plain')), join(cwd, 'plain'));
    assert.equal(await find('plain', true), join(cwd, 'plain'));
  });

  it('says where a missing set would be, and which there are', async () => {
    const none = await refusal('staging', 'not-found');
    assert.equal(
      none.message,
      `there is no credential set "staging": it would be ${join(home, 'credentials/staging.yaml')}`,
    );
    assert.deepEqual(none.suggestions, [`there is no credential set in ${join(home, 'credentials')} yet`]);
    for (const file of ['b.yml', 'a.yaml', '.hidden.yaml', 'notes.txt'])
      await writeFile(join(home, 'credentials', file), '');
    assert.deepEqual((await refusal('staging', 'not-found')).suggestions, ['sets that exist: a, b']);
    assert.match((await refusal('x.yaml', 'not-found')).message, /nor is there a file .*cwd\/x\.yaml$/);
    assert.match((await refusal('dir/x', 'not-found')).message, /no file .*cwd\/dir\/x for a credential set$/);
    assert.match((await refusal('..', 'not-found')).message, /credentials\/\.\.\.yaml$/);
    await rm(home, { recursive: true });
    await refusal('staging', 'not-found');
  });

  it('refuses to guess between two files, and names that no file can have', async () => {
    for (const file of ['a.yaml', 'a.json']) await writeFile(join(home, 'credentials', file), '');
    assert.match(
      (await refusal('a', 'invalid')).message,
      /two files are the credential set "a": .*a\.yaml and .*a\.json/,
    );
    await refusal('', 'invalid');
    await refusal('a\0b', 'invalid');
    await refusal('a'.repeat(300), 'not-found');
    await refusal(`${'a'.repeat(300)}.yaml`, 'not-found');
  });
});
