import assert from 'node:assert/strict';
import type { V1Job } from '@kubernetes/client-node';
import { RunHeld, type Progress, type RunState } from '../../../src/driver/driver.js';
import type { ContainerScript } from '../../helpers/api-server.js';
import { leaveOnLog, postByHand, withProcesses, type Processes } from '../../helpers/begun-run.js';
import { RUN_ID } from '../../helpers/operation.js';
import { until } from '../../helpers/until.js';

const runId = RUN_ID;
const PATCH = { verb: 'patch', resource: 'jobs' } as const;

/** A bundle that says `one`, and goes on when it is told to. */
function bundle(): { readonly script: ContainerScript; readonly finish: () => void } {
  let finish = (): void => undefined;
  const told = new Promise<void>((resolve) => (finish = resolve));
  const script: ContainerScript = async ({ log, write }) => {
    await log('one');
    await told;
    write('/cnab/app/outputs/greeting', 'hi');
    return 0;
  };
  return { script, finish };
}

interface HolderJson {
  readonly id: string;
  readonly host: string;
  readonly beat: number;
}

function holderOn({ server }: Processes): HolderJson | undefined {
  const [job] = server.cluster.store.list('jobs');
  const text = job?.metadata.annotations?.['cnab.io/holder'];
  return text === undefined ? undefined : (JSON.parse(text) as HolderJson);
}

/** What whoever finds the run on the cluster knows of it. */
function found({ server }: Processes): RunState {
  const [job] = server.cluster.store.list('jobs');
  assert.ok(job);
  return { namespace: 'default', job: job.metadata.name, jobUid: job.metadata.uid };
}

/** Takes hold of the run by a driver of its own, as the process of another machine. */
function take(processes: Processes, takeOver = false, state = found(processes)): Promise<readonly string[]> {
  const told: string[] = [];
  const onProgress = ({ detail = '' }: Progress): void => void told.push(detail);
  const how = { takeOver, onProgress, signal: new AbortController().signal };
  return processes.withDriver(async (driver) => {
    await driver.hold({ runId, state }, how);
    return told;
  });
}

const heldBy = (words: RegExp) => (error: unknown) =>
  error instanceof RunHeld && error.code === 'busy' && words.test(error.message);

/** A Job that some process made which is not there any more. */
async function abandoned(processes: Processes, holder?: object): Promise<void> {
  const { job } = await postByHand(processes, { secrets: true });
  if (holder === undefined) return;
  const annotations = { 'cnab.io/holder': JSON.stringify(holder) };
  const path = `/apis/batch/v1/namespaces/default/jobs/${job}`;
  const { status } = await processes.server.request('PATCH', path, { metadata: { annotations } });
  assert.equal(status, 200);
}

const GONE = { id: 'a'.repeat(32), host: 'ci-7', pid: 12, since: '2026-01-01T00:00:00Z', beats: true, beat: 3 };

