import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Logs from '../../src/commands/logs.js';
import Resume from '../../src/commands/resume.js';
import Wait from '../../src/commands/wait.js';
import { RunHeld, type FoundRun } from '../../src/driver/driver.js';
import { CnabError } from '../../src/errors.js';
import type { FakeDriver } from '../helpers/fake-driver.js';
import { FAKE_TARGET } from '../helpers/fake-driver.js';
import { ManualClock } from '../helpers/manual-clock.js';
import { storeAt } from '../helpers/recorded-installation.js';
import { runInProcess } from '../helpers/run-command.js';
import { LeftRun, type AnyCommand } from './left-run.js';

type Document = Readonly<Record<string, unknown>>;

const RUN: FoundRun = {
  ...{ runId: '01JD0Z4KX2Y3M5N7P9QRSTVWXY', action: 'install', created: 1 },
  state: { namespace: 'default', job: 'j', jobUid: 'u' },
};

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
  });

describe('a run that another process may be on', () => {
  let stage: LeftRun;
  let home: string;
  let driver: FakeDriver;
  beforeEach(() => {
    stage = new LeftRun();
    ({ home, driver } = stage);
  });
  afterEach(() => {
    assert.deepEqual(driver.released, []);
    stage.remove();
  });

  const run = (command: AnyCommand, ...argv: string[]) => stage.run(command, argv);
  const detach = () => stage.detach('--quiet');
  const json = (text: string): Document => JSON.parse(text) as Document;

  it('of another machine gives its exit code to wait, and nothing is recorded of it', async () => {
    driver.found = [RUN];
    driver.watches = () =>
      Promise.resolve({
        ...{ status: 'failed', ran: 'yes', exitCode: 3 },
        error: new CnabError('bundle-failed', 'the bundle failed with exit code 3'),
      });
    const { exitCode, stdout, stderr } = await run(Wait, 'app', '--json');
    assert.equal(exitCode, 1);
    const { status, ran, runId, exitCode: code, outputs, note, error } = json(stdout);
    assert.deepEqual([status, ran, runId, code, outputs], ['failed', 'yes', RUN.runId, 3, []]);
    assert.match(String(note), /for the process that is on it; where there is none: cnab resume app --run 01JD/);
    assert.equal((error as Document)['code'], 'bundle-failed');
    assert.match(stderr, /^error: the bundle failed with exit code 3/m);
    assert.equal(existsSync(join(home, 'cnab/targets')), false);
  });

  it('of another machine has its outputs for others: who asks wait for them is told so', async () => {
    driver.found = [RUN];
    driver.watches = () => Promise.resolve({ status: 'succeeded', ran: 'yes', exitCode: 0 });
    const without = await run(Wait, 'app');
    assert.deepEqual([without.exitCode, without.stdout], [0, '']);
    assert.match(without.stderr, /^note: the log and the outputs of install .* cnab resume app/m);
    const { exitCode, stderr } = await run(Wait, 'app', '--outputs-dir', 'out');
    assert.equal(exitCode, 5);
    assert.match(stderr, /^error: install has succeeded, but nothing of it was put into out/m);
  });

  describe('is waited for no longer than --timeout says, goes on, and gives exit code 10', () => {
    const told = new RegExp(
      '(?:^|\\n)the time to wait of 7m00s is over; the run goes on\\nits end: cnab wait app .*\\nits log: cnab logs -f app .*\\n$',
    );
    /** `early`: the time is over before anything was asked. */
    const timedOut = (clock: ManualClock, early: boolean) => {
      const openDriver = async () => {
        if (early) await clock.elapse(420_000);
        return driver;
      };
      const argv = ['app', '--timeout', '7m', '--json'];
      return runInProcess(Wait, 'wait', argv, { home, driver, parts: { clock, openDriver } });
    };
    for (const early of [false, true]) {
      const when = early ? 'before it was looked at' : 'while it is waited for';
      const left = async (clock: ManualClock, signal: AbortSignal) => {
        if (!early) await clock.elapse(420_000);
        await aborted(signal);
        assert.deepEqual(signal.reason, { kind: 'leave' });
      };

      it(`of another machine, the time being over ${when}`, async () => {
        const clock = new ManualClock(5000);
        driver.found = [RUN];
        driver.watches = async ({ signal }) => {
          await left(clock, signal);
          return { status: 'running', ran: 'yes' };
        };
        const { exitCode, thrown, stdout, stderr } = await timedOut(clock, early);
        assert.deepEqual([exitCode, thrown], [10, undefined]);
        assert.equal((json(stdout)['error'] as Document)['code'], 'still-running');
        assert.match(stderr, told);
      });

      it(`of this store, the time being over ${when}`, async () => {
        await detach();
        const clock = new ManualClock(5000);
        driver.resumes = async ({ io }) => {
          await left(clock, io.signal);
          return { status: 'running', keep: true };
        };
        const { exitCode, stdout, stderr } = await timedOut(clock, early);
        assert.deepEqual([exitCode, json(stdout)['status']], [10, 'running']);
        assert.match(stderr, told);
        assert.equal(stderr.match(/goes on|is over/g)?.length, 2);
      });
    }
  });

  it('has no stored log yet: logs says so, and what shows the one that comes', async () => {
    await detach();
    const told = async (): Promise<CnabError> => (await run(Logs, 'app')).thrown as CnabError;
    const open = await told();
    assert.equal(open.code, 'not-found');
    assert.match(open.message, /\(run \w+, running\) has no recorded end yet, and its log is stored only when it has/);
    assert.match(open.suggestions.join('\n'), /^to see what has come of it, and to follow it: cnab logs -f app /);
    const lock = await storeAt(join(home, 'cnab')).on(FAKE_TARGET).lock('app', 'install');
    assert.match((await told()).message, /\(run \w+, running\) goes on, and its log is stored only when it has ended/);
    await lock.release();
  });

  it('is refused to resume with what to type, until it is told to take it over', async () => {
    await detach();
    const taken: boolean[] = [];
    driver.holds = ({ takeOver }) => {
      taken.push(takeOver);
      return takeOver ? Promise.resolve() : Promise.reject(new RunHeld('process 5 on ci-7 has been on it'));
    };
    driver.resumes = () => Promise.resolve({ status: 'running', keep: true });
    const refused = (await run(Resume, 'app')).thrown as CnabError;
    assert.deepEqual([refused.code, refused.message], ['busy', 'process 5 on ci-7 has been on it.']);
    assert.match(
      refused.suggestions.join('\n'),
      /cnab logs -f app .*\n.*cnab wait app .*\n.*cnab resume app --run \S+ --take/,
    );
    await run(Resume, 'app', '--take-over');
    assert.deepEqual(taken, [false, true]);
  });

  it('of another container that has it locked is followed on the cluster by logs -f, not in a file for ever', async () => {
    await detach();
    const claims = storeAt(join(home, 'cnab')).on(FAKE_TARGET);
    const lock = await claims.lock('app', 'install');
    const file = (await claims.owner('app'))?.lockFile ?? '';
    const owner = JSON.parse(readFileSync(file, 'utf8')) as object;
    writeFileSync(file, JSON.stringify({ ...owner, pid: 1, pidNamespace: 'pid:[1]' }));
    driver.follows = async ({ onLog }) => {
      await onLog(Buffer.from('one\ntwo\n'));
      return { complete: true };
    };
    const { exitCode, stdout } = await run(Logs, '-f', 'app');
    assert.deepEqual([exitCode, stdout], [0, 'one\ntwo\n']);
    await lock.release();
  });
});
