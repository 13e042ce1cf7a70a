import assert from 'node:assert/strict';
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Bundle } from '../../src/bundle/bundle.js';
import { LOGS_OUTPUT } from '../../src/claim/claim.js';
import { isSensitiveParameter } from '../../src/claim/status.js';
import { FAKE_TARGET, type FakeRun } from '../helpers/fake-driver.js';
import { APP, loaded, Stage, text, refuses } from './stage.js';

const ok = async (run: FakeRun): Promise<void> => run.output('url', 'http://x\n');

describe('runAction', () => {
  let stage: Stage;
  beforeEach(async () => (stage = await Stage.create()));
  afterEach(async () => stage.remove());

  it('has claim and running result on disk before the driver is called, and the final result after it', async () => {
    let seen: string[] = [];
    const outcome = await stage.run('install', async (run) => {
      seen = await stage.story();
      await run.log('hello\n');
      await run.output('url', 'http://x\n');
    });
    assert.deepEqual(seen, ['install: running']);
    assert.equal(outcome.status, 'succeeded');
    assert.equal(outcome.ran, 'yes');
    assert.deepEqual(
      outcome.outputs.map(({ name, value }) => [name, value]),
      [['url', 'http://x\n']],
    );
    assert.deepEqual(await stage.story(), ['install: running, succeeded']);
    const { result } = await stage.last();
    assert.deepEqual(Object.keys(result.outputs ?? {}).sort(), [LOGS_OUTPUT, 'url'].sort());
    const stored = await stage.store.on(FAKE_TARGET).output(result.id, 'url');
    assert.equal(await readFile(stored?.file ?? '', 'utf8'), 'http://x\n');
    const log = await stage.store.on(FAKE_TARGET).output(result.id, LOGS_OUTPUT);
    assert.equal(await readFile(log?.file ?? '', 'utf8'), 'hello\n');
  });

  it('leaves no run folder and no lock behind', async () => {
    await stage.run('install', ok);
    assert.deepEqual(await readdir(path.join(stage.home, 'runs')).catch(() => []), []);
    assert.deepEqual(
      (await readdir(path.join(stage.home, 'locks'), { recursive: true }).catch(() => [])).filter((name) =>
        name.endsWith('.json'),
      ),
      [],
    );
  });

  it('keeps the outputs of a failing bundle, with its exit code and without complaints of what is missing', async () => {
    const outcome = await stage.run('install', async (run) => {
      await run.output('url', 'partial');
      return { status: 'failed', exitCode: 3 };
    });
    assert.equal(outcome.status, 'failed');
    assert.equal(outcome.exitCode, 3);
    assert.equal(outcome.error?.code, 'bundle-failed');
    assert.match(outcome.error?.message ?? '', /exit code 3/);
    const { result } = await stage.last();
    assert.ok(await stage.store.on(FAKE_TARGET).output(result.id, 'url'));
  });

  it('says failed and why when exit code 0 comes without an output that has no default', async () => {
    const outcome = await stage.run('install', () => Promise.resolve());
    assert.equal(outcome.status, 'failed');
    assert.equal(outcome.error?.code, 'outputs-incomplete');
    assert.deepEqual(outcome.error?.details, ['output "url" (/cnab/app/outputs/url): was not written']);
    await refuses(stage.run('install', ok), 'wrong-state', /already installed/);
  });

  it('leaves a final result when the driver throws, and throws the bug on', async () => {
    const bug = new TypeError('x is not a function');
    await assert.rejects(
      stage.run('install', () => Promise.reject(bug)),
      bug,
    );
    assert.deepEqual(await stage.story(), ['install: running, unknown']);
  });

  it('records a run that was interrupted as canceled', async () => {
    const stop = new AbortController();
    const outcome = await stage.run(
      'install',
      () => {
        stop.abort({ kind: 'signal', signal: 'SIGINT' });
        return Promise.resolve({ status: 'canceled', ran: 'yes' });
      },
      {},
      stop.signal,
    );
    assert.equal(outcome.status, 'canceled');
    assert.equal(outcome.error?.code, 'interrupted');
    assert.deepEqual(outcome.stopReason, { kind: 'signal', signal: 'SIGINT' });
    assert.deepEqual(await stage.story(), ['install: running, canceled']);
  });

  it('tells a time-out from an interruption also before the driver began', async () => {
    const ends = [
      [{ kind: 'timeout' }, 'failed', 'timed-out', 'the time-out was over before install began.'],
      [{ kind: 'signal', signal: 'SIGINT' }, 'canceled', 'interrupted', 'install was interrupted before it began.'],
    ] as const;
    for (const [reason, status, code, message] of ends) {
      const outcome = await stage.run('install', ok, {}, AbortSignal.abort(reason));
      assert.deepEqual(
        [outcome.status, outcome.ran, outcome.error?.code, outcome.error?.message],
        [status, 'no', code, message],
      );
    }
  });

  it("refuses a second install, whatever became of the first one's outputs, and runs it with --force", async () => {
    await stage.run('install', ok);
    await refuses(stage.run('install', ok), 'wrong-state', /cnab upgrade app/);
    assert.equal((await stage.run('install', ok, { force: true })).status, 'succeeded');
  });

  it('lets install repair a failed install, and install again what was uninstalled', async () => {
    await stage.run('install', () => Promise.resolve({ status: 'failed', exitCode: 1 }));
    assert.equal((await stage.run('install', ok)).status, 'succeeded');
    assert.equal((await stage.run('uninstall', ok)).status, 'succeeded');
    await refuses(stage.run('uninstall', ok), 'wrong-state', /is uninstalled/);
    assert.equal((await stage.run('install', ok)).status, 'succeeded');
  });

  it('keeps an installation as installed when an upgrade never started', async () => {
    await stage.run('install', ok);
    await stage.run('upgrade', () => Promise.resolve({ status: 'failed', ran: 'no', exitCode: undefined as never }));
    await refuses(stage.run('install', ok), 'wrong-state', /already installed/);
  });

  it('refuses to run over a run that never got an end, and records it as unknown with --force', async () => {
    const claims = stage.store.on(FAKE_TARGET);
    await stage.run('install', ok);
    const { claim } = await stage.last();
    const id = await claims.nextId('app');
    await claims.saveClaim({ ...claim, id, action: 'upgrade', revision: id });
    await claims.saveResult('app', {
      id: await claims.nextId('app'),
      claimId: id,
      created: claim.created,
      status: 'running',
    });
    await refuses(
      stage.run('uninstall', ok),
      'contact-lost',
      new RegExp(
        `upgrade of "app" .*run ${id}.* never reported an end: it is not there[^]*cnab resume app --run ${id} --context[^]*cnab wait app --run ${id}[^]*logs -f app --run ${id}[^]*--run ${id} --cancel[^]*--force`,
      ),
    );
    await stage.run('uninstall', ok, { force: true });
    assert.deepEqual(await stage.story(), [
      'install: running, succeeded',
      'upgrade: running, unknown',
      'uninstall: running, succeeded',
    ]);
  });

  it('records nothing when it refuses: unknown action, missing credential, wrong parameter', async () => {
    await stage.run('install', ok);
    const before = await stage.story();
    await refuses(stage.run('nonsense', ok), 'invalid', /no action "nonsense"[^]*io.cnab.help, status, rotate/);
    stage.credentials = {};
    await refuses(
      stage.run('upgrade', ok),
      'invalid',
      /credential "token" \(variable TOKEN\)[^]*--credential token=env:TOKEN/,
    );
    await refuses(
      stage.run('status', ok, { parameters: [text('prot', '1'), text('port', 'x')] }),
      'invalid',
      /no parameter "prot"[^]*port/,
    );
    assert.deepEqual(await stage.story(), before);
  });

  it('leaves no record of a stateless action, needs no installation for it and returns its outputs', async () => {
    const outcome = await stage.run('io.cnab.help', ok, { bundle: loaded(APP) });
    assert.equal(outcome.status, 'succeeded');
    assert.equal(outcome.recorded, undefined);
    assert.equal(outcome.outputs[0]?.value, 'http://x\n');
    assert.equal(await stage.installation(), undefined);
  });

  it('gives a non-modifying action the revision of the last modifying run', async () => {
    const { revision } = await stage.run('install', ok);
    const status = await stage.run('status', ok);
    assert.equal(status.revision, revision);
    assert.notEqual(status.runId, revision);
    assert.notEqual((await stage.run('rotate', ok)).revision, revision);
  });

  it('installs with upgrade --install where nothing is installed', async () => {
    const outcome = await stage.run('upgrade', ok, { installIfAbsent: true, bundle: loaded(APP) });
    assert.equal(outcome.action, 'install');
  });

  it('removes the record of a successful uninstall with --delete-record, and keeps it after a failed one', async () => {
    await stage.run('install', ok);
    await stage.run('uninstall', () => Promise.resolve({ status: 'failed', exitCode: 1 }), { deleteRecord: true });
    assert.ok(await stage.installation());
    await stage.run('uninstall', ok, { deleteRecord: true });
    assert.equal(await stage.installation(), undefined);
  });

  it('never shows a credential in log, claim, result or message', async () => {
    await stage.run('install', ok);
    const outcome = await stage.run('upgrade', async (run) => {
      await run.log('using tok-12');
      await run.log('345 now\n');
      await run.output('url', 'u');
      await run.output('password', 'pass-word');
    });
    assert.equal(stage.log, 'using ****** now\n');
    assert.equal(outcome.outputs.find(({ name }) => name === 'password')?.value, undefined);
    for (const file of await readdir(stage.home, { recursive: true, withFileTypes: true })) {
      if (!file.isFile()) continue;
      const content = await readFile(path.join(file.parentPath, file.name), 'utf8');
      assert.ok(!content.includes('tok-12345'), `${file.name} holds the credential`);
    }
  });

  it('masks the members of a sensitive parameter, and what comes from a sensitive output', async () => {
    const definition = { type: 'object', properties: { password: { type: 'string', writeOnly: true } } };
    const bundle: Bundle = {
      ...APP,
      credentials: {},
      definitions: { ...APP.definitions, login: definition },
      parameters: {
        login: { definition: 'login', destination: { env: 'LOGIN' } },
        fed: { definition: 'text', destination: { env: 'FED' }, applyTo: ['upgrade'] },
      },
      outputs: { password: { definition: 'secret', path: '/cnab/app/outputs/password' } },
      custom: {
        'io.cnab.parameter-sources': { fed: { priority: ['output'], sources: { output: { name: 'password' } } } },
      },
    };
    const tool = async (run: FakeRun): Promise<void> => {
      await run.log('login hunter2, then generated-pw\n');
      await run.output('password', 'generated-pw');
    };
    const parameters = [text('login', '{"password":"hunter2"}')];
    await stage.run('install', tool, { bundle: loaded(bundle), parameters });
    await stage.run('upgrade', tool);
    assert.equal(stage.log, 'login ******, then generated-pw\nlogin ******, then ******\n');
    const { claim } = await stage.last();
    assert.equal(claim.parameters?.['fed'], 'generated-pw');
    assert.deepEqual([isSensitiveParameter(claim, 'fed'), isSensitiveParameter(claim, 'login')], [true, true]);
  });

  it('says where the outputs are kept when the record cannot be written', async () => {
    await stage.run('install', ok);
    const results = path.join(stage.home, 'targets', FAKE_TARGET.id, 'results');
    const error = await refuses(
      stage.run('upgrade', async (run) => {
        await run.output('url', 'precious');
        await run.output('password', 'p');
        await rm(results, { recursive: true });
        await writeFile(results, '');
      }),
      'contact-lost',
      /kept in /,
    );
    const staging = /kept in (\S+),/.exec(error.suggestions.join('\n'))?.[1] ?? '';
    assert.ok((await readdir(staging)).length > 0);
  });
});
