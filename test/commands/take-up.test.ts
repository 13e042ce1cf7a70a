import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { readdirSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import Forget from '../../src/commands/forget.js';
import History from '../../src/commands/history.js';
import Install from '../../src/commands/install.js';
import List from '../../src/commands/list.js';
import OutputsList from '../../src/commands/outputs/list.js';
import OutputsShow from '../../src/commands/outputs/show.js';
import Resume from '../../src/commands/resume.js';
import Show from '../../src/commands/show.js';
import Uninstall from '../../src/commands/uninstall.js';
import Wait from '../../src/commands/wait.js';
import { CnabError } from '../../src/errors.js';
import { FAKE_TARGET, FakeDriver, type FakeLife } from '../helpers/fake-driver.js';
import { recordRun, storeAt } from '../helpers/recorded-installation.js';
import { removeHome, temporaryHome } from '../helpers/run-cnab.js';
import { runInProcess, type InProcess } from '../helpers/run-command.js';
import { LeftRun, type AnyCommand } from './left-run.js';

type Document = Readonly<Record<string, unknown>>;

async function everything(run: FakeLife): Promise<void> {
  await run.posted();
  await run.log('one\ntwo\n');
  await run.output('url', 'https://example.org\n');
  await run.output('count', '3');
  await run.output('password', 'hunter2');
  await run.output('blob', Uint8Array.of(0, 255));
}

describe('a run that goes on without its command', () => {
  let stage: LeftRun;
  let home: string;
  let driver: FakeDriver;
  beforeEach(() => {
    stage = new LeftRun();
    ({ home, driver } = stage);
    driver.resumes = everything;
  });
  afterEach(() => stage.remove());

  const run = (command: AnyCommand, argv: string[], given?: Partial<InProcess>) => stage.run(command, argv, given);
  const detach = (...argv: string[]) => stage.detach(...argv);

  it('is left by --detach: exit 0, one document with status running, and what to type next', async () => {
    const { exitCode, stdout, stderr } = await detach('--json');
    assert.equal(exitCode, 0);
    const body = JSON.parse(stdout) as Document;
    assert.deepEqual([body['status'], body['error'], body['outputs']], ['running', undefined, []]);
    assert.match(stderr, new RegExp(`goes on without this command as run ${String(body['runId'])}, on test`));
    assert.match(stderr, /^its end: cnab wait app --context test --namespace default$/m);
  });

  it('cannot be left where something is to be done at its end', async () => {
    for (const [flag, message] of [[['--outputs-dir', 'out'], /--outputs-dir is about the end of the run/]] as const) {
      assert.match(((await detach(...flag)).thrown as CnabError).message, message);
    }
    const { exitCode, stderr } = await run(Uninstall, ['app', '--delete-record', '--detach']);
    assert.equal(exitCode, 2);
    assert.match(stderr, /--delete-record is about the end of the run/);
  });

  it('is resumed: what is new of its log, its outputs, and its exit code', async () => {
    await detach();
    const { exitCode, stdout, stderr } = await run(Resume, ['app']);
    assert.equal(exitCode, 0);
    assert.match(stdout, /^url +string/m);
    assert.match(stderr, /^two$/m);
    assert.doesNotMatch(stderr, /^one$/m);
    assert.match(stderr, /^install app: succeeded after /m);
    const again = await run(Resume, ['app', '--json']);
    assert.equal(again.exitCode, 0);
    const body = JSON.parse(again.stdout) as Document;
    assert.match(
      String(body['note']),
      /^nothing is to be taken up: the install of "app" \(run .*\) has ended: succeeded$/,
    );
    assert.deepEqual([body['status'], (body['outputs'] as unknown[]).length], ['succeeded', 4]);
  });

  it('gives its exit code to resume and to wait, as the run itself would have', async () => {
    for (const command of [Resume, Wait]) {
      await detach();
      driver.resumes = () => Promise.resolve({ status: 'failed', exitCode: 3 });
      const { exitCode, stderr } = await run(command, ['app']);
      assert.equal(exitCode, 1);
      assert.match(stderr, /^error: install failed with exit code 3/m);
      await storeAt(join(home, 'cnab')).on(FAKE_TARGET).remove('app');
    }
  });

  it('is waited for without its log, and told again as often as is asked', async () => {
    await detach();
    for (let times = 0; times < 2; times++) {
      const { exitCode, stdout, stderr } = await run(Wait, ['app', '--json']);
      assert.equal(exitCode, 0);
      assert.doesNotMatch(stderr, /^two$/m);
      const body = JSON.parse(stdout) as Document & { outputs: Document[] };
      assert.deepEqual([body['command'], body['status'], body['exitCode']], ['wait', 'succeeded', 0]);
      assert.deepEqual(body.outputs.map(({ name }) => name).sort(), ['blob', 'count', 'password', 'url']);
      assert.doesNotMatch(stdout, /hunter2/);
    }
  });

  it('is left by Ctrl-C of wait, not stopped: exit 130', async () => {
    await detach();
    const signals = new EventEmitter();
    driver.resumes = ({ io }) => {
      signals.emit('SIGINT');
      assert.deepEqual(io.signal.reason, { kind: 'leave' });
      return Promise.resolve({ status: 'running', keep: true });
    };
    const { exitCode, stderr } = await run(Wait, ['app'], { signals });
    assert.equal(exitCode, 130);
    assert.match(stderr, /^interrupted; the run goes on: cnab resume app/m);
    assert.deepEqual(driver.released, []);
  });

  it('goes on when the terminal is closed: exit 8, the record says running', async () => {
    const signals = new EventEmitter();
    const installing = new FakeDriver(async (life) => {
      await life.posted();
      signals.emit('SIGHUP');
      assert.deepEqual(life.io.signal.reason, { kind: 'leave' });
      return { status: 'running', ran: 'yes', keep: true };
    });
    const { exitCode, stderr } = await run(Install, ['app', 'bundle.json', '-p', 'greeting=hi', '-p', 'token=s'], {
      driver: installing,
      signals,
    });
    assert.equal(exitCode, 8);
    assert.match(stderr, /^the terminal is gone; the run goes on: cnab resume app/m);
    assert.equal((await run(Wait, ['app'])).exitCode, 0);
  });

  it('is canceled by resume --cancel, which is then a success', async () => {
    await detach();
    driver.resumes = () =>
      Promise.resolve({ status: 'canceled', error: new CnabError('interrupted', 'install was stopped') });
    const { exitCode, stdout, stderr } = await run(Resume, ['app', '--cancel', '--json']);
    assert.equal(exitCode, 0);
    const body = JSON.parse(stdout) as Document;
    assert.deepEqual([body['status'], body['error']], ['canceled', undefined]);
    assert.doesNotMatch(stderr, /error/);
    assert.equal((await run(Wait, ['app'])).exitCode, 130);
  });

  it('is told of by every command that meets it, which fails none that reads', async () => {
    await detach();
    const note =
      /^note: the install of "app" \(run .*, begun .*\) has no recorded end, and no process is on it; 4 B of its log have come\n +to take it up: cnab resume app --context test/m;
    for (const [command, argv] of [
      [List, []],
      [Show, ['app']],
      [History, ['app']],
      [OutputsList, ['app']],
    ] as const) {
      const { exitCode, stdout, stderr } = await run(command, [...argv]);
      assert.equal(exitCode, 0);
      assert.match(stderr, note, command.name);
      assert.doesNotMatch(stdout, /^note/m);
      assert.equal((await run(command, [...argv, '-q'])).stderr, '');
    }
    const lock = await storeAt(join(home, 'cnab')).on(FAKE_TARGET).lock('app', 'install');
    const { stderr } = await run(Show, ['app']);
    assert.match(
      stderr,
      new RegExp(`goes on, process ${process.pid} on .* is on it; 4 B of its log .*cnab logs -f app`),
    );
    const { thrown, command } = await run(Resume, ['app']);
    assert.equal((thrown as CnabError).code, 'busy');
    const told = command.failureDocument(thrown, 7) as Document;
    assert.deepEqual([told['installation'], told['status'], told['ran']], ['app', undefined, undefined]);
    await lock.release();
    const refused = (await run(Uninstall, ['app'])) as { exitCode: number; stderr: string };
    assert.equal(refused.exitCode, 8);
    assert.match(
      refused.stderr,
      /never reported an end: it is not there\.\n[^]*cnab resume app --run \S+ --context test/,
    );
    assert.match((await run(Forget, ['app'])).stderr, /has no recorded end, and no process is on it/);
  });

  it('has outputs that can still be fetched: that is told, and keeps nothing from running', async () => {
    const until = Date.parse('2030-01-01T12:00:00Z');
    driver = stage.driver = new FakeDriver(async (life) => {
      await life.posted();
      await life.output('url', 'u');
      return { outstanding: { until }, keep: true, problems: [{ name: 'blob', kind: 'lost', reason: 'has not come' }] };
    });
    const installed = await run(Install, ['app', 'bundle.json', '-p', 'greeting=hi', '-p', 'token=s', '--json']);
    assert.equal(installed.exitCode, 5);
    assert.deepEqual((JSON.parse(installed.stdout) as Document)['outstanding'], { until: '2030-01-01T12:00:00.000Z' });
    assert.match(installed.stderr, /what has not come can still be had: cnab resume app/);
    const { stderr, stdout } = await run(OutputsShow, ['app', 'url']);
    assert.equal(stdout, 'u');
    assert.match(
      stderr,
      /^note: outputs of the install .* can be fetched until 2030-01-01 12:00:00Z: cnab resume app/m,
    );
    driver.resumes = everything;
    assert.equal((await run(Resume, ['app'])).exitCode, 0);
    assert.equal((await run(Show, ['app'])).stderr, '');
  });
});

describe('an output whose file is none', () => {
  it('is named, and hides no other', async () => {
    const home = temporaryHome();
    try {
      const cnab = join(home, 'cnab');
      await recordRun(cnab, { name: 'app', outputs: { url: 'u', count: '3' } });
      const outputs = join(cnab, 'targets/kubernetes-prod/outputs');
      const [id = ''] = readdirSync(outputs);
      rmSync(join(outputs, id, `${id}-count`));
      symlinkSync('/etc/hostname', join(outputs, id, `${id}-count`));
      for (const [command, name] of [
        [Show, 'show'],
        [OutputsList, 'outputs:list'],
      ] as const) {
        const driver = new FakeDriver(everything);
        const { exitCode, stdout, stderr } = await runInProcess(command, name, ['app'], { home, driver });
        assert.equal(exitCode, 0);
        assert.match(stdout, /^url +string/m);
        assert.match(stderr, /^warning: the output .*-count is not a regular file$/m);
      }
    } finally {
      removeHome(home);
    }
  });
});
