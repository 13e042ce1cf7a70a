import assert from 'node:assert/strict';
import { resumeAction } from '../../src/action/resume-action.js';
import type { ActionOutcome } from '../../src/action/request.js';
import { waitForRun } from '../../src/action/wait-for-run.js';
import { CnabError } from '../../src/errors.js';
import { FakeDriver, type FakeResume } from '../helpers/fake-driver.js';
import { Stage } from './stage.js';

describe('a run that was given credentials and is gone from its target', () => {
  let stage: Stage;
  beforeEach(async () => (stage = await Stage.create()));
  afterEach(() => stage.remove());

  const gone = new CnabError('contact-lost', 'its job is not there any more');

  async function goneDriver(log = ''): Promise<FakeDriver> {
    await stage.run('install', async (run) => run.output('url', 'u'));
    await stage.kill('upgrade', (run) => run.posted());
    const driver = new FakeDriver(() => assert.fail('the bundle ran'));
    driver.inputsOf = () => Promise.reject(new CnabError('not-found', 'job j is not in namespace default'));
    driver.resumes = async (run: FakeResume) => {
      if (log !== '') await run.log(log);
      return { status: 'unknown', ran: 'unknown', exitCode: undefined as never, error: gone, logComplete: false };
    };
    return driver;
  }

  async function told(how: 'resume' | 'wait', driver: FakeDriver): Promise<ActionOutcome> {
    const context = stage.context(driver);
    const ended =
      how === 'wait'
        ? await waitForRun({ installation: 'app' }, context)
        : await resumeAction({ installation: 'app', cancel: false }, context);
    assert.ok(ended.kind === 'settled');
    return ended.outcome;
  }

  for (const how of ['resume', 'wait'] as const) {
    it(`is told of by ${how} as what it is, and not as one whose credentials cannot be read`, async () => {
      const outcome = await told(how, await goneDriver());
      assert.deepEqual([outcome.status, outcome.error, outcome.logComplete], ['unknown', gone, false]);
      assert.deepEqual([outcome.warnings, stage.warnings], [[], []]);
      assert.equal((await stage.last()).result.message, gone.message);
    });
  }

  it('is said to have a log that was withheld where one came all the same', async () => {
    const { warnings } = await told('resume', await goneDriver('tok-12345\n'));
    assert.match(warnings.join(), /neither shown nor recorded: .*cannot be read back/);
    assert.doesNotMatch(stage.log, /tok-12345/);
  });
});
