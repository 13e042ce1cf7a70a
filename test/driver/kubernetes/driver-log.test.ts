import assert from 'node:assert/strict';
import type { Progress } from '../../../src/driver/driver.js';
import { BundleLog } from '../../../src/driver/kubernetes/bundle-log.js';
import { ProgressTeller } from '../../../src/driver/kubernetes/progress.js';
import type { TestApiServer } from '../../helpers/api-server.js';
import { rotateLog } from '../../helpers/api-server-jobs.js';
import { fastClock } from '../../helpers/fast-clock.js';
import { runOnApiServer } from '../../helpers/kubernetes-run.js';
import { until } from '../../helpers/until.js';

/** Bytes of the answer that hold the first line, `one`, with its timestamp. */
const FIRST_LINE = '2026-01-01T00:00:00.000000000Z one\n'.length;

describe("the bundle's log", () => {
  it('is whole although whoever takes it pauses for longer than a silent cluster would be waited for', async () => {
    const text = Array.from({ length: 40_000 }, (_, line) => `line ${line} of a log that fills every pipe\n`).join('');
    let log = '';
    const { result } = await runOnApiServer({
      invocation: async (bundle) => (await bundle.log(text.trimEnd()), 0),
      io: {
        onLog: async (chunk) => {
          if (log === '') await new Promise((go) => setTimeout(go, 9000));
          log += Buffer.from(chunk).toString();
        },
      },
    });
    assert.deepEqual([result.exitCode, result.logComplete, log === text], [0, true, true]);
  });

  it('has a mark where a part of it was rotated away, and is not called complete', async () => {
    let server: TestApiServer | undefined;
    const rotate = (): void => {
      const [pod] = server?.cluster.store.list('pods') ?? [];
      if (server !== undefined && pod !== undefined) rotateLog(server, pod, 'invocation');
    };
    const run = await runOnApiServer({
      meanwhile: (made) => Promise.resolve(void (server = made)),
      faults: (faults) =>
        void faults.body(
          { resource: 'pods/log', container: 'invocation', times: 1 },
          { afterBytes: FIRST_LINE, then: 'reset' },
        ),
      invocation: async ({ log }) => {
        await log('one');
        await until('the first line', () => server?.faults.sent.includes(' one\n') === true);
        await log('lost');
        rotate();
        await log('three');
        return 0;
      },
    });
    assert.match(run.log, /^one\n\[cnab: a part of the log may be missing here: .+\]\nthree\n$/);
    assert.deepEqual([run.result.exitCode, run.result.logComplete], [0, false]);
  });

  it("comes by a new connection when the sidecar's heartbeats say that the old one is dead", async () => {
    const clock = fastClock(60);
    let log = '';
    const { result } = await runOnApiServer({
      clock,
      server: { clock },
      io: { onLog: (chunk) => void (log += Buffer.from(chunk).toString()) },
      faults: (faults) =>
        void faults.body(
          { resource: 'pods/log', container: 'invocation', times: 1 },
          { afterBytes: FIRST_LINE, then: 'stall' },
        ),
      invocation: async ({ log: print }) => {
        await print('one');
        await print('two');
        await until('the second line', () => log.includes('two\n'));
        return 0;
      },
    });
    assert.deepEqual([log, result.exitCode, result.logComplete], ['one\ntwo\n', 0, true]);
  });

  it('is taken to its end as long as it comes, however long the outputs have been there', async () => {
    const clock = fastClock(60);
    let log = '';
    const text = `${'x'.repeat(1023)}\n`.repeat(1024);
    const { result } = await runOnApiServer({
      clock,
      server: { clock },
      io: {
        onLog: async (chunk) => {
          log += Buffer.from(chunk).toString();
          await new Promise((resolve) => setTimeout(resolve, 40));
        },
      },
      invocation: async ({ log: print }) => {
        await print(text.trimEnd());
        return 0;
      },
    });
    assert.deepEqual([log.length, result.logComplete], [text.length, true]);
  });

  it('is marked on a line of its own', async () => {
    let text = '';
    const log = new BundleLog((chunk) => void (text += Buffer.from(chunk).toString()));
    await log.mark('a');
    await log.write(Buffer.from('half'));
    await log.write(Buffer.alloc(0));
    await log.mark('b');
    await log.write(Buffer.from('whole\n'));
    await log.mark('c');
    const mark = (reason: string): string => `[cnab: a part of the log may be missing here: ${reason}]\n`;
    assert.equal(text, `${mark('a')}half\n${mark('b')}whole\n${mark('c')}`);
  });
});

describe('the progress of a run', () => {
  it('only moves forward, and is at the outputs when the log of the bundle is out', async () => {
    const told: string[] = [];
    const { result } = await runOnApiServer({
      io: {
        onProgress: ({ phase }) => void told.push(phase),
        onLog: async (chunk) => {
          await new Promise((resolve) => setTimeout(resolve, 50));
          told.push(Buffer.from(chunk).toString().trim());
        },
      },
      invocation: async ({ log, write }) => {
        write('/cnab/app/outputs/greeting', 'hi');
        await log('last words');
        return 0;
      },
    });
    assert.equal(result.status, 'succeeded');
    const steps = told.filter((step, index) => step !== told[index - 1]);
    assert.deepEqual(steps.slice(-4), ['running', 'last words', 'collecting', 'cleaning-up']);
  });

  it('never goes back to an earlier phase, whatever a late change of the pod says', () => {
    const told: Progress[] = [];
    const teller = new ProgressTeller((progress) => told.push(progress));
    for (const phase of ['preparing', 'waiting', 'running', 'waiting', 'collecting', 'running'] as const)
      teller.tell({ phase });
    for (const phase of ['cleaning-up', 'collecting'] as const) teller.tell({ phase });
    assert.deepEqual(
      told.map(({ phase }) => phase),
      ['preparing', 'waiting', 'running', 'collecting', 'cleaning-up'],
    );
  });

  it('is told when it changes, and not again while it stands', () => {
    const told: Progress[] = [];
    const teller = new ProgressTeller((progress) => told.push(progress));
    const waiting: Progress = { phase: 'waiting', detail: 'no node takes the pod' };
    for (const progress of [waiting, { ...waiting }, { phase: 'waiting' }, waiting, waiting] as const)
      teller.tell(progress);
    for (const receivedBytes of [1, 1, 2]) teller.tell({ phase: 'collecting', receivedBytes });
    assert.deepEqual(told, [
      waiting,
      { phase: 'waiting' },
      waiting,
      { phase: 'collecting', receivedBytes: 1 },
      { phase: 'collecting', receivedBytes: 2 },
    ]);
  });
});
