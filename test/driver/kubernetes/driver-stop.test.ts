import assert from 'node:assert/strict';
import type { ApiServerFaults, ContainerScript } from '../../helpers/api-server.js';
import { runOnApiServer, type RunParts } from '../../helpers/kubernetes-run.js';

const sigint = { kind: 'signal', signal: 'SIGINT' } as const;
const timeout = { kind: 'timeout' } as const;
const nothing = { jobs: [], pods: [], secrets: [] };

/** Aborts once the bundle says something. */
function stopOnLog(reason: unknown): Pick<RunParts, 'signal' | 'io'> & { log: () => string } {
  const stop = new AbortController();
  let log = '';
  return {
    signal: stop.signal,
    log: () => log,
    io: {
      onLog: (chunk) => {
        log += Buffer.from(chunk).toString();
        stop.abort(reason);
      },
    },
  };
}

/** Once the Job is there and its first Secret is asked for. */
function whenPosted(faults: ApiServerFaults, act: () => void): void {
  const look = setInterval(() => {
    if (!faults.requests.some(({ verb, resource }) => verb === 'create' && resource === 'secrets')) return;
    clearInterval(look);
    act();
  }, 10);
}

const untilStopped: ContainerScript = async ({ log, terminated, write }) => {
  await log('up');
  await terminated;
  await log('down');
  write('/cnab/app/outputs/greeting', 'saved');
  return 5;
};

