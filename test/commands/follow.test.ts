import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { appendFileSync, existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import Logs from '../../src/commands/logs.js';
import Resume from '../../src/commands/resume.js';
import Upgrade from '../../src/commands/upgrade.js';
import { CnabError } from '../../src/errors.js';
import { FAKE_TARGET, FakeDriver } from '../helpers/fake-driver.js';
import { storeAt } from '../helpers/recorded-installation.js';
import { type InProcess } from '../helpers/run-command.js';
import { LeftRun, type AnyCommand } from './left-run.js';

describe('cnab logs -f shows a run that goes on', () => {
  let stage: LeftRun;
  let home: string;
  let driver: FakeDriver;
  beforeEach(() => {
    stage = new LeftRun();
    ({ home, driver } = stage);
    driver.resumes = (life) => life.log('one\ntwo\n');
  });
  afterEach(() => stage.remove());

  const run = (command: AnyCommand, argv: string[], given?: Partial<InProcess>) => stage.run(command, argv, given);
  const detach = () => stage.detach();
  const follow = (given: Partial<InProcess> = {}) => run(Logs, ['-f', 'app'], given);
  const logFile = (): string => join(home, 'cnab/runs', readdirSync(join(home, 'cnab/runs'))[0] ?? '', 'log');

  it('from the file that a live process writes, until the run has an end', async () => {
    await detach();
    const claims = storeAt(join(home, 'cnab')).on(FAKE_TARGET);
    const lock = await claims.lock('app', 'install');
    const following = follow();
    await new Promise((resolve) => setTimeout(resolve, 300));
    appendFileSync(logFile(), 'and more\n');
    const record = (await claims.read('app'))?.records[0];
    const [id, claimId] = [await claims.nextId('app'), record?.claim.id ?? ''];
    await claims.saveResult('app', { id, claimId, created: '', status: 'succeeded' });
    rmSync(join(home, 'cnab/runs'), { recursive: true });
    await lock.release();
    const { exitCode, stdout } = await following;
    assert.deepEqual([exitCode, stdout], [0, 'one\nand more\n']);
  });

  it('from the cluster where no process is on it, no byte twice, and touches nothing', async () => {
    await detach();
    driver.follows = async ({ onLog }) => {
      for (const text of ['one\ntw', 'o sec', 'ret\nthree\n']) await onLog(Buffer.from(text));
      return { complete: false };
    };
    const { exitCode, stdout, stderr } = await follow();
    assert.deepEqual([exitCode, stdout], [0, 'one\ntwo ******\nthree\n']);
    assert.match(stderr, /a part of the log of install \(run .*\) is missing\n.*complete its record: cnab resume app/);
    assert.deepEqual([driver.begun.length, driver.released.length], [0, 0]);
    assert.equal((await storeAt(join(home, 'cnab')).on(FAKE_TARGET).read('app'))?.records[0]?.results.length, 1);
  });

  it('from an empty home, masked by what the run carries, and records nothing', async () => {
    await detach();
    const [operation] = driver.operations;
    rmSync(join(home, 'cnab'), { recursive: true });
    const found = { runId: operation?.runId ?? '', action: 'install', created: Date.now(), state: {} };
    // Somebody has put one there whose record is none.
    driver.found = [{ ...found, runId: 'forged' }, found];
    driver.inputsOf = (runId) => {
      const record = runId === 'forged' ? undefined : operation?.record;
      return Promise.resolve({ record: record ?? Buffer.alloc(0), environment: new Map(), files: new Map() });
    };
    driver.follows = async ({ onLog }) => {
      await onLog(Buffer.from('the secret of it\n'));
      return { complete: true };
    };
    const { stdout, stderr } = await follow();
    assert.equal(stdout, 'the ****** of it\n');
    assert.match(stderr, /^warning: the record that run forged of "app" carries cannot be used: it is empty\.$/m);
    assert.equal(existsSync(join(home, 'cnab/targets')), false);
    driver.found = [];
    assert.equal(((await follow()).thrown as CnabError).code, 'not-found');
  });

  describe('of another machine, though what is recorded here has ended', () => {
    let runId: string;
    beforeEach(async () => {
      await detach();
      await run(Resume, ['app']);
      await stage.detachElsewhere(Upgrade, ['app', '-p', 'token=secret']);
      runId = driver.found[0]?.runId ?? '';
      driver.follows = async ({ onLog }) => {
        await onLog(Buffer.from('new\n'));
        return { complete: true };
      };
    });

    it('as the refusal of a command tells to type, by its id, and as the newest', async () => {
      driver.sight = { phase: 'running', detail: 'is running in pod p' };
      const refused = (await run(Upgrade, ['app', '-p', 'token=secret'])).thrown as CnabError;
      const [, told = ''] = /^To see its log: cnab logs (.*)$/m.exec(refused.suggestions.join('\n')) ?? [];
      assert.deepEqual(told.split(' ').slice(0, 4), ['-f', 'app', '--run', runId]);
      for (const argv of [
        told.split(' '),
        ['-f', 'app'],
        ['-f', 'app', '--run', 'last'],
        ['-f', 'app', '--run', 'LAST'],
      ]) {
        const { exitCode, stdout, stderr } = await run(Logs, argv);
        assert.deepEqual([exitCode, stdout], [0, 'new\n'], argv.join(' '));
        assert.match(
          stderr,
          new RegExp(`^note: upgrade \\(run ${runId}\\) has ended; .*: cnab resume app --run ${runId} `),
        );
      }
      assert.equal((await run(Logs, ['app', '--run', 'last'])).stdout, 'one\ntwo\n');
    });

    it('or shows what is stored, and says what it does not know, where that target is not asked', async () => {
      driver.find = () => Promise.reject(new CnabError('unavailable', 'the cluster is away'));
      const away = await follow();
      assert.deepEqual([away.exitCode, away.stdout], [0, 'one\ntwo\n']);
      const note = /^note: whether another machine has begun a newer run is not known: the cluster is away$/m;
      assert.match(away.stderr, note);
      const other = new FakeDriver(() => assert.fail('it ran'), { ...FAKE_TARGET, id: 'other', context: 'other' });
      const { exitCode, stdout, stderr } = await follow({ driver: other });
      assert.deepEqual([exitCode, stdout], [0, 'one\ntwo\n']);
      assert.match(
        stderr,
        /is not known: the record is of test .*, not of other .*; add --context test --namespace default$/m,
      );
      const named = await run(Logs, ['-f', 'app', '--run', runId], { driver: other });
      assert.match((named.thrown as CnabError).message, /^the record is of test .*, not of other /);
    });

    it('or says that it cannot be shown, and no older log in its place', async () => {
      driver.inputsOf = () => Promise.reject(new CnabError('not-found', 'its secret is gone'));
      const { thrown, stdout } = await follow();
      assert.deepEqual([(thrown as CnabError).message, stdout], ['its secret is gone', '']);
    });
  });

  it('until somebody leaves, which stops nothing', async () => {
    await detach();
    const signals = new EventEmitter();
    driver.follows = ({ signal }) => {
      signals.emit('SIGINT');
      assert.ok(signal.aborted);
      return Promise.resolve({ complete: true });
    };
    assert.equal((await follow({ signals })).exitCode, 130);
  });

  it('and, once it has an end, is what is stored', async () => {
    await detach();
    await run(Resume, ['app']);
    assert.equal((await follow()).stdout, 'one\ntwo\n');
  });
});