describe('who is on a run', () => {
  it('stands in its Job from its creation on, tells that it lives, and is refused to others', async () => {
    const { script, finish } = bundle();
    await withProcesses({ named: true, faster: 3, invocation: script }, async (processes) => {
      let created: V1Job | undefined;
      processes.server.faults.admit = (_, object) => {
        if (object['kind'] === 'Job') created = object;
        return object;
      };
      const running = processes.run();
      await until('a beat', () => (holderOn(processes)?.beat ?? 0) >= 1, 20);
      assert.match(
        created?.metadata?.annotations?.['cnab.io/holder'] ?? '',
        /"host":"machine-1","pid":1,.*"beats":true,"beat":0/,
      );
      assert.equal(created?.spec?.template.metadata?.annotations?.['cnab.io/holder'], undefined);
      await assert.rejects(
        take(processes),
        heldBy(/^process 1 on machine-1 has been on run .* since 20.*, and lives$/),
      );
      finish();
      const { result } = await running;
      assert.deepEqual([result.status, result.error], ['succeeded', undefined]);
    });
  });

  it('is gone when it has been silent for half a minute, also right after the Job was made, by the clock of whoever waits', () =>
    withProcesses({ named: true, faster: 30 }, async (processes) => {
      await abandoned(processes, { ...GONE, beat: 0, since: '2099-01-01T00:00:00Z' });
      assert.deepEqual(await take(processes), ['for a sign of process 12 on ci-7, at most 35s: it may still be on it']);
      assert.equal(holderOn(processes)?.host, 'machine-1');
    }));

  it('is not judged where it may not tell that it lives: it is refused at once, and taken over on request alone', () =>
    withProcesses({ named: true }, async (processes) => {
      await abandoned(processes, { ...GONE, beats: false });
      await assert.rejects(take(processes), heldBy(/nothing tells from here whether it still is/));
      assert.equal(holderOn(processes)?.host, 'ci-7');
      assert.deepEqual(await take(processes, true), []);
      assert.equal(holderOn(processes)?.host, 'machine-2');
    }));

  it('is ours where our own state names it, and nobody where the Job names none or nonsense', () =>
    withProcesses({ named: true }, async (processes) => {
      await abandoned(processes, GONE);
      assert.deepEqual(await take(processes, false, { ...found(processes), holder: GONE.id }), []);
      for (const holder of [{ ...GONE, host: 'ci-7\u001b[31m' }, { ...GONE, id: 'x' }, { ...GONE, beat: '3' }, ['x']]) {
        const [job] = processes.server.cluster.store.list('jobs');
        const path = `/apis/batch/v1/namespaces/default/jobs/${job?.metadata.name}`;
        const annotations = { 'cnab.io/holder': JSON.stringify(holder) };
        await processes.server.request('PATCH', path, { metadata: { annotations } });
        assert.deepEqual(await take(processes), []);
      }
    }));

  it('is one of two that would take up the same run at the same moment', () =>
    withProcesses({ named: true, faster: 30 }, async (processes) => {
      await abandoned(processes, GONE);
      const told = await Promise.all([take(processes), take(processes)]);
      // The one that comes second finds the first, and waits for a sign of that one too.
      const whom = told.map((lines) => lines.map((line) => /process \d+ on (ci|machine)/.exec(line)?.[1]));
      assert.deepEqual(
        whom.sort((a, b) => a.length - b.length),
        [['ci'], ['ci', 'machine']],
      );
    }));

  it('hears of it when another machine takes the run over, and leaves it to that one', async () => {
    const { script, finish } = bundle();
    await withProcesses({ named: true, invocation: script }, async (processes) => {
      const running = processes.run();
      await until('a beat', () => (holderOn(processes)?.beat ?? 0) >= 1, 20);
      await take(processes, true);
      const { result } = await running;
      assert.deepEqual([result.status, result.keep, result.error?.code], ['running', true, 'contact-lost']);
      assert.match(result.error?.message ?? '', /^process 1 on machine-2 has taken the run over at 20/);
      assert.equal(holderOn(processes)?.host, 'machine-2');
      finish();
    });
  });

  it('is also who takes it over and may not say so: the name of another one that stays there ends nothing', async () => {
    const { script, finish } = bundle();
    finish();
    await withProcesses({ named: true, invocation: script }, async (processes) => {
      await abandoned(processes, { ...GONE, beats: false });
      processes.server.faults.forbid(PATCH);
      const state = found(processes);
      const turn = await processes.takeUp(state);
      assert.deepEqual([turn.result.status, turn.result.error], ['succeeded', undefined]);
    });
  });

  it('is nobody after it has left, or where it was left at once', async () => {
    for (const leave of [leaveOnLog(), { detach: true }]) {
      const { script, finish } = bundle();
      await withProcesses({ named: true, invocation: script }, async (processes) => {
        assert.equal((await processes.run(leave)).result.status, 'running');
        assert.equal(holderOn(processes), undefined);
        assert.deepEqual(await take(processes), []);
        finish();
      });
    }
  });

  it('says in the Job that it may not tell whether it lives, and asks for nothing that it may not', async () => {
    const { script, finish } = bundle();
    await withProcesses({ named: true, invocation: script }, async (processes) => {
      processes.server.faults.forbid(PATCH);
      const running = processes.run();
      await until('its Job', () => holderOn(processes) !== undefined, 20);
      await assert.rejects(take(processes), heldBy(/it may not patch jobs, by which it would say so/));
      finish();
      const { result } = await running;
      assert.deepEqual([result.status, result.error, result.warnings], ['succeeded', undefined, []]);
      assert.equal(processes.server.faults.requests.filter(({ verb }) => verb === 'patch').length, 0);
    });
  });
});
