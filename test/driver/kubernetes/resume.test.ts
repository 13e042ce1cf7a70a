import assert from 'node:assert/strict';
import type { ContainerScript } from '../../helpers/api-server.js';
import { leaveOnLog, postByHand, withProcesses, type Turn } from '../../helpers/begun-run.js';
import { RUN_ID } from '../../helpers/operation.js';
import { mustNotRun } from '../../helpers/kubernetes-run.js';
import { withFolder } from '../../helpers/staging.js';

const runId = RUN_ID;

/** A bundle that goes on when it is told to, and counts how often it was started. */
function bundle(): { readonly script: ContainerScript; readonly finish: () => void; readonly starts: () => number } {
  let finish = (): void => undefined;
  const told = new Promise<void>((resolve) => (finish = resolve));
  let starts = 0;
  const script: ContainerScript = async ({ log, write }) => {
    starts += 1;
    await log('one');
    await told;
    await log('two');
    write('/cnab/app/outputs/greeting', 'hi');
    return 0;
  };
  return { script, finish, starts: () => starts };
}

function assertWhole({ result, log, outputs }: Turn): void {
  assert.deepEqual([result.status, result.ran, result.exitCode, result.error], ['succeeded', 'yes', 0, undefined]);
  assert.deepEqual([log, outputs, result.problems], ['one\ntwo\n', { greeting: 'hi' }, []]);
  assert.deepEqual([result.logComplete, result.warnings, result.keep], [true, [], undefined]);
}

describe('a run whose process was killed', () => {
  it('before its state was saved did not run', () =>
    withProcesses({ invocation: mustNotRun }, async ({ resume, server }) => {
      const { result } = await resume();
      assert.deepEqual([result.status, result.ran, result.error?.code], ['failed', 'no', 'unavailable']);
      assert.equal(server.faults.requests.length, 0);
    }));

  it('before its Job was posted did not run, and nothing is posted', () =>
    withProcesses({ invocation: mustNotRun }, async ({ resume, server, setState }) => {
      setState({ namespace: 'default', job: 'cnab-install-app-x' });
      const { result } = await resume({ runId: ulidOfNow() });
      assert.deepEqual([result.status, result.ran, result.error?.code], ['failed', 'no', 'unavailable']);
      assert.match(result.error?.message ?? '', /was never run/);
      assert.ok(!server.faults.requests.some(({ verb }) => verb === 'create'));
    }));

  it('before its Job was posted, longer ago than a Job is kept, has an unknown end', () =>
    withProcesses({}, async ({ resume, setState }) => {
      setState({ namespace: 'default', job: 'cnab-install-app-x' });
      const { result } = await resume({ runId: '01JD0Z4KX2Y3M5N7P9QRSTVWXY' });
      assert.deepEqual([result.status, result.ran, result.error?.code], ['unknown', 'unknown', 'contact-lost']);
    }));

  it('while the POST of its Job was under way is found when that has arrived', async () => {
    const { script, finish } = bundle();
    finish();
    await withProcesses({ invocation: script }, async (processes) => {
      const { resume, setState } = processes;
      setState({ namespace: 'default', job: 'cnab-install-app-x' });
      const resuming = resume({ runId });
      setTimeout(() => void postByHand(processes, { secrets: true, operation: { runId } }), 150);
      assertWhole(await resuming);
    });
  });

  it('after its Job was posted, but not all Secrets, did not run, and its Job goes', () =>
    withProcesses({ invocation: mustNotRun }, async (processes) => {
      const { resume, setState, withDriver, server, state } = processes;
      setState(await postByHand(processes, { secrets: false }));
      const { result } = await resume();
      assert.deepEqual([result.status, result.ran, result.keep], ['failed', 'no', undefined]);
      assert.match(result.error?.message ?? '', /before it had made all Secrets/);
      await withDriver((driver) => driver.release({ runId, state: state() }));
      assert.equal(server.cluster.store.list('jobs').length, 0);
    }));

  it('after all was made, but before that was saved, goes on to its end', async () => {
    const { script, finish } = bundle();
    finish();
    await withProcesses({ invocation: script }, async (processes) => {
      const { namespace, job, jobUid } = await postByHand(processes, { secrets: true });
      processes.setState({ ...(namespace === undefined ? {} : { namespace }), ...(job === undefined ? {} : { job }) });
      const turn = await processes.resume();
      assertWhole(turn);
      assert.equal(turn.states[0]?.jobUid, jobUid);
      assert.ok(turn.states.at(-1)?.podUid !== undefined);
    });
  });

  it('while it ran ends as if nothing had been, and is not started again', async () => {
    const { script, finish, starts } = bundle();
    await withProcesses({ invocation: script }, async ({ run, resume, server, state, withDriver }) => {
      const left = await run(leaveOnLog());
      assert.deepEqual([left.result.status, left.result.keep, left.log], ['running', true, 'one\n']);
      setTimeout(finish, 100);
      assertWhole(await resume());
      assert.equal(starts(), 1);
      const posts = server.faults.requests.filter(({ verb, resource }) => verb === 'create' && resource === 'jobs');
      assert.equal(posts.length, 1);
      assert.deepEqual(await withDriver((driver) => driver.release({ runId, state: state() })), []);
      assert.equal(server.cluster.store.list('jobs').length, 0);
    });
  });

  it('after it had ended brings the same, whole log and outputs', async () => {
    const { script, finish } = bundle();
    await withProcesses({ invocation: script }, async ({ run, resume, server }) => {
      await run(leaveOnLog());
      finish();
      const isOver = (): boolean => server.cluster.store.list('pods')[0]?.status.phase === 'Succeeded';
      while (!isOver()) await new Promise((go) => setTimeout(go, 20));
      assertWhole(await resume());
    });
  });

  it('after everything had arrived brings it once more, from the disk', async () => {
    const { script, finish } = bundle();
    finish();
    await withProcesses({ invocation: script }, async ({ run, resume }) => {
      assertWhole(await run());
      assertWhole(await resume());
      assertWhole(await resume());
    });
  });

  it('after its Job was released has an unknown end', async () => {
    const { script, finish } = bundle();
    finish();
    await withProcesses({ invocation: script }, async ({ run, resume, withDriver, state, server }) => {
      assertWhole(await run());
      await withDriver((driver) => driver.release({ runId, state: state() }));
      // The pod goes after its Job, and tells how it ended while it is there.
      while (server.cluster.store.list('pods').length > 0) await new Promise((resolve) => setTimeout(resolve, 20));
      const { result } = await resume();
      assert.deepEqual([result.status, result.ran, result.error?.code], ['unknown', 'unknown', 'contact-lost']);
      assert.match(
        result.error?.message ?? '',
        /^job .* is not in namespace default any more, so how install ended is unknown here: another machine has settled it \(/,
      );
      assert.equal(result.keep, undefined);
    });
  });

  it('is looked at by two at once, and both see the same', async () => {
    const { script, finish, starts } = bundle();
    await withProcesses({ invocation: script }, async ({ run, resume }) => {
      await run(leaveOnLog());
      setTimeout(finish, 200);
      const turns = await withFolder((staging) => Promise.all([resume(), resume({}, { staging })]));
      turns.forEach(assertWhole);
      assert.equal(starts(), 1);
    });
  });
});

function ulidOfNow(): string {
  let time = Date.now();
  let text = '';
  for (let digit = 0; digit < 10; digit += 1) {
    text = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'[time % 32] + text;
    time = Math.floor(time / 32);
  }
  return `${text}Y3M5N7P9QRSTVWXY`;
}
