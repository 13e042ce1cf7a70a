import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import type { ActionOutcome } from '../../src/action/request.js';
import { resumeAction, type Resumed, type ResumeRequest } from '../../src/action/resume-action.js';
import type { OperationResult } from '../../src/driver/driver.js';
import { CnabError } from '../../src/errors.js';
import { FAKE_TARGET, FakeDriver } from '../helpers/fake-driver.js';
import { refuses, Stage, never, saying } from './stage.js';

const whole = saying('one\n');

describe('taking up', () => {
  let stage: Stage;
  let driver: FakeDriver;
  beforeEach(async () => {
    stage = await Stage.create();
    driver = new FakeDriver(never);
    driver.resumes = whole;
  });
  afterEach(async () => stage.remove());

  const request = (changes: Partial<ResumeRequest>): ResumeRequest => ({
    installation: 'app',
    cancel: false,
    ...changes,
  });
  const resume = (changes: Partial<ResumeRequest> = {}): Promise<Resumed> =>
    resumeAction(request(changes), stage.context(driver));
  function outcome(resumed: Resumed): ActionOutcome {
    assert.ok(resumed.kind === 'settled');
    return resumed.outcome;
  }
  const runs = (): Promise<string[]> => readdir(path.join(stage.home, 'runs'));

  describe('a run whose outputs are outstanding', () => {
    const outstanding: Partial<OperationResult> = {
      outstanding: { until: 1234 },
      keep: true,
      problems: [{ name: 'url', kind: 'lost', reason: 'has not arrived' }],
    };

    it('keeps its record, its Job and what has come, and gets a second result', async () => {
      const failing = new FakeDriver(async (run) => {
        await run.posted();
        await run.log('one\n');
        return outstanding;
      });
      const ended = await stage.run('install', failing);
      assert.deepEqual(
        [ended.status, ended.error?.code, ended.outstanding],
        ['failed', 'outputs-incomplete', { until: 1234 }],
      );
      assert.deepEqual([failing.released, (await runs()).length], [[], 1]);
      assert.equal(outcome(await resume()).status, 'succeeded');
      assert.deepEqual(await stage.story(), ['install: running, failed, succeeded']);
      assert.deepEqual([driver.released.length, await runs()], [1, []]);
    });

    it('is not put away when the process that takes it up is killed too', async () => {
      await stage.run('install', async (run) => {
        await run.posted();
        return outstanding;
      });
      driver.resumes = async (run) => {
        await run.posted();
        return { status: 'running', keep: true };
      };
      await resume();
      const next = new FakeDriver(whole);
      await stage.run('status', next);
      assert.deepEqual([next.released.length, (await runs()).length], [1, 1]);
      driver.resumes = whole;
      assert.equal(outcome(await resume()).status, 'succeeded');
    });

    it('keeps the end that is known when nothing can be fetched any more', async () => {
      await stage.run('install', async (run) => {
        await run.posted();
        return outstanding;
      });
      driver.resumes = () =>
        Promise.resolve({
          status: 'unknown',
          exitCode: undefined as never,
          error: new CnabError('bundle-failed', 'its pod is gone'),
        });
      await refuses(resume(), 'outputs-incomplete', /can be fetched no more: its pod is gone/);
      assert.deepEqual(await stage.story(), ['install: running, failed']);
      assert.deepEqual(await runs(), []);
    });

    it('stays outstanding when contact is lost again', async () => {
      await stage.run('install', async (run) => {
        await run.posted();
        return outstanding;
      });
      const lost = { status: 'unknown', keep: true, exitCode: undefined as never } as const;
      driver.resumes = () => Promise.resolve({ ...lost, error: new CnabError('contact-lost', 'the cluster is gone') });
      await refuses(resume(), 'contact-lost', /could not be fetched: the cluster is gone/);
      assert.equal((await runs()).length, 1);
      driver.resumes = whole;
      assert.equal(outcome(await resume()).status, 'succeeded');
    });

    it('does not keep the next action from running', async () => {
      await stage.run('install', async (run) => {
        await run.posted();
        return { ...outstanding, exitCode: 0 };
      });
      assert.equal((await stage.run('status', whole)).status, 'succeeded');
      assert.equal((await runs()).length, 1);
    });
  });

  it('a run after a lost contact finds its end, and until then no other action runs', async () => {
    await stage.run('install', async (run) => {
      await run.posted();
      await run.log('on');
      return { status: 'unknown', ran: 'unknown', exitCode: undefined as never, keep: true, logComplete: false };
    });
    assert.deepEqual(await stage.story(), ['install: running, unknown']);
    await refuses(stage.run('install', whole), 'contact-lost', /cnab resume app/);
    assert.equal(outcome(await resume()).status, 'succeeded');
    assert.deepEqual(await stage.story(), ['install: running, unknown, succeeded']);
  });

  it('leaves no output and no log of the first result to be changed by the second', async () => {
    await stage.run('install', async (run) => {
      await whole(run);
      return { outstanding: {}, keep: true };
    });
    const claims = stage.store.on(FAKE_TARGET);
    const { result } = await stage.last();
    driver.resumes = (run) => run.log('quite another log\n'.repeat(100)).then(() => run.output('url', 'changed'));
    await resume();
    for (const [name, { contentDigest }] of Object.entries(result.outputs ?? {})) {
      const bytes = await readFile((await claims.output(result.id, name))?.file ?? '');
      assert.equal(`sha256:${createHash('sha256').update(bytes).digest('hex')}`, contentDigest, name);
    }
  });
});
