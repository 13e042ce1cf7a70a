import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { RECORDED_BUNDLE } from '../helpers/recorded-installation.js';
import { removeHome, runCnab, temporaryHome } from '../helpers/run-cnab.js';

describe('wrong usage', () => {
  let home: string;
  before(() => (home = temporaryHome()));
  after(() => removeHome(home));

  const rows: readonly [string, string[], RegExp][] = [
    ['an unknown command', ['instal', 'app'], /^error: there is no command "instal"\n +did you mean: cnab install\n$/],
    [
      'an unknown command of a topic',
      ['outputs', 'shwo'],
      /^error: there is no command "outputs shwo"\n +did you mean: cnab outputs show\n$/,
    ],
    [
      'a command that is like no other',
      ['frobnicate'],
      /^error: there is no command "frobnicate"\n +see: cnab --help\n$/,
    ],
    [
      'a flag before the command',
      ['--context=prod', 'list'],
      /^error: --context stands before the command\n +flags come after it, as in: cnab list --json\n$/,
    ],
    ['an unknown flag', ['list', '--jsno'], /^error: list has no flag --jsno\n +did you mean --json\?\n$/],
    ['a missing argument', ['install', 'app'], /^error: install needs BUNDLE\n +see: cnab install --help\n$/],
    ['two missing arguments', ['invoke'], /^error: invoke needs NAME and ACTION\n/],
    ['too many arguments', ['show', 'a', 'b', 'c'], /^error: show takes fewer arguments: 2 too many\n/],
    [
      'a flag without its value',
      ['list', '-o'],
      /^error: Flag --output expects one of these values: table, json, yaml\n/,
    ],
    ['an unknown format', ['list', '-o', 'xml'], /^error: Expected --output=xml to be one of: table, json, yaml\n/],
    [
      'a number without a unit',
      ['install', 'a', 'b', '--timeout', '90'],
      /^error: --timeout 90 has no unit: write 90s for seconds or 90m for minutes\n$/,
    ],
    [
      'no duration',
      ['install', 'a', 'b', '--timeout', 'soon'],
      /^error: --timeout "soon" is not a duration: write it like 90s, 5m or 1h30m\n$/,
    ],
    [
      'no size',
      ['install', 'a', 'b', '--max-output-size', 'big'],
      /^error: --max-output-size "big" is not a size: write it like 64KiB, 500MB or 1GiB\n$/,
    ],
    [
      'a label without a value',
      ['install', 'a', 'b', '--label', 'x'],
      /^error: --label "x" has no "=": write --label NAME=VALUE\n$/,
    ],
    ['no user id', ['install', 'a', 'b', '--run-as-user', 'root'], /^error: --run-as-user "root" is no user id\n$/],
    [
      'a bundle that is not there',
      ['install', 'a', 'nowhere', '-d', 'sandbox'],
      /^error: there is no file or folder "nowhere"/,
    ],
    ['a value that is given as a secret', ['show', 'a', '--token=hunter2'], /^error: show has no flag --token\n/],
  ];
  for (const [title, args, expected] of rows) {
    it(`${title} is exit 2 and one sentence`, async () => {
      const { code, stdout, stderr } = await runCnab(args, { home });
      assert.equal(code, 2, stderr);
      assert.equal(stdout, '');
      assert.match(stderr, expected);
      assert.doesNotMatch(stderr, /hunter2|\n {4}at /);
    });
  }

  for (const args of [
    ['list', '--json', '--nope=hunter2'],
    ['install', 'app', '--json'],
    ['nonsense', '--json'],
    ['show', '-o', 'json', 'a', 'hunter2'],
  ]) {
    it(`is one JSON document without the given values: ${args.join(' ')}`, async () => {
      const { code, stdout } = await runCnab(args, { home });
      const body = JSON.parse(stdout) as { error: { code: string; exitCode: number } };
      assert.deepEqual([code, body.error.code, body.error.exitCode], [2, 'invalid', 2]);
      assert.doesNotMatch(stdout, /hunter2|config|argv/);
    });
  }

  it('of an acting command leaves a document of a run that never was', async () => {
    const { stdout } = await runCnab(['install', 'app', 'nowhere', '-o', 'json'], { home });
    const body = JSON.parse(stdout) as Record<string, unknown>;
    assert.deepEqual([body['installation'], body['status'], body['ran'], body['outputs']], ['app', 'failed', 'no', []]);
  });

  it('in the environment names the variable', async () => {
    const { code, stderr } = await runCnab(['list'], { home, env: { CNAB_OUTPUT: 'xml' } });
    assert.deepEqual([code, stderr], [2, 'error: CNAB_OUTPUT is "xml": it is one of table, json, yaml\n']);
  });

  it('of the machine is exit 3: a home that takes no record', async () => {
    writeFileSync(join(home, 'file'), '');
    writeFileSync(join(home, 'bundle.json'), JSON.stringify(RECORDED_BUNDLE));
    const env = { CNAB_HOME: join(home, 'file/below') };
    const { code, stdout, stderr } = await runCnab(['install', 'a', 'bundle.json', '-d', 'sandbox', '--json'], {
      home,
      env,
    });
    assert.equal(code, 3, stderr);
    assert.equal((JSON.parse(stdout) as { ran: string }).ran, 'no');
    assert.match(
      stderr,
      /^error: cannot create .*: a part of the path is a file, not a folder \(ENOTDIR\)\n +set CNAB_HOME/,
    );
    assert.doesNotMatch(stderr, /\n {4}at /);
  });

  it('of a variable that is not set is no default: an empty value is refused', async () => {
    for (const args of [
      ['list', '-n', ''],
      ['list', '--context='],
      ['install', 'a', 'b', '-c', ''],
    ]) {
      const { code, stderr } = await runCnab(args, { home });
      assert.equal(code, 2);
      assert.match(stderr, /^error: --(?:namespace|context|credentials) is empty: give it a value or leave it out\n$/);
    }
  });
});
