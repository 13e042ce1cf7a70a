import assert from 'node:assert/strict';
import { COMMANDS } from '../../src/commands/index.js';
import Install from '../../src/commands/install.js';
import Logs from '../../src/commands/logs.js';
import OutputsList from '../../src/commands/outputs/list.js';
import OutputsShow from '../../src/commands/outputs/show.js';
import Resume from '../../src/commands/resume.js';
import Show from '../../src/commands/show.js';
import Upgrade from '../../src/commands/upgrade.js';
import Wait from '../../src/commands/wait.js';
import type { CnabError } from '../../src/errors.js';
import { FakeDriver } from '../helpers/fake-driver.js';
import { INSTALL, LeftRun, type AnyCommand } from './left-run.js';

describe('--run', () => {
  let stage: LeftRun;
  beforeEach(() => {
    stage = new LeftRun();
    stage.driver.resumes = async (life) => {
      const { begun } = life;
      await life.log(`log of ${begun.action}\n`);
      for (const name of ['url', 'count', 'password', 'blob'])
        await life.output(name, name === 'count' ? '3' : begun.action);
    };
  });
  afterEach(() => stage.remove());

  const COMMANDS_OF_A_RUN: readonly (readonly [AnyCommand, readonly string[]])[] = [
    [Logs, ['app']],
    [Logs, ['-f', 'app']],
    [OutputsList, ['app']],
    [OutputsShow, ['app', 'url']],
    [Resume, ['app', '--json']],
    [Wait, ['app', '--json']],
  ];

  it('is a flag of these commands', () => {
    const having = Object.values(COMMANDS).filter((command) => 'run' in command.flags);
    assert.deepEqual(having, [...new Set(COMMANDS_OF_A_RUN.map(([command]) => command))]);
  });

  it('stands in each command that is told to type where there are several unfinished runs', async () => {
    stage.driver = new FakeDriver(async (life) => {
      await life.posted();
      return { outstanding: {}, keep: true };
    });
    for (const command of [Install, Upgrade])
      await stage.run(command, command === Install ? [...INSTALL] : ['app', '-p', 'token=s']);
    const { stderr } = await stage.run(Show, ['app']);
    const told = [...stderr.matchAll(/\(run (\S+), .*: cnab resume app (?:--run (\S+) )?--context/g)];
    const ids = stage.driver.operations.map(({ runId }) => runId);
    assert.deepEqual(
      told.map(([, run, named]) => [run, named]),
      ids.toReversed().map((id) => [id, id]),
    );
  });

  for (const [command, argv] of COMMANDS_OF_A_RUN) {
    it(`is read as by every other command by ${[command.name.toLowerCase(), ...argv].join(' ')}`, async () => {
      const ids: string[] = [];
      for (const begin of [() => stage.detach(), () => stage.run(Upgrade, ['app', '--detach', '-p', 'token=s'])]) {
        await begin();
        assert.equal((await stage.run(Resume, ['app'])).exitCode, 0);
        ids.push(stage.driver.operations.at(-1)?.runId ?? '');
      }
      const [older = '', newer = ''] = ids;
      const told = async (run: string) => {
        const { exitCode, stdout, stderr, thrown } = await stage.run(command, [...argv, '--run', run]);
        assert.deepEqual([thrown, exitCode], [undefined, 0], `${run}: ${stderr}`);
        return stdout;
      };
      const last = await told(newer);
      assert.match(last, /upgrade/);
      for (const run of ['last', 'LAST', newer.toLowerCase()]) assert.equal(await told(run), last);
      const first = await told(older.toLowerCase());
      assert.match(first, /install/);
      assert.doesNotMatch(first, /upgrade/);
      const { thrown } = await stage.run(command, [...argv, '--run', 'lost']);
      assert.match((thrown as CnabError).message, /^"app" has no run "lost"\.?$/i);
    });
  }
});
