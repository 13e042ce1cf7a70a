import assert from 'node:assert/strict';
import { mkdir, readdir, readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import type { TargetClaims } from '../../src/claim/claim-store.js';
import type { ActionOutcome } from '../../src/action/request.js';
import type { OperationResult } from '../../src/driver/driver.js';
import { CnabError } from '../../src/errors.js';
import type { FAKE_TARGET } from '../helpers/fake-driver.js';
import { type FakeRun } from '../helpers/fake-driver.js';
import { APP, loaded, Stage } from './stage.js';

const ok = async (run: FakeRun): Promise<void> => run.output('url', 'http://x\n');
const refusal = (): Promise<never> => Promise.reject(new CnabError('unavailable', 'the disk is gone'));

describe('the end of a run', () => {
  let stage: Stage;
  beforeEach(async () => (stage = await Stage.create()));
  afterEach(async () => stage.remove());

  /** From now on the store's methods are those of `changes` where they have one. */
  function change(changes: (claims: TargetClaims) => Partial<TargetClaims>): void {
    const { store } = stage;
    Object.assign(stage, {
      store: { ...store, on: (target: typeof FAKE_TARGET) => ({ ...store.on(target), ...changes(store.on(target)) }) },
    });
  }

  it('is what it was when the lock cannot be released, or the run folder not removed: that is a warning', async () => {
    change((claims) => ({
      lock: async (...of) => ({ ...(await claims.lock(...of)), release: refusal }),
      openRun: async (...of) => ({ ...(await claims.openRun(...of)), remove: refusal }),
    }));
    const outcome = await stage.run('install', ok);
    assert.deepEqual([outcome.status, outcome.error], ['succeeded', undefined]);
    assert.deepEqual(outcome.warnings, ['the disk is gone.', 'the disk is gone.']);
    assert.deepEqual(await stage.story(), ['install: running, succeeded']);
  });

  it('says why it was refused, not that the lock could not be released', async () => {
    change((claims) => ({ lock: async (...of) => ({ ...(await claims.lock(...of)), release: refusal }) }));
    await assert.rejects(stage.run('upgrade', ok), { code: 'not-found' });
  });

  it('says that the uninstall succeeded when only its record cannot be deleted', async () => {
    await stage.run('install', ok);
    change(() => ({ remove: refusal }));
    const outcome = await stage.run('uninstall', ok, { deleteRecord: true });
    assert.equal(outcome.status, 'succeeded');
    assert.equal(outcome.error?.message, 'uninstall succeeded, but its record is still there: the disk is gone');
    // `unavailable` would say that nothing ran.
    assert.equal(outcome.error.code, 'outputs-incomplete');
    assert.match(outcome.error.suggestions.join(), /cnab forget app /);
  });

  it('tells each of two failures after the run: the one is the error, the other a warning', async () => {
    const onOutputs = (): Promise<void> => Promise.reject(new Error('ENOSPC'));
    const { signal } = new AbortController();
    const run = (action: string, end: Partial<OperationResult>): Promise<ActionOutcome> => {
      const context = stage.context(async (life) => {
        await ok(life);
        return end;
      });
      const events = { ...context.events, onOutputs };
      return stage.run(action, ok, { deleteRecord: true }, signal, { ...context, events });
    };
    const failed = await run('install', { status: 'failed', exitCode: 7 });
    assert.equal(failed.error?.code, 'bundle-failed');
    assert.deepEqual(failed.warnings.slice(-1), ['the outputs could not be copied: ENOSPC']);
    change(() => ({ remove: refusal }));
    const left = await run('uninstall', {});
    assert.deepEqual(
      [left.error?.code, left.error?.message],
      ['outputs-incomplete', 'the outputs could not be copied: ENOSPC'],
    );
    assert.deepEqual(left.warnings, ['uninstall succeeded, but its record is still there: the disk is gone']);
  });

  it('is contact lost, and says where everything is, when a default cannot be written after the run', async () => {
    const bundle = { ...APP, definitions: { ...APP.definitions, text: { type: 'string', default: 'x' } } };
    let staging = '';
    const running = stage.run(
      'install',
      async (run) => {
        ({ staging } = run.io);
        await run.log('precious\n');
        await mkdir(path.join(staging, 'default-0'));
      },
      { bundle: loaded(bundle) },
    );
    await assert.rejects(running, (error: CnabError) => {
      assert.equal(error.code, 'contact-lost');
      assert.match(error.suggestions.join(), new RegExp(`kept in ${staging}, its log in [^]*cnab resume app`));
      return true;
    });
    assert.equal(await readFile(path.join(staging, '../log'), 'utf8'), 'precious\n');
    assert.deepEqual(await stage.story(), ['install: running, unknown']);
  });

  it('of a stateless run whose outputs cannot be judged is contact lost too', async () => {
    const running = stage.run(
      'io.cnab.help',
      async (run) => {
        await run.output('url', 'x');
        await rm(run.io.staging, { recursive: true });
      },
      { bundle: loaded(APP) },
    );
    await assert.rejects(running, { code: 'contact-lost' });
  });

  it('creates nothing for a name that cannot be one', async () => {
    await assert.rejects(stage.run('install', ok, { installation: 'a\tb' }), { code: 'invalid' });
    assert.deepEqual(await readdir(stage.home), []);
  });
});
