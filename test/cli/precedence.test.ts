import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { Config } from '@oclif/core/config';
import { actionFlags, type ActionFlags } from '../../src/cli/action-flags.js';
import { BaseCommand } from '../../src/cli/base-command.js';
import { outputFlags } from '../../src/cli/flags.js';
import { CnabError } from '../../src/errors.js';
import { PROD, recordRun, SANDBOX } from '../helpers/recorded-installation.js';
import { removeHome, ROOT, runCnab, temporaryHome } from '../helpers/run-cnab.js';

class Probe extends BaseCommand {
  static override flags = { ...actionFlags, ...outputFlags };
  given: ActionFlags = {};
  async run(): Promise<0> {
    this.given = (await this.parse(Probe)).flags;
    return 0;
  }
  get format(): string {
    return this.formatOf(this.given);
  }
}

describe('the value of a flag', () => {
  let home: string;
  let config: Config;
  before(async () => {
    home = temporaryHome();
    config = await Config.load({ root: ROOT });
  });
  after(() => removeHome(home));

  async function probe(argv: string[], env: Record<string, string>, file: string): Promise<Probe> {
    writeFileSync(join(home, 'config.yaml'), file);
    const command = new Probe(argv, config);
    const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
    command.surroundings = { env: { CNAB_HOME: home, ...env }, cwd: home, stdin, stdout, stderr };
    await command.run();
    return command;
  }

  it('is that of the command line, else of the environment, else of the config file', async () => {
    const file = 'namespace: c\ncontext: c\nshell-image: c\n';
    const env = { CNAB_NAMESPACE: 'b', CNAB_CONTEXT: 'b' };
    const { given } = await probe(['-n', 'a'], env, file);
    assert.deepEqual([given.namespace, given.context, given['shell-image']], ['a', 'b', 'c']);
    assert.equal(given.kubeconfig, undefined);
  });

  it('comes from one place only, also where it may be given several times', async () => {
    const file = 'credentials: [c, d]\nlabel: x=y\n';
    assert.deepEqual((await probe(['-c', 'a', '-c', 'b'], { CNAB_CREDENTIALS: 'e' }, file)).given.credentials, [
      'a',
      'b',
    ]);
    assert.deepEqual((await probe([], { CNAB_CREDENTIALS: 'e\nf\n' }, file)).given.credentials, ['e', 'f']);
    const { given } = await probe([], {}, file);
    assert.deepEqual([given.credentials, given.label], [['c', 'd'], ['x=y']]);
  });

  it('can be no as well as yes, in each place', async () => {
    const keeps = async (argv: string[], env: Record<string, string>, file: string) =>
      (await probe(argv, env, file)).given['keep-job'];
    assert.equal(await keeps([], {}, 'keep-job: true\n'), true);
    assert.equal(await keeps([], { CNAB_KEEP_JOB: 'false' }, 'keep-job: true\n'), false);
    assert.equal(await keeps(['--no-keep-job'], { CNAB_KEEP_JOB: '1' }, ''), false);
    assert.equal(await keeps(['--keep-job'], { CNAB_KEEP_JOB: 'no' }, ''), true);
    assert.equal(await keeps([], { CNAB_KEEP_JOB: '' }, 'keep-job: true\n'), true);
  });

  it('in the environment is not looked at where the command line has one', async () => {
    assert.equal((await probe(['-o', 'yaml'], { CNAB_OUTPUT: 'xml' }, '')).given.output, 'yaml');
    await assert.rejects(probe([], { CNAB_JSON: 'perhaps' }, ''), /CNAB_JSON is neither yes nor no/);
  });

  const formats: readonly [string[], Record<string, string>, string, string][] = [
    [[], {}, '', 'table'],
    [[], {}, 'json: true\n', 'json'],
    [[], {}, 'output: yaml\njson: true\n', 'json'],
    [['-o', 'table'], { CNAB_JSON: '1' }, 'json: true\n', 'table'],
    [[], { CNAB_OUTPUT: 'yaml' }, 'json: true\n', 'yaml'],
    [['--no-json'], { CNAB_JSON: '1' }, 'output: yaml\n', 'yaml'],
    [['--no-json'], {}, 'json: true\n', 'table'],
    [['--json', '-o', 'yaml'], {}, '', 'json'],
  ];
  for (const [argv, env, file, expected] of formats) {
    it(`makes it ${expected}: ${JSON.stringify([argv, env, file])}`, async () => {
      assert.equal((await probe(argv, env, file)).format, expected);
    });
  }

  it('writes no document among the bytes of an output or of a log, unless the command line asks for one', async () => {
    writeFileSync(join(home, 'config.yaml'), 'output: yaml\n');
    const stdoutOf = async (args: string[]): Promise<string> =>
      (await runCnab(args, { home, env: { CNAB_JSON: '1', CNAB_CONFIG: join(home, 'config.yaml') } })).stdout;
    assert.equal(await stdoutOf(['outputs', 'show', 'app', 'nosuch']), '');
    assert.equal(await stdoutOf(['logs', 'nosuch']), '');
    assert.match(await stdoutOf(['outputs', 'show', 'app', 'nosuch', '--json']), /"code": "invalid"/);
    assert.match(await stdoutOf(['outputs', 'list', 'nosuch']), /"code": "not-found"/);
  });

  it('that is refused says where it stands', async () => {
    const wrong = new CnabError('invalid', '--timeout 90 has no unit');
    const suggestions = async (argv: string[], env: Record<string, string>, file: string) =>
      ((await probe(argv, env, file)).explained(wrong) as CnabError).suggestions;
    assert.deepEqual(await suggestions(['--timeout', '90'], {}, ''), []);
    assert.deepEqual(await suggestions([], { CNAB_TIMEOUT: '90' }, ''), ['--timeout is set by CNAB_TIMEOUT']);
    assert.deepEqual(await suggestions([], {}, 'timeout: 90\nstart-timeout: 5m\n'), [
      `--timeout is set by ${join(home, 'config.yaml')}`,
    ]);
  });

  it('from the config file hides no installation on another target', async () => {
    const cnab = join(home, 'cnab');
    mkdirSync(cnab);
    writeFileSync(join(cnab, 'config.yaml'), 'namespace: payments\ncontext: prod\n');
    await recordRun(cnab, { name: 'tried', target: SANDBOX });
    await recordRun(cnab, { name: 'app', target: PROD });
    assert.equal((await runCnab(['list', '-q'], { home })).stdout, 'app\ntried\n');
    assert.equal((await runCnab(['show', 'tried'], { home })).code, 0);
    assert.equal((await runCnab(['list', '-q', '--context', 'prod'], { home })).stdout, 'app\n');
  });

  it('that the config file has decides also how a failure is told, and a broken one is exit 2 everywhere', async () => {
    const cnab = join(home, 'cnab');
    mkdirSync(cnab, { recursive: true });
    writeFileSync(join(cnab, 'config.yaml'), 'output: json\n');
    const failed = await runCnab(['show', 'nothing', '--nope'], { home });
    assert.equal((JSON.parse(failed.stdout) as { error: { code: string } }).error.code, 'invalid');
    writeFileSync(join(cnab, 'config.yaml'), 'outptu: json\n');
    const { code, stdout, stderr } = await runCnab(['list', '--json'], { home });
    assert.equal(code, 2);
    assert.match(stderr, /^error: the config file cannot be used: .*config\.yaml:1:1: there is no flag "outptu": did/);
    assert.equal((JSON.parse(stdout) as { command: string }).command, 'list');
    assert.equal((await runCnab(['--help'], { home })).code, 0);
  });
});
