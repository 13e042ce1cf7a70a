import assert from 'node:assert/strict';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { recordedOutcome } from '../../src/action/recorded-outcome.js';
import { resumeAction } from '../../src/action/resume-action.js';
import { waitForRun, type Waited } from '../../src/action/wait-for-run.js';
import { RunHeld, type RunEnd } from '../../src/driver/driver.js';
import { CnabError } from '../../src/errors.js';
import { FAKE_TARGET, FakeDriver } from '../helpers/fake-driver.js';
import { fastClock } from '../helpers/fast-clock.js';
import { elsewhere, refuses, Stage, never } from './stage.js';

const FAILED: RunEnd = {
  ...{ status: 'failed', ran: 'yes', exitCode: 3 },
  error: new CnabError('bundle-failed', 'install failed with exit code 3'),
};

describe('waiting for a run', () => {
  let stage: Stage;
  let driver: FakeDriver;
  /** Jobs of the runs that were watched. */
  let watched: (string | undefined)[];
  beforeEach(async () => {
    stage = await Stage.create();
    driver = new FakeDriver(never);
    driver.resumes = (run) => run.posted();
    watched = [];
    driver.watches = (_, { state }) => {
      watched.push(state.job);
      return Promise.resolve(FAILED);
    };
  });
  afterEach(async () => stage.remove());

  const wait = (signal?: AbortSignal, runId?: string): Promise<Waited> =>
    // What is waited for outside of this process passes in no time.
    waitForRun(
      { installation: 'app', ...(runId === undefined ? {} : { runId }) },
      { ...stage.context(driver, signal), clock: fastClock(60) },
    );
  const runs = (): Promise<string[]> => readdir(path.join(stage.home, 'runs')).catch(() => []);

  function assertTouchedNothing(): void {
    assert.deepEqual([driver.begun, driver.released], [[], []]);
  }

  /** A run of this process that has begun, and fails with exit code 2 when it is told to end. */
  async function liveRun(): Promise<{ readonly running: Promise<unknown>; readonly end: () => void }> {
    let end = (): void => undefined;
    const told = new Promise<void>((resolve) => (end = resolve));
    let running: Promise<unknown> = Promise.resolve();
    await new Promise<void>((resolve, reject) => {
      running = stage.run('install', async (run) => {
        await run.posted();
        resolve();
        await told;
        return { status: 'failed', exitCode: 2 };
      });
      running.catch(reject);
    });
    return { running, end };
  }

  /** As another container leaves it that has the same folder. */
  async function lockFromElsewhere(): Promise<{ readonly file: string; readonly release: () => Promise<void> }> {
    const lock = await stage.store.on(FAKE_TARGET).lock('app', 'install');
    const file = (await stage.store.on(FAKE_TARGET).owner('app'))?.lockFile ?? '';
    const owner = JSON.parse(await readFile(file, 'utf8')) as object;
    await writeFile(file, JSON.stringify({ ...owner, pid: 1, pidNamespace: 'pid:[1]' }));
    return { file, release: () => lock.release() };
  }

  it('gives the end that is recorded', async () => {
    const error = new CnabError('bundle-failed', 'it ended with 3', { details: ['x'] });
    await stage.run('install', () => Promise.resolve({ status: 'failed', exitCode: 3, error }));
    const ended = await wait();
    assert.ok(ended.kind === 'ended');
    const told = recordedOutcome(ended.record, FAKE_TARGET, []);
    assert.deepEqual([told.status, told.exitCode, told.ran], ['failed', 3, 'yes']);
    assert.deepEqual(
      [told.error?.code, told.error?.message, told.error?.details],
      ['bundle-failed', 'it ended with 3', ['x']],
    );
  });

  it('takes up a run that no process is on', async () => {
    driver.resumes = async (run) => {
      await run.posted();
      await run.output('url', 'http://x\n');
    };
    await stage.kill('install', (run) => run.posted());
    const waited = await wait();
    assert.deepEqual(waited.kind === 'settled' && waited.outcome.status, 'succeeded');
  });

  it("waits for a live process's run by its record, and for no later one", async () => {
    const { running, end } = await liveRun();
    const waited = wait();
    await new Promise((resolve) => setTimeout(resolve, 200));
    end();
    await running;
    const ended = await waited;
    assert.ok(ended.kind === 'ended');
    assert.equal(recordedOutcome(ended.record, FAKE_TARGET, []).exitCode, 2);
    assertTouchedNothing();
  });

  it('can be left while another process is on it', async () => {
    const runId = await stage.kill('install', (run) => run.posted());
    const lock = await stage.store.on(FAKE_TARGET).lock('app', 'install');
    await refuses(wait(AbortSignal.timeout(100)), 'interrupted', /goes on: only the waiting/);
    await lock.release();
    assert.ok((await runs()).includes(runId));
  });

  describe('of another machine', () => {
    it('only looks at it, and gives its end: nothing is recorded, held, fetched or removed', async () => {
      const { id } = await elsewhere(driver);
      driver.holds = () => Promise.reject(new Error('it was held'));
      driver.inputsOf = () => Promise.reject(new Error('its secrets were read'));
      const looked = await wait();
      assert.ok(looked.kind === 'looked');
      assert.deepEqual([looked.run.runId, looked.run.action, looked.end], [id, 'install', FAILED]);
      assert.match(looked.next, /are for the process that is on it; where there is none: cnab resume app --run /);
      assertTouchedNothing();
      assert.deepEqual([await stage.story(), await runs()], [[], []]);
    });

    it('means the one that is newer than all that is recorded here, and no older one but by its id', async () => {
      const { id } = await elsewhere(driver);
      await stage.run('install', () => Promise.resolve({ status: 'failed', exitCode: 2 }));
      assert.equal((await wait()).kind, 'ended');
      assert.equal((await wait(undefined, id)).kind, 'looked');
      const newer = await elsewhere(driver);
      const looked = await wait();
      assert.deepEqual(looked.kind === 'looked' && looked.run.runId, newer.id);
      assertTouchedNothing();
    });

    it('gives the end that is recorded also where the cluster says nothing of others', async () => {
      await stage.run('install', () => Promise.resolve({ status: 'failed', exitCode: 2 }));
      driver.find = () => Promise.reject(new CnabError('unavailable', 'may not list'));
      assert.equal((await wait()).kind, 'ended');
    });

    it('goes on with the second Job of a run whose first one was refused', async () => {
      await elsewhere(driver);
      const [first] = driver.found;
      assert.ok(first);
      driver.watches = (_, { state }) => {
        watched.push(state.job);
        driver.found = [{ ...first, state: { ...first.state, job: 'j-2', jobUid: 'u-2' } }];
        return Promise.resolve(state.job === 'j' ? { status: 'unknown', ran: 'unknown' } : FAILED);
      };
      const looked = await wait();
      assert.deepEqual([looked.kind === 'looked' && looked.end, watched], [FAILED, ['j', 'j-2']]);
    });

    it('says so when the run is settled before it could be looked at, and when it is left', async () => {
      await elsewhere(driver);
      driver.watches = () => Promise.reject(new CnabError('not-found', 'job j is not there'));
      await refuses(wait(), 'contact-lost', /somebody has settled it, and how it ended is not known here/);
      driver.watches = () => Promise.resolve({ status: 'running', ran: 'yes' });
      await refuses(wait(), 'interrupted', /goes on: only the waiting/);
    });

    it('looks at a run of ours that another machine has taken over; resume refuses it, and records nothing of it', async () => {
      await stage.kill('install', (run) => run.posted());
      driver.holds = ({ takeOver }) =>
        takeOver ? Promise.resolve() : Promise.reject(new RunHeld('process 5 on ci-7 has been on run X'));
      const looked = await wait();
      assert.deepEqual([looked.kind, watched], ['looked', ['cnab-job']]);
      const resume = (takeOver: boolean) =>
        resumeAction({ installation: 'app', cancel: false, takeOver }, stage.context(driver));
      await refuses(resume(false), 'busy', /^process 5 on ci-7 has been on run X\.[^]*--run \S+ --take-over/);
      assertTouchedNothing();
      assert.deepEqual(await stage.story(), ['install: running']);
      assert.equal((await resume(true)).kind, 'settled');
    });
  });

  describe('that a process of another container has locked', () => {
    it('ends by what the target tells, when that process has recorded nothing a minute later', async () => {
      await stage.kill('install', (run) => run.posted());
      const { file } = await lockFromElsewhere();
      const looked = await wait();
      assert.ok(looked.kind === 'looked');
      assert.deepEqual(
        [looked.end, looked.next],
        [
          FAILED,
          `its record has no end: if that process is gone (it cannot be seen from here), remove its lock: rm ${file}`,
        ],
      );
      assert.equal(stage.warnings.length, 1);
      assert.match(
        stage.warnings[0] ?? '',
        /^process 1 on .* \(install since .*\) has "app" locked: if that process is/,
      );
      assertTouchedNothing();
    });

    it('ends with what to do where nothing of a run is there', async () => {
      driver.watches = () => Promise.reject(new CnabError('not-found', 'job j is not there'));
      const { release } = await lockFromElsewhere();
      await refuses(
        wait(),
        'busy',
        /^no run of "app" is to be found, and whether process 1 on[^]*remove its lock: rm /,
      );
      await release();
      await stage.kill('install', () => Promise.resolve());
      await lockFromElsewhere();
      await refuses(wait(), 'busy', /^nothing of run .* of "app" is to be found[^]*remove its lock: rm /);
      assertTouchedNothing();
    });

    it('ends by its record when that process has written it', async () => {
      const { running, end } = await liveRun();
      const file = (await stage.store.on(FAKE_TARGET).owner('app'))?.lockFile ?? '';
      const owner = JSON.parse(await readFile(file, 'utf8')) as object;
      await writeFile(file, JSON.stringify({ ...owner, pidNamespace: 'pid:[1]' }));
      driver.watches = async () => {
        end();
        await running;
        return FAILED;
      };
      const ended = await wait();
      assert.ok(ended.kind === 'ended');
      assert.equal(recordedOutcome(ended.record, FAKE_TARGET, []).exitCode, 2);
    });
  });
});
