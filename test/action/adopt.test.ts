import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import type { ActionOutcome } from '../../src/action/request.js';
import { resumeAction, type Resumed, type ResumeRequest } from '../../src/action/resume-action.js';
import type { Json } from '../../src/bundle/bundle.js';
import { CUSTOM_KEY, type Claim } from '../../src/claim/claim.js';
import { formatUlid } from '../../src/claim/ulid.js';
import { CnabError } from '../../src/errors.js';
import { FAKE_TARGET, FakeDriver } from '../helpers/fake-driver.js';
import { APP, elsewhere, loaded, refuses, Stage, never, saying } from './stage.js';

const whole = saying('one\n');
const HOUR = 3_600_000;
const nested = (levels: number): Json => JSON.parse('['.repeat(levels) + ']'.repeat(levels)) as Json;
const ulidOf = (time: number): string => formatUlid(time, new Uint8Array(10).fill(9));
/** Gives back what a user chose, as a claim keeps it. */
const choosing = (choices: object) => (claim: Claim) => ({ ...claim, custom: { [CUSTOM_KEY]: { choices } } });

describe('a run from an empty home', () => {
  let stage: Stage;
  let driver: FakeDriver;
  beforeEach(async () => {
    stage = await Stage.create();
    driver = new FakeDriver(never);
    driver.resumes = whole;
  });
  afterEach(async () => stage.remove());

  const resume = (changes: Partial<ResumeRequest> = {}): Promise<Resumed> =>
    resumeAction({ installation: 'app', cancel: false, ...changes }, stage.context(driver));
  function outcome(resumed: Resumed): ActionOutcome {
    assert.ok(resumed.kind === 'settled');
    return resumed.outcome;
  }

  async function nothingWritten(): Promise<void> {
    for (const folder of ['targets', 'runs']) {
      assert.deepEqual(await readdir(path.join(stage.home, folder), { recursive: true }).catch(() => []), [], folder);
    }
    assert.deepEqual([driver.begun, driver.released], [[], []]);
  }

  it('records it under its own id, as it was, and settles it', async () => {
    const claim = await elsewhere(driver);
    assert.equal(outcome(await resume()).status, 'succeeded');
    assert.deepEqual(await stage.story(), ['install: running, succeeded']);
    assert.deepEqual((await stage.last()).claim, claim);
    assert.deepEqual(driver.begun[0]?.state, { namespace: 'default', job: 'j', jobUid: 'u' });
    assert.deepEqual(driver.released, [claim.id]);
    assert.equal((await resume()).kind, 'ended');
  });

  for (const [what, change, message] of [
    ['of another run', (claim: Claim) => ({ ...claim, id: '01ARZ3NDEKTSV4RRFFQ69G0001' }), /that of run "01ARZ3/],
    ['of another installation', (claim: Claim) => ({ ...claim, installation: '../x' }), /that of "\.\.\/x"/],
    [
      'of another action',
      (claim: Claim) => ({ ...claim, action: 'rotate' }),
      /of the action "rotate", not of "install"/,
    ],
    ['without a bundle', ({ bundle: _, ...claim }: Claim) => claim, /it has no "bundle"/],
    [
      'with a bundle that is not valid',
      (claim: Claim) => ({ ...claim, bundle: { ...claim.bundle, version: 'x' } }),
      /version/,
    ],
    ['that is no object', () => [], /not a JSON object/],
    [
      'that nothing can be written of',
      () => Buffer.from(`{"id":${'['.repeat(100_000)}${']'.repeat(100_000)}}`),
      /cannot be used/,
    ],
    [
      'that grows beyond all bounds when it is written',
      (claim: Claim) => ({ ...claim, custom: Array.from({ length: 60 }, () => nested(2500)) }),
      /nested too deeply/,
    ],
    [
      'with a parameter that cannot be looked through',
      (claim: Claim) => ({ ...claim, parameters: { x: nested(3500) } }),
      /nested too deeply/,
    ],
    [
      'with a revision after which none can come',
      (claim: Claim) => ({ ...claim, revision: `7${'Z'.repeat(25)}` }),
      /its revision is of .*, a time that is still to come/,
    ],
    ['with a revision that is no ULID', (claim: Claim) => ({ ...claim, revision: 'zzz' }), /its revision is no ULID/],
    [
      'of a time to come',
      (claim: Claim) => ({ ...claim, created: new Date(Date.now() + HOUR).toISOString() }),
      /its "created" is of .* still to come/,
    ],
    ['of no time', (claim: Claim) => ({ ...claim, created: 'yesterday' }), /its "created" is no time/],
    [
      'of another time than its Job',
      (claim: Claim) => ({ ...claim, created: '2020-01-01T00:00:00Z' }),
      /its "created" is of 2020.*, and its Job was made/,
    ],
    ['with sets that are no list', choosing({ credentialSets: 'prod' }), /credential sets that it names are none/],
    [
      'with a set whose name hides',
      choosing({ credentialSets: ['a\u202eb'] }),
      /credential sets that it names are none/,
    ],
    [
      'with a set by a path of nowhere',
      choosing({ credentialSets: ['../x'] }),
      /credential sets that it names are none/,
    ],
    [
      'with an account that none can be called',
      choosing({ credentialSets: [], serviceAccount: 'a b' }),
      /service account that it names is none/,
    ],
    [
      'with images moved to nowhere',
      choosing({ credentialSets: [], relocation: { a: 1 } }),
      /relocation mapping is none/,
    ],
  ] as const) {
    it(`refuses a record ${what}, and records nothing`, async () => {
      await elsewhere(driver, 'install', change);
      await refuses(resume(), 'invalid', message);
      await nothingWritten();
    });
  }

  for (const [what, id, message] of [
    ['that is no ULID', 'a-run', /its id is no ULID/],
    ['that is the last of all', `7${'Z'.repeat(25)}`, /its id is of .*, a time that is still to come/],
    ['of a time to come', ulidOf(Date.now() + HOUR), /its id is of .* still to come/],
    ['of long before its Job', ulidOf(Date.now() - 48 * HOUR), /its id is of .*, and its Job was made/],
  ] as const) {
    it(`refuses an id ${what}, also beside good records, which stay usable`, async () => {
      await elsewhere(driver, 'install', (claim) => ({ ...claim, id, revision: id }));
      driver.found = driver.found.map((found) => ({ ...found, runId: id }));
      await refuses(resume(), 'invalid', message);
      await nothingWritten();
      await stage.run('install', whole);
      await refuses(resume(), 'invalid', message);
      assert.equal((await stage.run('status', whole)).status, 'succeeded');
      assert.deepEqual(await stage.story(), ['install: running, succeeded', 'status: running, succeeded']);
    });
  }

  it('takes ids and times that a clock which is a little ahead has made', async () => {
    const ahead = ulidOf(Date.now() + 60_000);
    const created = new Date(Date.now() + 60_000).toISOString();
    await elsewhere(driver, 'install', (claim) => ({ ...claim, id: ahead, revision: ahead, created }));
    driver.found = driver.found.map((found) => ({ ...found, runId: ahead }));
    assert.equal(outcome(await resume()).status, 'succeeded');
  });

  it('looks at the Job before it records anything: one that was made for others is not taken up', async () => {
    await elsewhere(driver);
    driver.look = ({ outputs }) => {
      assert.deepEqual(
        outputs?.map(({ name }) => name),
        ['url'],
      );
      return Promise.reject(new CnabError('unavailable', 'job j was made for other outputs'));
    };
    await refuses(resume(), 'unavailable', /made for other outputs/);
    await nothingWritten();
    driver.hold = () => Promise.reject(new CnabError('busy', 'somebody else is on it'));
    await refuses(resume(), 'busy', /somebody else is on it/);
    await nothingWritten();
    driver.hold = () => Promise.resolve();
    driver.look = () => Promise.resolve({ phase: 'absent', detail: 'is not there' });
    await refuses(resume(), 'not-found', /no installation "app"/);
    await nothingWritten();
  });

  it('keeps no good run from being taken up, and is told of', async () => {
    const claim = await elsewhere(driver);
    const good = driver.inputsOf;
    const [found] = driver.found;
    assert.ok(found);
    driver.found = [{ ...found, runId: 'a-run' }, { ...found, runId: 'gone' }, found];
    driver.inputsOf = (runId) => {
      if (runId === claim.id) return good(runId);
      if (runId === 'gone') return Promise.reject(new CnabError('not-found', 'its secret is gone'));
      return Promise.resolve({ record: Buffer.from('{'), environment: new Map(), files: new Map() });
    };
    assert.equal(outcome(await resume()).runId, claim.id);
    assert.match(stage.warnings.join('\n'), /^the record that run a-run .*not JSON.*\.\nits secret is gone\.\n/);
  });

  it('says what it brings, because the next action uses it by itself', async () => {
    const kept = {
      overrides: { greeting: 'a secret' },
      choices: { credentialSets: ['prod'], serviceAccount: 'deployer' },
    };
    const { id } = await elsewhere(driver, 'install', (claim) => ({ ...claim, custom: { [CUSTOM_KEY]: kept } }));
    await resume();
    assert.equal(
      stage.warnings[0],
      `run ${id} was begun elsewhere; recorded here, it brings bundle app 1.0.0 (registry.example/app:1.0.0), ` +
        'credential set "prod", service account deployer, values of the parameters greeting: ' +
        'the next action of "app" uses them unless it is given others (--reset drops all but the bundle).',
    );
  });

  it('says why where the record may not be read', async () => {
    await elsewhere(driver);
    driver.inputsOf = () => Promise.reject(new CnabError('unavailable', 'secrets may not be read here'));
    await refuses(resume(), 'unavailable', /secrets may not be read here/);
  });

  it('is not run beside by an install that knows nothing of it, but with --force', async () => {
    const { id } = await elsewhere(driver);
    const installing = new FakeDriver(whole);
    installing.found = driver.found;
    installing.sight = { phase: 'running', detail: 'is running in pod p' };
    await refuses(
      stage.run('install', installing),
      'contact-lost',
      new RegExp(`run ${id}\\) is not recorded here .*it is running in pod p\\.\n[^]*cnab resume app .*\n`),
    );
    assert.equal(await stage.installation(), undefined);
    installing.sight = { phase: 'ended', detail: 'has ended with exit code 0' };
    await stage.run('install', installing);
    assert.match(stage.warnings.join(), new RegExp(`has ended with exit code 0. To record it: .* --run ${id}`));
    await stage.store.on(FAKE_TARGET).remove('app');
    installing.sight = { phase: 'running', detail: 'is running in pod p' };
    await stage.run('install', installing, { force: true });
  });

  it('is not run beside by an action on older records that know the name and not that run', async () => {
    const { id } = await elsewhere(driver);
    await stage.run('install', whole);
    const acting = new FakeDriver(whole);
    acting.found = driver.found;
    acting.sight = { phase: 'running', detail: 'is running in pod p' };
    for (const action of ['upgrade', 'uninstall', 'status']) {
      await refuses(stage.run(action, acting), 'contact-lost', new RegExp(`run ${id}\\) is not recorded here`));
    }
    assert.equal(acting.operations.length, 0);
  });

  it('is named by every action that finds nothing to act on, with and without a bundle, but with --force', async () => {
    const { id } = await elsewhere(driver);
    const acting = new FakeDriver(whole);
    // A cluster answers later than the disk.
    acting.find = () => new Promise((resolve) => setTimeout(resolve, 20, driver.found));
    acting.sight = driver.sight;
    const bundles = [{}, { bundle: loaded(APP) }];
    for (const action of ['upgrade', 'uninstall', 'status']) {
      for (const bundle of bundles) {
        const message = new RegExp(`run ${id}\\) is not recorded here .*it is running in pod p`);
        await refuses(stage.run(action, acting, bundle), 'contact-lost', message);
        await refuses(stage.run(action, acting, { ...bundle, force: true }), 'not-found', /no installation "app"/);
      }
    }
    acting.sight = { phase: 'ended', detail: 'has ended with exit code 0' };
    assert.deepEqual(stage.warnings, []);
    await refuses(stage.run('upgrade', acting), 'not-found', /no installation "app"/);
    assert.match(stage.warnings.join(), new RegExp(`has ended with exit code 0. To record it: .* --run ${id}`));
    assert.equal(acting.operations.length, 0);
  });

  it('takes the run that is named', async () => {
    const claim = await elsewhere(driver);
    driver.found = [{ ...driver.found[0]!, runId: '01ARZ3NDEKTSV4RRFFQ69G0001' }, ...driver.found];
    assert.equal(outcome(await resume({ runId: claim.id })).runId, claim.id);
  });
});
