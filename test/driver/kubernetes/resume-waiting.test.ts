import assert from 'node:assert/strict';
import { withProcesses, type ProcessParts, type Processes } from '../../helpers/begun-run.js';
import { mustNotRun } from '../../helpers/kubernetes-run.js';

/** A run that no node takes. */
const waits = (parts: ProcessParts, act: (processes: Processes) => Promise<void>): Promise<void> =>
  withProcesses(
    { invocation: mustNotRun, faults: (faults) => faults.neverSchedule('0/1 nodes are available'), ...parts },
    act,
  );

/** Somebody who waits for `ms` (real time). */
async function waitsOn({ resume, server }: Processes, ms: number): Promise<void> {
  const leave = new AbortController();
  const timer = setTimeout(() => leave.abort({ kind: 'leave' }), ms);
  const { result } = await resume({}, { signal: leave.signal });
  clearTimeout(timer);
  assert.deepEqual([result.status, result.keep, result.error], ['running', true, undefined]);
  assert.ok(!server.faults.requests.some(({ verb }) => verb === 'delete'), 'nothing was deleted');
}

describe('a run that has not started', () => {
  for (const [limit, startTimeoutMs] of Object.entries({ none: 0, 'two hours': 7_200_000 })) {
    it(`is waited for as it was begun (limit: ${limit}), whatever limit whoever waits would set`, () =>
      waits({ settings: { startTimeoutMs }, takerSettings: { startTimeoutMs: 3000 } }, async (processes) => {
        await processes.run({ detach: true });
        await waitsOn(processes, 3000);
      }));
  }

  it('is given up when the time that it was begun with is over, counted from the creation of its Job', () =>
    waits({ settings: { startTimeoutMs: 1_800_000 }, takerSettings: { startTimeoutMs: 0 } }, async (processes) => {
      const { run, resume, server } = processes;
      await run({ detach: true });
      const [job] = server.cluster.store.list('jobs');
      assert.ok(job !== undefined);
      Object.assign(job.metadata, { creationTimestamp: new Date(Date.now() - 3_600_000).toISOString() });
      const { result } = await resume();
      assert.deepEqual([result.status, result.ran], ['failed', 'no']);
      assert.match(result.error?.message ?? '', /did not start within 1800 s: .*0\/1 nodes/);
    }));

  for (const optional of [true, false]) {
    const what = optional ? 'need not be there' : 'is not there yet';
    it(`is not given up for want of a Secret that ${what} and is none of its own`, () => {
      const secretKeyRef = { name: 'not-there', key: 'k', optional };
      const document = {
        spec: { containers: [{ name: 'invocation', env: [{ name: 'X', valueFrom: { secretKeyRef } }] }] },
      };
      return waits({ settings: { podPatch: { file: 'patch.yaml', document } } }, async (processes) => {
        await processes.run({ detach: true });
        // By the clock of the run 30 s: one of its own is missed after 15.
        await waitsOn(processes, 5000);
      });
    });
  }

  it('is told with the shell image that it was begun with, where that one lacks a tool, whichever who takes it up would use', async () => {
    let goOn = (): void => undefined;
    const told = new Promise<void>((resolve) => (goOn = resolve));
    const parts: ProcessParts = {
      invocation: mustNotRun,
      sidecar: ({ env, log }) => told.then(() => log(`CNABO1 ${env['CNAB_RUN']} 1 fault tool base64 .`)).then(() => 1),
      hook: () => told.then(() => 137),
      settings: { shellImage: 'r.example/first:1' },
      takerSettings: { shellImage: 'r.example/second:2' },
    };
    await withProcesses(parts, async ({ run, resume }) => {
      await run({ detach: true });
      goOn();
      const { result } = await resume();
      assert.match(result.error?.message ?? '', /shell image r\.example\/first:1 has no usable base64/);
    });
  });
});
