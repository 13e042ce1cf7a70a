import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { existsSync, mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CnabError } from '../../src/errors.js';
import Install from '../../src/commands/install.js';
import { FakeDriver, type FakeRun } from '../helpers/fake-driver.js';
import { RECORDED_BUNDLE, SANDBOX } from '../helpers/recorded-installation.js';
import { ManualClock } from '../helpers/manual-clock.js';
import { removeHome, temporaryHome } from '../helpers/run-cnab.js';
import { runInProcess, type InProcess } from '../helpers/run-command.js';

interface Document {
  readonly [key: string]: unknown;
  readonly outputs: readonly Readonly<Record<string, unknown>>[];
  readonly error?: Readonly<Record<string, unknown>>;
}

const PARAMETERS = ['-p', 'greeting=hi', '-p', 'token=tell-nobody'];

async function everything(run: FakeRun): Promise<void> {
  await run.log('installing\n');
  await run.output('url', 'https://example.org\n');
  await run.output('count', '3');
  await run.output('password', 'hunter2');
  await run.output('blob', Uint8Array.of(0, 255));
}

describe('cnab install', () => {
  let home: string;
  beforeEach(() => {
    home = temporaryHome();
    writeFileSync(join(home, 'bundle.json'), JSON.stringify(RECORDED_BUNDLE));
  });
  afterEach(() => removeHome(home));

  function install(argv: string[], given: Partial<InProcess> = {}) {
    const all = { home, driver: new FakeDriver(everything), ...given };
    return runInProcess(Install, 'install', ['app', 'bundle.json', ...PARAMETERS, ...argv], all);
  }

  it('shows the outputs as a table on stdout and everything else on stderr', async () => {
    const { exitCode, stdout, stderr } = await install([]);
    assert.equal(exitCode, 0);
    assert.match(stdout, /^OUTPUT +TYPE +SIZE +VALUE\nurl +string +20 B +https:\/\/example\.org\n/);
    assert.match(stdout, /password +string +7 B +<sensitive>\n/);
    assert.match(
      stderr,
      /^install app -> test \(https:\/\/127\.0\.0\.1:6443\), namespace default, service account: none$/m,
    );
    assert.match(stderr, /^run 0[0-9A-Z]{25}$/m);
    assert.ok(stderr.startsWith('install app -> '), stderr);
    assert.match(stderr, /^installing$/m);
    assert.match(stderr, /^install app: succeeded after [\d.]+s, on test/m);
  });

  it('prints one document with --json, and no value that is sensitive, binary or given', async () => {
    const { exitCode, stdout, stderr } = await install(['--json']);
    assert.equal(exitCode, 0);
    const body = JSON.parse(stdout) as Document;
    assert.deepEqual(Object.keys(body), [
      ...[
        'schemaVersion',
        'command',
        'action',
        'installation',
        'target',
        'runId',
        'revision',
        'status',
        'ran',
        'exitCode',
      ],
      ...['bundle', 'outputs', 'logComplete'],
    ]);
    assert.deepEqual(
      [body['target'], body['status'], body['ran'], body['exitCode']],
      ['test/default', 'succeeded', 'yes', 0],
    );
    assert.deepEqual(
      body.outputs.map(({ name, value }) => [name, value]),
      [
        ['url', 'https://example.org\n'],
        ['count', 3],
        ['password', undefined],
        ['blob', undefined],
      ],
    );
    assert.doesNotMatch(stdout + stderr, /hunter2|tell-nobody/);
  });

  it('exits 1 when the bundle fails, keeps what it left and says where its log is', async () => {
    const driver = new FakeDriver(async (run) => {
      await run.log('pods is forbidden: User "x" cannot list\n');
      await run.output('url', 'u');
      return {
        status: 'failed',
        exitCode: 3,
        error: new CnabError('bundle-failed', 'the bundle ended with exit code 3'),
      };
    });
    const { exitCode, stdout, stderr } = await install(['--json'], { driver });
    assert.equal(exitCode, 1);
    const body = JSON.parse(stdout) as Document;
    assert.deepEqual([body['status'], body['exitCode'], body.outputs.length], ['failed', 3, 1]);
    assert.deepEqual([body.error?.['code'], body.error?.['exitCode']], ['bundle-failed', 1]);
    assert.match(
      stderr,
      /^error: the bundle ended with exit code 3\n +its log: cnab logs app --run 0[0-9A-Z]{25} --context test --namespace default$/m,
    );
    assert.match(stderr, /--service-account NAME/);
  });

  it('exits 5 when the bundle ends with 0 and an output is missing', async () => {
    const { exitCode, stderr } = await install([], { driver: new FakeDriver((run) => run.output('url', 'u')) });
    assert.equal(exitCode, 5);
    assert.match(stderr, /output "count"/);
  });

  it('begins the orderly stop at SIGINT and exits 130', async () => {
    const signals = new EventEmitter();
    const driver = new FakeDriver(async ({ io }) => {
      signals.emit('SIGINT');
      signals.emit('SIGTERM');
      assert.deepEqual(io.signal.reason, { kind: 'signal', signal: 'SIGINT' });
      return Promise.resolve({ status: 'canceled', error: new CnabError('interrupted', 'install was interrupted') });
    });
    const { exitCode, stdout, stderr } = await install(['--json'], { driver, signals });
    assert.equal(exitCode, 130);
    assert.equal((JSON.parse(stdout) as Document)['status'], 'canceled');
    assert.match(stderr, /^interrupted: stopping the run; the bundle has 30s to end$/m);
  });

  it('exits 143 after SIGTERM', async () => {
    const signals = new EventEmitter();
    const driver = new FakeDriver(() => {
      signals.emit('SIGTERM');
      return Promise.resolve({ status: 'canceled', error: new CnabError('interrupted', 'install was interrupted') });
    });
    assert.equal((await install([], { driver, signals })).exitCode, 143);
  });

  it('stops the run when --timeout is over, and exits 4', async () => {
    const clock = new ManualClock(0);
    const driver = new FakeDriver(async ({ io }) => {
      await clock.elapse(600_000);
      if (!io.signal.aborted) await new Promise((resolve) => io.signal.addEventListener('abort', resolve));
      assert.deepEqual(io.signal.reason, { kind: 'timeout' });
      return { status: 'failed', error: new CnabError('timed-out', 'the time-out is over') };
    });
    const { exitCode, stderr } = await install(['--timeout', '10m'], { driver, parts: { clock } });
    assert.equal(exitCode, 4);
    assert.match(stderr, /^the time-out of 10m00s is over: stopping the run; the bundle has 30s to end$/m);
  });

  it('ends every result of the sandbox with the words that no cluster was touched', async () => {
    const { stderr } = await install([], { driver: new FakeDriver(everything, SANDBOX) });
    assert.match(stderr, /^install app -> the sandbox$/m);
    assert.match(stderr, /in the sandbox; no cluster was touched\n$/);
  });

  it('rejects with one document and nothing recorded when the name is taken', async () => {
    await install([]);
    const { thrown, command } = await install([]);
    assert.ok(thrown instanceof CnabError);
    assert.equal(thrown.code, 'wrong-state');
    const body = command.failureDocument(thrown, 9) as unknown as Document;
    assert.deepEqual([body['installation'], body['status'], body['ran'], body.outputs], ['app', 'failed', 'no', []]);
  });

  it('leaves outputs in --outputs-dir too, private and without the sensitive one', async () => {
    const { exitCode, stderr } = await install(['--outputs-dir', 'out']);
    assert.equal(exitCode, 0);
    assert.deepEqual(readdirSync(join(home, 'out')).sort(), ['blob', 'count', 'url']);
    assert.deepEqual([...readFileSync(join(home, 'out/blob'))], [0, 255]);
    assert.equal(statSync(join(home, 'out/url')).mode & 0o777, 0o600);
    assert.match(stderr, /sensitive outputs are not copied to out unless .*: password/);
  });

  it('leaves a sensitive output there when it is named, and runs nothing for a name that is none', async () => {
    const driver = new FakeDriver(everything);
    const named = ['--outputs-dir', 'out', '--include-sensitive'];
    const { thrown } = await install([...named, 'pasword'], { driver });
    assert.match((thrown as CnabError).message, /^bundle "demo" has no output "pasword"$/);
    assert.deepEqual((thrown as CnabError).suggestions, [
      'did you mean "password"?',
      'its outputs: url, count, password, blob',
    ]);
    assert.equal(driver.operations.length, 0);
    assert.equal((await install([...named, 'password'], { driver })).exitCode, 0);
    assert.equal(readFileSync(join(home, 'out/password'), 'utf8'), 'hunter2');
  });

  it('against a protected context runs nothing without --yes where nobody can be asked', async () => {
    const driver = new FakeDriver(everything);
    mkdirSync(join(home, 'cnab'));
    writeFileSync(join(home, 'cnab/config.yaml'), 'protected: [test]\n');
    const { thrown } = await install([], { driver });
    assert.match(
      (thrown as Error).message,
      /^the context "test" is protected by .*config\.yaml and nobody can be asked/,
    );
    assert.equal(driver.operations.length, 0);
    assert.equal(existsSync(join(home, 'cnab/targets')), false);
    assert.equal((await install(['--yes'], { driver })).exitCode, 0);
    assert.equal(driver.operations.length, 1);
  });

  it('is silent with --quiet but for the result', async () => {
    const { stdout, stderr } = await install(['-q']);
    assert.equal(stderr, '');
    assert.match(stdout, /^OUTPUT/);
  });

  it('reads a bundle from standard input, and refuses to read a credential from there too', async () => {
    const input = JSON.stringify(RECORDED_BUNDLE);
    const given = { home, driver: new FakeDriver(everything), input };
    assert.equal((await runInProcess(Install, 'install', ['app', '-', ...PARAMETERS], given)).exitCode, 0);
    const { thrown } = await runInProcess(Install, 'install', ['b', '-', '--credential', 'k=-'], given);
    assert.match((thrown as Error).message, /standard input is either the bundle or a credential/);
  });

  it('refuses a --credential that cannot be read before a driver is opened or a file is read', async () => {
    const parts = { openDriver: () => Promise.reject(new Error('a driver was opened')) };
    const { thrown } = await install(['--credential', 'token=hunter2', '--params', 'nowhere.yaml'], { parts });
    assert.ok(thrown instanceof CnabError);
    assert.match(thrown.details.join(), /a value is not taken from the command line/);
  });

  it('refuses a credential set that is not there, also where no credential is needed', async () => {
    const { thrown } = await install(['-c', 'prdo']);
    assert.ok(thrown instanceof CnabError);
    assert.equal(thrown.code, 'not-found');
    assert.match(thrown.message, /^there is no credential set "prdo": it would be .*credentials\/prdo\.yaml$/);
  });

  it('takes the last of two values for a parameter, and its name for the flag --set too', async () => {
    const driver = new FakeDriver(everything);
    await install(['--set', 'greeting=second'], { driver });
    const variable = driver.operations[0]?.environment.find(({ name }) => name === 'GREETING');
    assert.equal(Buffer.from(variable?.value ?? []).toString(), 'second');
  });

  it('says that variables of other tools are not used', async () => {
    const { stderr } = await install([], { env: { KUBE_NAMESPACE: 'ns', SERVICE_ACCOUNT: 'sa' } });
    assert.match(stderr, /^warning: KUBE_NAMESPACE is set and not used; write --namespace ns$/m);
    assert.match(stderr, /^warning: SERVICE_ACCOUNT is set and not used; write --service-account sa$/m);
  });

  it('wraps the log in GitHub Actions, so that no line of it is a command', async () => {
    const driver = new FakeDriver(async (run) => {
      await run.log('::set-env name=A::b');
      await everything(run);
    });
    const { stderr } = await install([], { driver, env: { GITHUB_ACTIONS: 'true', CI: 'true' } });
    const token = /^::stop-commands::([0-9a-f]{32})$/m.exec(stderr)?.[1] ?? '';
    const begin = stderr.indexOf(`::stop-commands::${token}\n`);
    const end = stderr.indexOf(`\n::${token}::\n`);
    assert.ok(begin >= 0 && begin < stderr.indexOf('::set-env') && stderr.indexOf('::set-env') < end);
    assert.doesNotMatch(stderr.slice(0, begin) + stderr.slice(end + token.length + 6), /^\s*::/m);
  });
});
