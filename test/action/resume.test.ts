import assert from 'node:assert/strict';
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { resumeAction, type Resumed } from '../../src/action/resume-action.js';
import type { ActionOutcome } from '../../src/action/request.js';
import { resultExtras } from '../../src/action/kept.js';
import { LOGS_OUTPUT } from '../../src/claim/claim.js';
import { CnabError } from '../../src/errors.js';
import { FAKE_TARGET, FakeDriver, type FakeResume } from '../helpers/fake-driver.js';
import { APP, loaded, refuses, Stage, never, saying } from './stage.js';

const whole = saying('one\ntwo tok-12345\nthree\n');

describe('a run whose process was killed', () => {
  let stage: Stage;
  let driver: FakeDriver;
  beforeEach(async () => {
    stage = await Stage.create();
    driver = new FakeDriver(never);
    driver.resumes = whole;
  });
  afterEach(async () => stage.remove());

  const resume = (changes: { cancel?: boolean; runId?: string } = {}, signal?: AbortSignal): Promise<Resumed> =>
    resumeAction({ installation: 'app', cancel: false, ...changes }, stage.context(driver, signal));
  async function outcome(changes: { cancel?: boolean; runId?: string } = {}): Promise<ActionOutcome> {
    const resumed = await resume(changes);
    assert.ok(resumed.kind === 'settled');
    return resumed.outcome;
  }
  async function logOf(): Promise<string> {
    const { result } = await stage.last();
    const stored = await stage.store.on(FAKE_TARGET).output(result.id, LOGS_OUTPUT);
    return await readFile(stored?.file ?? '', 'utf8');
  }
  const runs = (): Promise<string[]> => readdir(path.join(stage.home, 'runs'));

  it('ends as it would have ended undisturbed: record, outputs, log, and nothing left behind', async () => {
    await stage.run('install', whole);
    const [undisturbed, log] = [await stage.records(), await logOf()];
    for (const printed of ['', 'one\nt', 'one\ntwo tok-12345\nthree\n']) {
      await stage.store.on(FAKE_TARGET).remove('app');
      const runId = await stage.kill('install', async (run) => {
        await run.posted();
        await run.log(printed);
      });
      assert.deepEqual(await stage.story(), ['install: running']);
      stage.log = '';
      const ended = await outcome();
      assert.deepEqual([ended.runId, ended.status, ended.outputs[0]?.value], [runId, 'succeeded', 'http://x\n']);
      assert.equal(await stage.records(), undisturbed);
      assert.equal(await logOf(), log);
      assert.equal(stage.log, log.slice(printed.length), 'only what is new is shown');
      assert.deepEqual(await runs(), []);
      assert.equal(driver.released.at(-1), runId);
    }
  });

  it('is handed to the driver with what it was asked for and what was noted last', async () => {
    await stage.kill('install', (run) => run.posted());
    await outcome();
    const [begun] = driver.begun;
    assert.deepEqual(begun?.state, { namespace: 'default', job: 'cnab-job', jobUid: 'uid-of-job' });
    assert.deepEqual(
      begun?.outputs.map(({ name }) => name),
      ['url'],
    );
    assert.deepEqual([begun?.action, begun?.installation], ['install', 'app']);
  });

  it('is released when its record is on disk, and never before', async () => {
    await stage.kill('install', (run) => run.posted());
    driver.onRelease = async () => {
      assert.deepEqual(await stage.story(), ['install: running, succeeded']);
      assert.equal((await runs()).length, 1);
      return ['a Job is left'];
    };
    assert.deepEqual((await outcome()).warnings, ['a Job is left']);
    assert.deepEqual(await stage.story(), ['install: running, succeeded']);
  });

  it('never shows or records a credential: it is read back from the run', async () => {
    await stage.run('install', whole);
    await stage.kill('upgrade', (run) => run.posted());
    stage.log = '';
    driver.inputsOf = () =>
      Promise.resolve({
        record: Buffer.alloc(0),
        environment: new Map([['TOKEN', Buffer.from('tok-12345')]]),
        files: new Map(),
      });
    driver.resumes = async (run) => {
      await whole(run);
      await run.output('password', 'p');
    };
    await outcome();
    assert.equal(await logOf(), 'one\ntwo ******\nthree\n');
    assert.doesNotMatch(stage.log, /tok-12345/);
  });

  it('withholds its log where the credentials cannot be read back, and says so', async () => {
    await stage.run('install', whole);
    await stage.kill('upgrade', (run) => run.log('one\n'));
    stage.log = '';
    driver.resumes = async (run) => {
      await whole(run);
      return { status: 'running', keep: true };
    };
    driver.inputsOf = () =>
      Promise.resolve({ record: Buffer.alloc(0), environment: new Map(), files: new Map([['/x', Buffer.from('y')]]) });
    assert.match((await outcome()).warnings.join(), /credential "token" is not among what the run was given/);
    driver.resumes = whole;
    driver.inputsOf = () => Promise.reject(new CnabError('unavailable', 'secrets may not be read'));
    const ended = await outcome();
    assert.equal(ended.logComplete, false);
    assert.match(ended.warnings.join(), /neither shown nor recorded: .*secrets may not be read/);
    assert.deepEqual([await logOf(), stage.log], ['one\n', '']);
  });

  it('is stopped by --cancel: the wish is on disk before the driver is asked', async () => {
    const runId = await stage.kill('install', (run) => run.posted());
    driver.resumes = async ({ begun }: FakeResume) => {
      const stop = { kind: 'cancel' };
      assert.deepEqual(begun.state.stop, stop);
      const left = await stage.store.on(FAKE_TARGET).runLeft(runId);
      assert.deepEqual((left?.state as { stop?: unknown }).stop, stop);
      return { status: 'canceled', exitCode: undefined as never };
    };
    assert.equal((await outcome({ cancel: true })).status, 'canceled');
    assert.deepEqual(await stage.story(), ['install: running, canceled']);
  });

  for (const stop of [{ kind: 'timeout' }, { kind: 'cancel' }, { kind: 'signal', signal: 'SIGTERM' }] as const) {
    it(`keeps the wish to stop that its process had noted: ${stop.kind}`, async () => {
      await stage.kill('install', (run) => run.io.onState({ job: 'j', stop }));
      await outcome();
      assert.deepEqual(driver.begun[0]?.state.stop, stop);
    });
  }

  it('stays to be taken up when this process leaves it too, or is killed too', async () => {
    await stage.kill('install', (run) => run.posted());
    driver.resumes = async (run) => {
      await run.log('one\n');
      return { status: 'running', keep: true };
    };
    assert.equal((await outcome()).status, 'running');
    assert.deepEqual([await stage.story(), driver.released], [['install: running'], []]);
    driver.resumes = whole;
    stage.log = '';
    assert.equal((await outcome()).status, 'succeeded');
    assert.equal(stage.log, 'two tok-12345\nthree\n');
  });

  it('is put away by the next command when it was killed between record and release', async () => {
    driver.onRelease = () => new Promise(() => undefined);
    const done = new FakeDriver(whole);
    const reached = new Promise<void>((resolve) => (done.onRelease = () => (resolve(), new Promise(() => undefined))));
    void stage.run('install', done);
    await reached;
    await rm(path.join(stage.home, 'locks'), { recursive: true });
    const [runId] = await runs();
    assert.deepEqual(await stage.story(), ['install: running, succeeded']);
    const next = new FakeDriver(whole);
    await stage.run('status', next);
    assert.equal(next.released[0], runId);
    assert.deepEqual(await runs(), []);
  });

  it('leaves nothing to take up once it has an end, which is told', async () => {
    await stage.run('install', whole);
    const resumed = await resume();
    assert.ok(resumed.kind === 'ended');
    assert.equal(resumed.record.claim.action, 'install');
    await refuses(resume({ runId: '01XX' }), 'not-found', /has no run "01XX"[^]*cnab history app/);
  });

  it('is not there to take up where nothing of that name is', async () => {
    await refuses(resume(), 'not-found', /no installation "app" on test/);
  });

  it('is left to the live process that is on it', async () => {
    await stage.kill('install', (run) => run.posted());
    const lock = await stage.store.on(FAKE_TARGET).lock('app', 'upgrade');
    await refuses(
      resume(),
      'busy',
      new RegExp(`^process ${process.pid} on .* \\(upgrade since .*is on it[^]*logs -f app[^]*wait app`),
    );
    await lock.release();
  });

  it('is recorded as unknown and removed by --force, and other actions are refused without', async () => {
    const runId = await stage.kill('install', (run) => run.posted());
    const next = new FakeDriver(whole);
    next.sight = { phase: 'running', detail: 'is running in pod p' };
    await refuses(stage.run('install', next), 'contact-lost', /it is running in pod p\.\n[^]*cnab resume app/);
    await stage.run('install', next, { force: true });
    assert.equal(next.released[0], runId);
    assert.match(stage.warnings.join(), new RegExp(`run ${runId}\\) is given up`));
    assert.deepEqual(await stage.story(), ['install: running, unknown', 'install: running, succeeded']);
    assert.deepEqual(await runs(), []);
  });

  for (const [how, look] of Object.entries({
    'that goes on': (next: FakeDriver) => (next.sight = { phase: 'running', detail: 'is running in pod p' }),
    'that nobody can look at': (next: FakeDriver) =>
      (next.look = () => Promise.reject(new CnabError('unavailable', 'the cluster did not answer'))),
  })) {
    it(`${how} although it was to be stopped is run beside by no --force, and can be taken up as before`, async () => {
      const runId = await stage.kill('install', (run) => run.posted());
      const next = new FakeDriver(never);
      next.onRelease = () => Promise.resolve(['job j is left in namespace default: 503.']);
      look(next);
      const refused = stage.run('install', next, { force: true });
      await refuses(refused, 'contact-lost', new RegExp(`run ${runId}\\) could not be stopped.*[^]*cnab resume app`));
      assert.deepEqual([next.operations, await runs()], [[], [runId]]);
      assert.deepEqual(await stage.story(), ['install: running']);
      assert.equal((await outcome()).status, 'succeeded');
    });
  }

  it('before its record said that it runs is settled as one that never ran, by resume or by the next action', async () => {
    const nothing: FakeDriver['resumes'] = () =>
      Promise.resolve({ status: 'failed', ran: 'no', exitCode: undefined as never, logComplete: true });
    for (const settle of [() => resume(), () => stage.run('install', whole)]) {
      await stage.kill('install', (run) => run.posted());
      const { claim } = await stage.last();
      await rm(path.join(stage.home, 'targets', FAKE_TARGET.id, 'results', claim.id), { recursive: true });
      await rm(path.join(stage.home, 'runs'), { recursive: true });
      driver.resumes = nothing;
      await settle();
      const records = (await stage.installation())?.records ?? [];
      const settled = records.find((record) => record.claim.id === claim.id)?.results.at(-1);
      assert.equal(settled?.status, 'failed');
      assert.deepEqual(settled && resultExtras(settled).ran, 'no');
    }
    assert.deepEqual(
      driver.begun.map(({ state }) => state),
      [{}],
    );
  });

  it('is looked for on its target where its own note is lost or says little', async () => {
    const state = { namespace: 'elsewhere', job: 'j', jobUid: 'u' };
    const runId = await stage.kill('install', (run) => run.io.onState({ job: 'j', stop: { kind: 'timeout' } }));
    driver.found = [{ runId, action: 'install', created: 0, state }];
    await outcome();
    assert.deepEqual(driver.begun[0]?.state, { ...state, stop: { kind: 'timeout' } });
    const other = await stage.kill('status', (run) => run.posted());
    await rm(path.join(stage.home, 'runs'), { recursive: true });
    driver.found = [{ runId: other, action: 'status', created: 0, state }];
    await outcome();
    assert.deepEqual(driver.begun[1]?.state, state);
  });

  for (const left of ['no folder', 'an empty note', 'half a note']) {
    it(`is never told as one that did not run where ${left} is left of what was noted`, async () => {
      const runId = await stage.kill('install', (run) => run.posted());
      if (left === 'no folder') await rm(path.join(stage.home, 'runs'), { recursive: true });
      else
        await writeFile(path.join(stage.home, 'runs', runId, 'state.json'), left === 'an empty note' ? '' : '{"namesp');
      driver.find = () => Promise.reject(new CnabError('unavailable', 'the cluster is away'));
      await refuses(resume(), 'unavailable', /the cluster is away/);
      assert.deepEqual(await stage.story(), ['install: running']);
      driver.find = () => Promise.resolve([]);
      const ended = await outcome();
      assert.deepEqual([ended.status, ended.ran, ended.error?.code], ['unknown', 'unknown', 'contact-lost']);
    });
  }

  it('that is detached from keeps its record running and its state, and no lock', async () => {
    let detach: boolean | undefined;
    const detached = await stage.run(
      'install',
      async (run) => {
        detach = run.io.detach;
        await run.posted();
        return { status: 'running', ran: 'unknown', keep: true };
      },
      { detach: true },
    );
    assert.deepEqual([detach, detached.status, detached.error], [true, 'running', undefined]);
    assert.deepEqual(await stage.story(), ['install: running']);
    assert.equal((await outcome()).status, 'succeeded');
    await refuses(
      stage.run('io.cnab.help', whole, { bundle: loaded(APP), detach: true }),
      'invalid',
      /stateless[^]*without --detach/,
    );
  });
});
