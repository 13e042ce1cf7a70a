import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readGivenParameters, type ParameterOptions } from '../../src/credential/parameter-sources.js';
import { CnabError, type ErrorCode } from '../../src/errors.js';

describe('parameters that flags give', () => {
  let home: string;
  let cwd: string;

  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), 'cnab-parameters-'));
    cwd = join(home, 'cwd');
    await mkdir(cwd);
    await mkdir(join(home, 'parameters'));
  });
  afterEach(() => rm(home, { recursive: true }));

  const read = (more: Partial<ParameterOptions>) =>
    readGivenParameters({
      params: [],
      paramFiles: [],
      valueFiles: [],
      env: { PATH: process.env['PATH'], PORT: '80' },
      home,
      cwd,
      ...more,
    });

  async function refusal(more: Partial<ParameterOptions>, code: ErrorCode = 'invalid'): Promise<readonly string[]> {
    try {
      await read(more);
    } catch (error) {
      assert.ok(error instanceof CnabError, String(error));
      assert.equal(error.code, code);
      return [error.message, ...error.details];
    }
    throw new Error('it was accepted');
  }

  it('are text after the first "=", untouched', async () => {
    assert.deepEqual(await read({ params: ['a=1', 'b= x=y ', 'c=', 'd=é\n', 'e="q"'] }), [
      { name: 'a', value: { kind: 'text', text: '1' }, from: '-p' },
      { name: 'b', value: { kind: 'text', text: ' x=y ' }, from: '-p' },
      { name: 'c', value: { kind: 'text', text: '' }, from: '-p' },
      { name: 'd', value: { kind: 'text', text: 'é\n' }, from: '-p' },
      { name: 'e', value: { kind: 'text', text: '"q"' }, from: '-p' },
    ]);
  });

  it('without "=" get a sentence about what may have been meant', async () => {
    assert.deepEqual(await refusal({ params: ['values.json'] }), [
      '-p values.json has no "=": did you mean --params values.json?',
    ]);
    assert.deepEqual(await refusal({ params: ['port', '=x'], paramFiles: ['cert'] }), [
      'these parameters cannot be used:',
      '--param-file cert has no "=": write --param-file cert=PATH',
      '-p port has no "=": write -p port=VALUE',
      '-p has no name before its "=": write -p k=VALUE',
    ]);
  });

  it('may be the bytes of a file', async () => {
    await writeFile(join(cwd, 'cert'), Buffer.of(0, 255, 10));
    assert.deepEqual(await read({ paramFiles: ['c=cert'] }), [
      { name: 'c', value: { kind: 'file', bytes: Buffer.of(0, 255, 10) }, from: `--param-file ${join(cwd, 'cert')}` },
    ]);
    assert.deepEqual(await refusal({ paramFiles: ['c=nowhere'] }), [
      `parameter "c" (--param-file): file ${join(cwd, 'nowhere')} does not exist`,
    ]);
  });

  it('are typed when they come from a map in YAML or JSON', async () => {
    await writeFile(join(cwd, 'v.yaml'), 'port: 80\nname: "80"\nlist: [a, {b: null}]\nyes: yes\n');
    await writeFile(join(cwd, 'v.json'), '{"on": false}');
    const from = '--params v.yaml';
    assert.deepEqual(await read({ valueFiles: ['v.yaml', 'v.json'] }), [
      { name: 'port', value: { kind: 'typed', json: 80 }, from },
      { name: 'name', value: { kind: 'typed', json: '80' }, from },
      { name: 'list', value: { kind: 'typed', json: ['a', { b: null }] }, from },
      { name: 'yes', value: { kind: 'typed', json: 'yes' }, from },
      { name: 'on', value: { kind: 'typed', json: false }, from: '--params v.json' },
    ]);
    for (const [at, empty] of ['', '# nothing\n', '{}'].entries()) {
      await writeFile(join(cwd, `${at}.yaml`), empty);
      assert.deepEqual(await read({ valueFiles: [`${at}.yaml`] }), []);
    }
  });

  it('are refused where a number would change, and where the file is something else', async () => {
    await writeFile(join(cwd, 'big.yaml'), 'ok: 1\nid: 12345678901234567890\n');
    assert.match(
      (await refusal({ valueFiles: ['big.yaml'] }))[0] ?? '',
      /big\.yaml:2:4: a whole number beyond ±\(2\^53−1\)/,
    );
    await writeFile(join(cwd, 'list.yaml'), '- a\n');
    assert.match(
      (await refusal({ valueFiles: ['list.yaml'] }))[0] ?? '',
      /list\.yaml does not hold a map of parameters/,
    );
    await writeFile(join(cwd, 'c.yaml'), 'name: c\ncredentials:\n- {name: a, source: {env: A}}\n');
    assert.match((await refusal({ valueFiles: ['c.yaml'] }))[0] ?? '', /c\.yaml is a credential set: name it with -c/);
    assert.match(
      (await refusal({ valueFiles: ['prod'] }, 'not-found'))[0] ?? '',
      /no parameter set "prod".*parameters\/prod\.yaml/,
    );
  });

  it('come from a parameter set by name, text and typed values alike', async () => {
    await writeFile(join(cwd, 'cert'), 'PEM\n');
    const text = `
schemaVersion: 1.0.1
name: prod
parameters:
  - {name: native, source: {value: 80}}
  - {name: text, source: {value: "80"}}
  - {name: port, source: {env: PORT}}
  - {name: cert, source: {path: cert}}
  - {name: date, source: {command: printf 5}}
`;
    await writeFile(join(home, 'parameters/prod.yaml'), text);
    const set = { from: 'parameter set prod', shared: true };
    assert.deepEqual(await read({ valueFiles: ['prod'] }), [
      { name: 'native', value: { kind: 'typed', json: 80 }, ...set },
      { name: 'text', value: { kind: 'text', text: '80' }, ...set },
      { name: 'port', value: { kind: 'text', text: '80' }, ...set },
      { name: 'cert', value: { kind: 'file', bytes: Buffer.from('PEM\n') }, ...set },
      { name: 'date', value: { kind: 'file', bytes: Buffer.from('5') }, ...set },
    ]);
    const wanted = await read({ valueFiles: ['prod'], wanted: (name) => name === 'text' });
    assert.deepEqual(
      wanted.map(({ name }) => name),
      ['text'],
    );
  });

  it('are a map, not a set, when a parameter is merely called "parameters"', async () => {
    await writeFile(join(cwd, 'v.yaml'), 'parameters: [1]\nother: 2\n');
    const given = await read({ valueFiles: ['v.yaml'] });
    assert.deepEqual(
      given.map(({ name }) => name),
      ['parameters', 'other'],
    );
  });

  it('beat each other in the order files, --param-file, -p; what is beaten is not read', async () => {
    await writeFile(
      join(home, 'parameters/s.yaml'),
      'parameters:\n- {name: a, source: {env: NOT_SET}}\n- {name: b, source: {command: touch ran}}\n',
    );
    await writeFile(join(cwd, 'v.yaml'), 'b: 2\nc: 2\n');
    await writeFile(join(cwd, 'c'), '3');
    const given = await read({ valueFiles: ['s', 'v.yaml'], paramFiles: ['c=c'], params: ['a=4', 'a=5'] });
    assert.deepEqual(
      given.map(({ name, from }) => [name, from]),
      [
        ['b', '--params v.yaml'],
        ['c', `--param-file ${join(cwd, 'c')}`],
        ['a', '-p'],
      ],
    );
    assert.deepEqual(given.at(-1)?.value, { kind: 'text', text: '5' });
  });

  it('are refused when -p and --param-file both give one', async () => {
    await writeFile(join(cwd, 'c'), '3');
    assert.deepEqual(await refusal({ paramFiles: ['c=c'], params: ['c=4'] }), [
      'parameter "c" is given by both -p and --param-file',
    ]);
  });

  it('report every problem at once and quote no value', async () => {
    await writeFile(join(cwd, 'bad.yaml'), 'a: [hunter2');
    await writeFile(join(home, 'parameters/s.yaml'), 'parameters:\n- {name: a, source: {env: NOT_SET}}\n');
    const lines = await refusal({ valueFiles: ['bad.yaml', 's', 'gone'], params: ['x'] });
    assert.equal(lines.length, 5);
    assert.doesNotMatch(lines.join('\n'), /hunter2/);
    assert.match(
      lines.join('\n'),
      /bad\.yaml:\d+:\d+.*\n.*"gone".*\n-p x has no "=".*\nparameter "a" \(.*s\.yaml:2\): environment variable NOT_SET/,
    );
  });
});
