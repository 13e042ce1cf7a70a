import assert from 'node:assert/strict';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { resumeAction, type Resumed } from '../../src/action/resume-action.js';
import { InUse } from '../../src/claim/in-use.js';
import type { Claim } from '../../src/claim/claim.js';
import { CnabError } from '../../src/errors.js';
import { FAKE_TARGET, FakeDriver, type FakeLife } from '../helpers/fake-driver.js';
import { APP, loaded, refuses, Stage, never } from './stage.js';

/** The same namespace, by a user who may not read its UID. */
const SAME = { ...FAKE_TARGET, id: 'kubernetes-ca-1', context: 'ci' };
describe("one run is one process's at a time", () => {
  let stage: Stage;
  let other: FakeDriver;
  let held: string[];
  beforeEach(async () => {
    stage = await Stage.create();
    other = new FakeDriver(never, SAME);
    other.resumes = never;
    held = [];
    other.hold = ({ runId }) => (held.push(runId), Promise.resolve());
  });
  afterEach(async () => stage.remove());

  const resume = (changes: { runId?: string } = {}): Promise<Resumed> =>
    resumeAction({ installation: 'app', cancel: false, ...changes }, stage.context(other));

  /** What lies below the run folders, by name. */
  async function kept(): Promise<Record<string, string>> {
    const names = await readdir(path.join(stage.home, 'runs'), { recursive: true, withFileTypes: true });
    const files = names.filter((entry) => entry.isFile()).map((entry) => path.join(entry.parentPath, entry.name));
    const read = files.map(async (file) => [file, await readFile(file, 'utf8')] as const);
    return Object.fromEntries(await Promise.all(read));
  }

  /** The other target finds the run that carries this claim. */
  function offers(claim: Claim): void {
    const state = { namespace: 'default', job: 'cnab-job', jobUid: 'uid-of-job' };
    other.found = [{ runId: claim.id, action: claim.action, created: Date.parse(claim.created), state }];
    const record = Buffer.from(JSON.stringify(claim));
    other.inputsOf = () => Promise.resolve({ record, environment: new Map(), files: new Map() });
    other.sight = { phase: 'running', detail: 'is running in pod p' };
  }

  /** Does `meanwhile` while the run is on its way. */
  async function during(action: string, meanwhile: (claim: Claim) => Promise<void>): Promise<void> {
    const outcome = await stage.run(
      action,
      async (run: FakeLife & { operation: { record: Uint8Array } }) => {
        await run.posted();
        await run.log('one\n');
        await writeFile(path.join(run.io.staging, '0.part'), 'half');
        await meanwhile(JSON.parse(Buffer.from(run.operation.record).toString()) as Claim);
        await run.log('two\n');
        await run.output('url', 'http://x\n');
      },
      { bundle: loaded(APP) },
    );
    assert.equal(outcome.status, 'succeeded');
    assert.equal(outcome.logComplete, true);
    assert.deepEqual(await readdir(path.join(stage.home, 'runs')), []);
  }

  it("also where it looks like two targets: the second is busy, and the first one's files are as they were", async () => {
    await during('install', async (claim) => {
      offers(claim);
      const before = await kept();
      assert.equal(Object.keys(before).length, 3);
      const error = await refuses(
        resume(),
        'busy',
        new RegExp(`^run ${claim.id} of "app" is in use: install by process`),
      );
      assert.ok(error instanceof InUse && error.of === 'run');
      assert.deepEqual(held, [], 'its Job names the first one still');
      assert.deepEqual(await kept(), before);
      assert.equal(await stage.store.on(SAME).read('app'), undefined);
    });
    assert.deepEqual([other.begun, other.released], [[], []]);
    assert.deepEqual(await stage.story(), ['install: running, succeeded']);
  });

  it("also a stateless one, which no installation's lock guards", async () => {
    other = new FakeDriver(never);
    await during('io.cnab.help', async (claim) => {
      offers(claim);
      const before = await kept();
      await refuses(resume({ runId: claim.id }), 'busy', /is in use: io\.cnab\.help by process/);
      assert.deepEqual(await kept(), before);
    });
    assert.deepEqual([other.begun, other.released], [[], []]);
  });

  it('and no run of another cluster with the same id takes the place of one that is kept here', async () => {
    await stage.kill('install', (run) => run.posted());
    const { claim } = await stage.last();
    offers(claim);
    const before = await kept();
    await refuses(
      resume(),
      'wrong-state',
      new RegExp(
        `^run ${claim.id} is kept here as one of "app" on test .*\n.*cnab resume app --run ${claim.id} --context test --namespace default`,
      ),
    );
    assert.deepEqual(await kept(), before);
    assert.equal(await stage.store.on(SAME).read('app'), undefined);
    assert.deepEqual([other.begun, other.released], [[], []]);
  });

  it('and what this home has noted of a run whose record it lost is heeded, and never removed for a look', async () => {
    await stage.kill('install', (run) =>
      run.io.onState({ namespace: 'default', job: 'cnab-job', holder: 'me', stop: { kind: 'timeout' } }),
    );
    const { claim } = await stage.last();
    await rm(path.join(stage.home, 'targets'), { recursive: true });
    other = new FakeDriver(never);
    offers(claim);
    const holders: unknown[] = [];
    other.hold = ({ state }) => {
      holders.push(state.holder);
      return Promise.reject(new CnabError('unavailable', 'the cluster does not answer'));
    };
    const state = path.join(stage.home, 'runs', claim.id, 'state.json');
    const noted = await readFile(state, 'utf8');
    for (const text of [noted, '{']) {
      await writeFile(state, text);
      const before = await kept();
      await refuses(resume(), 'unavailable', /does not answer/);
      assert.deepEqual(await kept(), before);
    }
    await writeFile(state, noted);
    other.hold = () => Promise.resolve();
    other.resumes = () => Promise.resolve({ status: 'failed', exitCode: undefined as never });
    await resume();
    assert.deepEqual([holders, other.begun[0]?.state.stop], [['me', undefined], { kind: 'timeout' }]);
  });

  it('and what is put away or given up is left alone while another process is on it', async () => {
    const runId = await stage.kill('install', (run) => run.posted());
    const folder = await stage.store.on(SAME).openRun(runId, { installation: 'app', purpose: 'resume' });
    const next = new FakeDriver(never);
    await refuses(stage.run('install', next, { force: true }), 'busy', /is in use: resume by process/);
    assert.deepEqual([next.released, await stage.story()], [[], ['install: running']]);
    await folder.close();
    // The lock of whoever was killed is heeded by nobody.
    await rm(path.join(stage.home, 'locks'), { recursive: true });
    await mkdir(path.join(stage.home, 'locks'));
    const after = new FakeDriver((run) => run.output('url', 'x'));
    assert.equal((await stage.run('install', after, { force: true })).status, 'succeeded');
  });
});
