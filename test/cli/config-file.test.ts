import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { configPath, openConfigFile } from '../../src/cli/config-file.js';
import type { FlagShape } from '../../src/cli/flag-values.js';
import { CnabError } from '../../src/errors.js';
import { removeHome, temporaryHome } from '../helpers/run-cnab.js';

const FLAGS: ReadonlyMap<string, FlagShape> = new Map([
  ['namespace', { type: 'option' }],
  ['timeout', { type: 'option' }],
  ['output', { type: 'option', options: ['table', 'json', 'yaml'] }],
  ['credentials', { type: 'option', multiple: true }],
  ['keep-job', { type: 'boolean' }],
  ['yes', { type: 'boolean' }],
]);

describe('the config file', () => {
  let home: string;
  before(() => (home = temporaryHome()));
  after(() => removeHome(home));

  async function read(content: string | Uint8Array, name = 'config.yaml') {
    writeFileSync(join(home, name), content);
    const config = await openConfigFile({ env: { CNAB_CONFIG: name }, cwd: home }, '/nowhere', () => FLAGS);
    assert.ok(config);
    return config;
  }

  async function problemsOf(content: string | Uint8Array, name?: string): Promise<readonly string[]> {
    try {
      await read(content, name);
    } catch (error) {
      assert.ok(error instanceof CnabError);
      assert.equal(error.code, 'invalid');
      const lines = error.details.length > 0 ? error.details : [error.message];
      return lines.map((line) => line.replace(/^the config file cannot be used: /, '').replace(`${home}/`, ''));
    }
    return [];
  }

  it('is $CNAB_CONFIG, else config.yaml in $CNAB_HOME, else in the config folder', () => {
    const path = (env: Record<string, string>) => configPath({ env, cwd: '/cwd' }, '/home/x/.config/cnab');
    assert.equal(path({}), '/home/x/.config/cnab/config.yaml');
    assert.equal(path({ CNAB_HOME: 'h' }), '/cwd/h/config.yaml');
    assert.equal(path({ CNAB_HOME: 'h', CNAB_CONFIG: 'mine.json' }), '/cwd/mine.json');
    assert.equal(path({ CNAB_HOME: '', CNAB_CONFIG: '' }), '/home/x/.config/cnab/config.yaml');
  });

  it('that is not there says nothing, unless it is named', async () => {
    const open = (env: Record<string, string>) => openConfigFile({ env, cwd: home }, join(home, 'none'), () => FLAGS);
    assert.equal(await open({}), undefined);
    await assert.rejects(open({ CNAB_CONFIG: 'gone.yaml' }), /there is no config file .*gone\.yaml, which CNAB_CONFIG/);
  });

  it('is YAML or JSON with the names of flags as keys', async () => {
    const yaml = await read(
      '# mine\nnamespace: payments\ntimeout: 0\nkeep-job: true\ncredentials: [a, b]\nprotected: prod\n',
    );
    assert.deepEqual(Object.fromEntries(yaml.values), {
      namespace: 'payments',
      timeout: '0',
      'keep-job': true,
      credentials: ['a', 'b'],
    });
    assert.deepEqual(yaml.protectedContexts, ['prod']);
    const json = await read('{"credentials": "a", "protected": ["p", "q"]}', 'config.json');
    assert.deepEqual([Object.fromEntries(json.values), json.protectedContexts], [{ credentials: ['a'] }, ['p', 'q']]);
  });

  it('may be empty, hold comments alone, or begin with a byte order mark', async () => {
    for (const content of ['', '\n# nothing: yet\n', '\ufeff# nothing\n']) {
      assert.equal((await read(content)).values.size, 0);
    }
    assert.equal((await read('\ufeffnamespace: x\n')).values.get('namespace'), 'x');
  });

  const rows: readonly [string, string | Uint8Array, readonly RegExp[], string?][] = [
    ['an unknown key', 'a: 1\n', [/^config\.yaml:1:1: there is no flag "a"$/]],
    ['a slip', '# x\nnamespce: b\n', [/^config\.yaml:2:1: there is no flag "namespce": did you mean "namespace"\?$/]],
    [
      'a slip of protected',
      'protectd: b\n',
      [/^config\.yaml:1:1: there is no flag "protectd": did you mean "protected"\?$/],
    ],
    ['text for yes or no', 'keep-job: maybe\n', [/^config\.yaml:1:1: "keep-job" is true or false$/]],
    ['a list for one text', 'namespace: [a]\n', [/^config\.yaml:1:1: "namespace" is one text$/]],
    ['no value', 'namespace:\n', [/^config\.yaml:1:1: "namespace" is one text$/]],
    ['a value that is none of the possible', 'output: xml\n', [/1:1: "output" is one of table, json, yaml$/]],
    ['a map for a list', 'credentials: {a: b}\n', [/1:1: "credentials" is a text or a list of texts$/]],
    ['contexts that are none', 'protected: [a, [b]]\n', [/1:1: "protected" is a text or a list of texts$/]],
    ['an answer beforehand', 'yes: true\n', [/1:1: "yes" answers for one run only/]],
    ['everything at once', 'a: 1\nnamespace: []\n', [/:1:1: there is no flag "a"$/, /:2:1: "namespace" is one text$/]],
    ['a list', '- a\n', [/the names of flags as keys/]],
    ['broken YAML', 'namespace: [\n', [/^config\.yaml:\d+:\d+: the YAML is broken/]],
    ['a key that is there twice', 'namespace: a\nnamespace: b\n', [/config\.yaml:2:\d+: .*duplicated mapping key/]],
    ['broken JSON', '{"namespace": }', [/config\.json:1:15: /], 'config.json'],
    ['bytes that are no text', Uint8Array.of(0x61, 0x3a, 0x20, 0xff), [/config\.yaml:1:4: the file is not UTF-8/]],
    ['a file that is too large', `# ${'x'.repeat(1024 * 1024)}`, [/is larger than 1048576 bytes/]],
  ];
  for (const [title, content, expected, name] of rows) {
    it(`is refused with file and line: ${title}`, async () => {
      const problems = await problemsOf(content, name);
      assert.equal(problems.length, expected.length, problems.join('\n'));
      expected.forEach((pattern, index) => assert.match(problems[index] ?? '', pattern));
    });
  }

  it('that is a folder is refused', async () => {
    mkdirSync(join(home, 'folder'));
    const opened = openConfigFile({ env: { CNAB_CONFIG: 'folder' }, cwd: home }, '', () => FLAGS);
    await assert.rejects(opened, /the config file .*folder cannot be read: EISDIR/);
  });

  it('is never quoted but for its keys: a value may be a secret', async () => {
    for (const content of ['output: hunter2\n', 'keep-job: hunter2\n', '{"output": hunter2}', 'a: {b: hunter2}\n']) {
      const problems = await problemsOf(content);
      assert.ok(problems.length > 0);
      assert.doesNotMatch(problems.join('\n'), /hunter2/);
    }
  });
});
