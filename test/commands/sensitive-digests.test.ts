import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Install from '../../src/commands/install.js';
import OutputsList from '../../src/commands/outputs/list.js';
import OutputsShow from '../../src/commands/outputs/show.js';
import Resume from '../../src/commands/resume.js';
import Show from '../../src/commands/show.js';
import Upgrade from '../../src/commands/upgrade.js';
import Wait from '../../src/commands/wait.js';
import { failureOf } from '../../src/cli/report.js';
import { FAKE_TARGET, FakeDriver, type FakeRun } from '../helpers/fake-driver.js';
import { RECORDED_BUNDLE } from '../helpers/recorded-installation.js';
import { removeHome, temporaryHome } from '../helpers/run-cnab.js';
import { runInProcess } from '../helpers/run-command.js';

const PIN = '4711';
const URL = 'https://example.org\n';
const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

async function leaving(run: FakeRun): Promise<void> {
  await run.output('url', URL);
  await run.output('count', '3');
  await run.output('password', PIN);
  await run.output('blob', 'b');
}

describe('the digest of a sensitive output', () => {
  let home: string;
  beforeEach(() => {
    home = temporaryHome();
    writeFileSync(join(home, 'bundle.json'), JSON.stringify(RECORDED_BUNDLE));
  });
  afterEach(() => removeHome(home));

  const PARAMETERS = ['-p', 'greeting=hi', '-p', 'token=tell-nobody'];
  const commands = {
    install: [Install, ['app', 'bundle.json', ...PARAMETERS]],
    upgrade: [Upgrade, ['app', 'bundle.json', ...PARAMETERS]],
    wait: [Wait, ['app']],
    resume: [Resume, ['app']],
    show: [Show, ['app']],
    'outputs list': [OutputsList, ['app']],
  } as const;

  function run(name: keyof typeof commands, more: readonly string[]) {
    const [command, argv] = commands[name];
    return runInProcess(command, name.replace(' ', ':'), [...argv, ...more], { home, driver: new FakeDriver(leaving) });
  }

  it('is in no document and no text of a command, while those of other outputs are', async () => {
    for (const name of Object.keys(commands) as (keyof typeof commands)[]) {
      if (name !== 'install') await run('install', []);
      for (const format of ['json', 'yaml', 'table']) {
        const { stdout, stderr } = await run(name, [
          '-o',
          format,
          '--debug',
          ...(name === 'install' ? ['--force'] : []),
        ]);
        const shown = stdout + stderr;
        assert.match(shown, /password/, `${name} -o ${format}`);
        assert.ok(!shown.includes(sha256(PIN)), `${name} -o ${format}:\n${shown}`);
        if (format !== 'table') assert.ok(shown.includes(sha256(URL)), `${name} -o ${format}:\n${shown}`);
      }
    }
  });

  it('is not in the error of one that is damaged, neither the recorded nor the found one', async () => {
    await run('install', []);
    const outputs = join(home, 'cnab', 'targets', FAKE_TARGET.id, 'outputs');
    const files = readdirSync(outputs, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    for (const entry of files) {
      const file = join(entry.parentPath, entry.name);
      const content = readFileSync(file, 'utf8');
      if (content === PIN || content === URL) writeFileSync(file, `${content}0`);
    }
    const damaged = async (output: string): Promise<string> => {
      const { thrown } = await runInProcess(OutputsShow, 'outputs:show', ['app', output], {
        ...{ home, driver: new FakeDriver(leaving) },
      });
      return failureOf(thrown, { debug: true, version: '0' }).text;
    };
    assert.match(await damaged('password'), /is damaged/);
    assert.doesNotMatch(await damaged('password'), /[0-9a-f]{64}/);
    assert.ok((await damaged('url')).includes(sha256(URL)));
  });
});