describe('a run that is stopped', () => {
  it('before anything was created leaves nothing and is canceled', async () => {
    const signal = AbortSignal.abort(sigint);
    const { result, left, faults } = await runOnApiServer({ signal, invocation: untilStopped });
    assert.deepEqual([result.status, result.ran, result.error?.code], ['canceled', 'no', 'interrupted']);
    assert.deepEqual(left, nothing);
    assert.ok(!faults.requests.some(({ verb, resource }) => verb === 'create' && resource === 'jobs'));
  });

  it('while the Job is created finds no Job left behind', async () => {
    const stop = new AbortController();
    const { result, left } = await runOnApiServer({
      signal: stop.signal,
      faults: (faults) => {
        // With its Secret a pod that has a node may start before it is told to end.
        faults.neverSchedule('0/1 nodes are available');
        const release = faults.hold({ verb: 'create', resource: 'secrets' });
        whenPosted(faults, () => (stop.abort(sigint), release()));
      },
      invocation: untilStopped,
    });
    assert.deepEqual([result.status, result.ran, result.error?.code], ['canceled', 'no', 'interrupted']);
    assert.deepEqual(left, nothing);
  });

  it('while the Job is created, and cannot be stopped, may run: it is not told as never run', async () => {
    const stop = new AbortController();
    const { result, left } = await runOnApiServer({
      signal: stop.signal,
      faults: (faults) => {
        const release = faults.hold({ verb: 'create', resource: 'secrets' });
        faults.fail({ verb: 'delete' }, 400, { message: 'no deletion today' });
        whenPosted(faults, () => (stop.abort(sigint), release()));
      },
      invocation: () => 0,
    });
    assert.deepEqual([result.status, result.error?.code], ['unknown', 'contact-lost']);
    // On a slow machine its container has been seen by then.
    assert.notEqual(result.ran, 'no');
    assert.match(result.error?.message ?? '', /may go on as job .*no deletion today/);
    assert.equal(left.jobs.length, 1);
  });

  it('while it waits for a node did not run', async () => {
    const stop = new AbortController();
    const { result, left } = await runOnApiServer({
      signal: stop.signal,
      faults: (faults) => faults.neverSchedule('0/1 nodes are available'),
      io: { onProgress: ({ detail }) => void (detail?.includes('no node') && stop.abort(sigint)) },
      invocation: untilStopped,
    });
    assert.equal(result.status, 'canceled');
    assert.equal(result.error?.code, 'interrupted');
    assert.equal(result.exitCode, undefined);
    assert.deepEqual(left, nothing);
  });

  it('while its pod is refused for the time being did not run, and the Job goes', async () => {
    const stop = new AbortController();
    const { result, left } = await runOnApiServer({
      signal: stop.signal,
      faults: (faults) => {
        faults.denyPods('failed calling webhook "w": timeout');
        setTimeout(() => stop.abort(timeout), 200);
      },
      invocation: untilStopped,
    });
    assert.deepEqual([result.status, result.ran, result.error?.code], ['failed', 'no', 'timed-out']);
    assert.deepEqual(left, nothing);
  });

  it('while it runs gives the bundle its grace, collects log and outputs, and is canceled with its exit code', async () => {
    const stop = stopOnLog(sigint);
    const { result, outputs, left, faults } = await runOnApiServer({ ...stop, invocation: untilStopped });
    assert.deepEqual([result.status, result.ran, result.exitCode], ['canceled', 'yes', 5]);
    assert.equal(result.error?.code, 'interrupted');
    assert.match(result.error.message, /SIGINT.*exit code 5/);
    assert.deepEqual([outputs, stop.log()], [{ greeting: 'saved' }, 'up\ndown\n']);
    assert.deepEqual(left, nothing);
    const deletions = faults.requests.filter(({ verb }) => verb === 'delete').map(({ resource }) => resource);
    assert.deepEqual(deletions, ['pods', 'jobs'], 'the pod goes first, with our grace');
  });

  it('by its time-out is failed and says so', async () => {
    const stop = stopOnLog(timeout);
    const { result } = await runOnApiServer({ ...stop, settings: { timeoutMs: 60_000 }, invocation: untilStopped });
    assert.deepEqual([result.status, result.exitCode, result.error?.code], ['failed', 5, 'timed-out']);
  });

  it('and does not listen is killed when its grace is over, and keeps what it wrote', async () => {
    const stop = stopOnLog(sigint);
    const { result, outputs } = await runOnApiServer({
      ...stop,
      settings: { gracePeriodMs: 1000 },
      invocation: async ({ log, sleep, write }) => {
        write('/cnab/app/outputs/greeting', 'half');
        await log('up');
        await sleep(60_000);
        return 0;
      },
    });
    assert.deepEqual([result.status, result.exitCode, outputs], ['canceled', 137, { greeting: 'half' }]);
  });

  it('where pods may not be deleted is stopped by way of its Job', async () => {
    const stop = stopOnLog(sigint);
    const { result } = await runOnApiServer({
      ...stop,
      // Only the request: who is known not to have the right is told so before the run.
      faults: (faults) => faults.fail({ verb: 'delete', resource: 'pods' }, 403),
      invocation: untilStopped,
    });
    assert.deepEqual([result.status, result.exitCode], ['canceled', 5]);
  });

  it('and cannot be, because the cluster does not answer, is unknown and named', async () => {
    const stop = stopOnLog(sigint);
    const { result, left } = await runOnApiServer({
      ...stop,
      faults: (faults) => faults.fail({ verb: 'delete' }, 400, { message: 'no deletion today' }),
      invocation: untilStopped,
    });
    assert.deepEqual([result.status, result.ran, result.error?.code], ['unknown', 'yes', 'contact-lost']);
    assert.match(
      result.error?.message ?? '',
      /could not be stopped, and may go on as job cnab-install-app-.*no deletion today/,
    );
    assert.equal(left.jobs.length, 1);
  });

  it('after its verdict keeps the verdict, and the Job with the outputs that were not awaited', async () => {
    const stop = new AbortController();
    const { result, left } = await runOnApiServer({
      signal: stop.signal,
      io: { onProgress: ({ phase }) => void (phase === 'collecting' && setTimeout(() => stop.abort(sigint), 50)) },
      sidecar: async ({ env, log, sleep, terminated }) => {
        await log(`CNABO1 ${env['CNAB_RUN']} 1 hello 1 .`);
        await terminated;
        await log(`CNABO1 ${env['CNAB_RUN']} 1 ended .`);
        await sleep(60_000);
        return 0;
      },
      invocation: () => 0,
    });
    assert.deepEqual([result.status, result.exitCode, result.error?.code], ['succeeded', 0, 'interrupted']);
    assert.match(result.error?.message ?? '', /exit code 0, but 1 of its 1 outputs did not arrive/);
    assert.deepEqual(
      result.problems.map(({ kind }) => kind),
      ['lost'],
    );
    assert.equal(left.jobs.length, 1);
  });
});
