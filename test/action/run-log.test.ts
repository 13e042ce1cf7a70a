import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { RunLog } from '../../src/action/run-log.js';
import { LOGS_OUTPUT } from '../../src/claim/claim.js';
import type { KubernetesDriver } from '../../src/driver/kubernetes/driver.js';
import { ScriptedRuntime, ProcessRuntime, withApiServer } from '../helpers/api-server.js';
import { fastClock } from '../helpers/fast-clock.js';
import { testDriver } from '../helpers/kubernetes-run.js';
import { Stage } from './stage.js';

/** Nobody wants an end. */
const { signal: open } = new AbortController();
/** What never comes has not come by then; what comes is there long before on any machine. */
const later = (what: string): Promise<string> => sleep(300, what);

describe('the log of a run', () => {
  let stage: Stage;
  beforeEach(async () => (stage = await Stage.create()));
  afterEach(async () => stage.remove());

  it('is recorded whole when the screen refuses it, and says so once', async () => {
    let shown = 0;
    const log = await RunLog.create(
      path.join(stage.home, 'log'),
      [],
      () => {
        shown += 1;
        throw new Error('the screen is gone');
      },
      open,
    );
    await log.write(Buffer.from('one\n'));
    await log.write(Buffer.from('two\n'));
    const { output, complete, warnings } = await log.end();
    assert.equal(await readFile(output.file, 'utf8'), 'one\ntwo\n');
    assert.deepEqual([shown, complete, output.size, output.name], [1, true, 8, LOGS_OUTPUT]);
    assert.deepEqual(warnings, ['a part of the log was not shown: the screen is gone.']);
  });

  it('is whole where its end is asked for while the screen takes nothing, and somebody wants an end', async () => {
    const stop = new AbortController();
    const shown: string[] = [];
    const file = path.join(stage.home, 'log');
    const show = (chunk: Uint8Array): Promise<void> => {
      shown.push(Buffer.from(chunk).toString());
      return new Promise(() => undefined);
    };
    const log = await RunLog.create(file, [Buffer.from('secret')], show, stop.signal);
    // Left in the middle, as a driver leaves it that is to stop.
    const first = log.write(Buffer.from('one\nse'));
    const rest = ['cret\n', 'x'.repeat(100_000), '\nlast'].map((text) => log.write(Buffer.from(text)));
    assert.equal(await Promise.race([first.then(() => 'shown'), later('blocked')]), 'blocked');
    const ending = log.end();
    assert.equal(
      await Promise.race([ending.then(() => 'ended'), later('waits for the screen')]),
      'waits for the screen',
    );
    stop.abort({ kind: 'signal', signal: 'SIGINT' });
    const { output, complete, warnings } = await ending;
    await Promise.all([first, ...rest]);
    const expected = `one\n******\n${'x'.repeat(100_000)}\nlast`;
    assert.equal(await readFile(file, 'utf8'), expected);
    const sha256 = createHash('sha256').update(expected).digest('hex');
    assert.deepEqual([output.size, output.sha256, complete, warnings], [expected.length, sha256, true, []]);
    assert.deepEqual(shown, ['one\n']);
    await log.write(Buffer.from('nothing comes after the end'));
    assert.equal(await readFile(file, 'utf8'), expected);
  });

  it('does not fill the memory for a screen that takes nothing: the rest is recorded and not shown, which is told', async () => {
    const stop = new AbortController();
    const log = await RunLog.create(path.join(stage.home, 'log'), [], () => new Promise(() => undefined), stop.signal);
    stop.abort({ kind: 'timeout' });
    const block = Buffer.alloc(256 * 1024, 'x');
    for (let n = 0; n < 16; n += 1) await log.write(block);
    const { output, complete, warnings } = await log.end();
    assert.deepEqual([output.size, complete], [16 * block.length, true]);
    assert.deepEqual(warnings, ['a part of the log was not shown: the screen took no more of it.']);
  });

  it('slows whoever brings it to the pace of the screen', async () => {
    let take = (): void => undefined;
    const shown: string[] = [];
    const show = (chunk: Uint8Array): Promise<void> => {
      shown.push(Buffer.from(chunk).toString());
      return new Promise((resolve) => (take = resolve));
    };
    const log = await RunLog.create(path.join(stage.home, 'log'), [], show, open);
    const written = log.write(Buffer.from('one\n'));
    assert.equal(await Promise.race([written.then(() => 'taken'), later('waits')]), 'waits');
    take();
    await written;
    const ending = log.end();
    await ending;
    assert.deepEqual(shown, ['one\n']);
  });

  (existsSync('/dev/full') ? it : it.skip)(
    'goes on when the disk refuses it, and keeps what was recorded before',
    async () => {
      const shown: string[] = [];
      const log = await RunLog.create('/dev/full', [], (chunk) => void shown.push(Buffer.from(chunk).toString()), open);
      await log.write(Buffer.from('one\n'));
      await log.write(Buffer.from('two\n'));
      const { output, complete, warnings } = await log.end();
      assert.deepEqual(shown, ['one\n', 'two\n']);
      assert.deepEqual([complete, output.size], [false, 0]);
      assert.match(warnings.join(), /^only the first 0 bytes of the log are recorded: .*no space is left.*ENOSPC/);
    },
  );

  it('and the record of a run that is stopped do not wait for a paused screen', async () => {
    const clock = fastClock(6);
    const stop = new AbortController();
    const runtime = new ScriptedRuntime({
      otherwise: new ProcessRuntime(),
      scripts: {
        invocation: async ({ log, write, terminated }) => {
          await log('begun');
          write('/cnab/app/outputs/url', 'http://x');
          await terminated;
          await log('last words');
          return 7;
        },
      },
    });
    await withApiServer({ runtime, clock }, async (server) => {
      const driver: KubernetesDriver = testDriver(server, { clock });
      const { events, ...context } = stage.context(driver, stop.signal);
      const onLog = (): Promise<void> => {
        stop.abort({ kind: 'signal', signal: 'SIGINT' });
        return new Promise(() => undefined);
      };
      try {
        const outcome = await stage.run('install', driver, {}, stop.signal, {
          ...context,
          events: { ...events, onLog },
        });
        assert.deepEqual([outcome.status, outcome.exitCode], ['canceled', 7]);
        const claims = stage.store.on(outcome.target);
        const stored = await claims.output(outcome.recorded?.result.id ?? '', LOGS_OUTPUT);
        assert.equal(await readFile(stored?.file ?? '', 'utf8'), 'begun\nlast words\n');
      } finally {
        await driver.close();
      }
    });
  });
});
