import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Plugin } from '@oclif/core/config';
import { COMMANDS } from '../../src/commands/index.js';
import { EXIT_CODES } from '../../src/cli/exit-codes.js';
import { recordRun } from '../helpers/recorded-installation.js';
import { removeHome, ROOT, runCnab, temporaryHome } from '../helpers/run-cnab.js';

interface Flag {
  readonly env?: string;
  readonly description?: string;
}

/** Libraries that only some commands may load, by the files they are built into. */
const HEAVY = ['ajv', 'ajv-formats', 'js-yaml', 'jsonc-parser', 'kubernetes-client-node', 'ora'];

describe('the surface of the command', () => {
  let home: string;
  before(async () => {
    home = temporaryHome();
    await recordRun(join(home, 'cnab'), { name: 'app', outputs: { url: 'x' }, log: 'log' });
  });
  after(() => removeHome(home));

  it('is what oclif.manifest.json says', () => {
    const { status, stderr } = spawnSync(process.execPath, [join(ROOT, 'scripts/manifest.mjs'), '--check'], {
      encoding: 'utf8',
    });
    assert.equal(status, 0, stderr);
  });

  for (const [id, command] of Object.entries(COMMANDS)) {
    const name = id.replaceAll(':', ' ');
    it(`gives each flag of ${name} its variable and a description`, () => {
      for (const [flag, definition] of Object.entries({ ...command.baseFlags, ...command.flags }) as [string, Flag][]) {
        assert.equal(definition.env, `CNAB_${flag.toUpperCase().replaceAll('-', '_')}`);
        assert.ok(definition.description);
      }
    });
  }

  it('takes no argument from standard input', async () => {
    for (const [id, command] of Object.entries(COMMANDS)) {
      for (const [argument, { ignoreStdin }] of Object.entries(command.args ?? {})) {
        assert.equal(ignoreStdin, true, `${argument} of ${id}`);
      }
    }
    const { code, stderr } = await runCnab(['show'], { home, input: 'app\n' });
    assert.equal(code, 2, stderr);
  });

  it('has examples in the help of every command, and settings and exit codes in the first help', async () => {
    const helps = await Promise.all(Object.keys(COMMANDS).map((id) => runCnab([...id.split(':'), '--help'], { home })));
    for (const { code, stdout } of helps) {
      assert.equal(code, 0);
      assert.match(stdout, /EXAMPLES\n {2}.*cnab/);
    }
    const { stdout } = await runCnab([], { home });
    assert.match(stdout, new RegExp(`^ +config file: ${join(home, 'cnab/config.yaml')} `, 'm'));
    for (const { code, meaning } of EXIT_CODES)
      assert.match(stdout, new RegExp(`^ +${code} {2}${meaning.replace(/[()]/g, '\\$&')}`, 'm'));
  });

  it('answers cnab --version as cnab version does', async () => {
    const [short, long] = await Promise.all([runCnab(['--version'], { home }), runCnab(['version'], { home })]);
    assert.deepEqual(short, long);
    const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string };
    assert.equal(short.stdout, `cnab ${version}\n`);
  });

  for (const args of [
    ['list'],
    ['show', 'app'],
    ['history', 'app'],
    ['logs', 'app'],
    ['outputs', 'list', 'app'],
    ['outputs', 'show', 'app', 'url'],
    ['version'],
    ['list', '-o', 'yaml'],
    ['--help'],
    ['nonsense'],
  ]) {
    it(`cnab ${args.join(' ')} loads no library that it does not use`, async () => {
      const trace = join(ROOT, 'test/helpers/trace-loads.cjs');
      const { stderr } = await runCnab(args, { home, env: { NODE_OPTIONS: `--require ${trace}` } });
      const loaded = /^loaded: (.*)$/m.exec(stderr)?.[1]?.split(' ') ?? [];
      assert.ok(loaded.includes('main'), stderr);
      assert.deepEqual(
        loaded.filter((file) => HEAVY.includes(file)),
        [],
      );
    });
  }

  it('is found by the framework in the built file', async () => {
    const plugin = new Plugin({ root: ROOT, type: 'core' });
    await plugin.load();
    assert.deepEqual(plugin.commandIDs.sort(), Object.keys(COMMANDS).sort());
  });
});
