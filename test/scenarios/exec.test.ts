import assert from 'node:assert/strict';
import type { ApiServerFaults } from '../helpers/api-server.js';
import type { ExecFault } from '../helpers/api-server-exec-faults.js';
import { runOnApiServer, type FinishedRun } from '../helpers/kubernetes-run.js';
import { spellings } from './sandbox-stage.js';
import { ChangedLog, digests, MiB, setSidecar, textOf, wanted, writes } from './stage.js';

const FILES = { note: 'a note\n', large: textOf('large', 6 * MiB), key: 'a-key-that-travels-by-exec-alone-7d20' };
const exec = { resource: 'pods/exec' } as const;

/** What the sidecar's log has shown the client. */
interface Told {
  readonly run: FinishedRun;
  readonly log: string;
}

/** Outputs above small and a sensitive one, for a user who may exec. The sidecar loses patience after so many seconds. */
async function runByExec(patience: string, disturb: (faults: ApiServerFaults) => void): Promise<Told> {
  let log = '';
  const faults = new ChangedLog((chunk) => {
    log += chunk.toString('latin1');
    return [chunk];
  });
  setSidecar(faults, { CNAB_PATIENCE: patience, CNAB_PAUSES: '1 1', CNAB_BEAT: '1' });
  disturb(faults);
  const run = await runOnApiServer({
    operation: {
      outputs: wanted('note', 'large', 'key').map((output) => ({ ...output, sensitive: output.name === 'key' })),
    },
    invocation: writes(FILES),
    server: { faults },
  });
  for (const text of spellings(FILES.key)) assert.ok(!log.includes(text), 'the sensitive output is not in the log');
  return { run, log };
}

function execsOf({ faults }: FinishedRun): number {
  return faults.requests.filter(({ resource, subresource }) => resource === 'pods' && subresource === 'exec').length;
}

describe('outputs by exec over a bad line', function () {
  this.timeout(60_000);

  const transient: readonly (readonly [string, ExecFault])[] = [
    ['a socket that is reset before the last bytes', { afterBytes: 700_000, then: 'reset' }],
    ['a socket that closes without a status before the last bytes', { afterBytes: 700_000, then: 'close' }],
    ['a status of success in place of the last bytes', { afterBytes: 700_000, then: 'success' }],
    ['a status of success before the last bytes', { afterBytes: 700_000, then: 'early-success' }],
    ['a byte that is another', { afterBytes: 700_000, then: 'corrupt' }],
    ['a socket that is silent', { afterBytes: 700_000, then: 'stall' }],
  ];
  for (const [what, fault] of transient) {
    it(`scenario 25: ${what} costs a repeated range, and no byte`, async () => {
      const { run, log } = await runByExec('600', (faults) => {
        faults.exec({ ...exec, times: 1, skip: 1 }, fault);
        if (fault.then === 'stall') faults.leavePings(exec);
      });
      assert.deepEqual([digests(run.outputs), run.result.problems], [digests(FILES), []]);
      assert.equal(run.result.status, 'succeeded');
      assert.deepEqual(run.left.jobs, []);
      assert.ok(!log.includes(' data 1 '), 'the large output did not travel by the log');
    });
  }

  for (const then of ['close', 'success', 'reset'] as const) {
    it(`scenario 25: execs that bring nothing for a while (${then}), as while a proxy reads its configuration anew, cost no output`, async () => {
      const { run, log } = await runByExec('600', (faults) =>
        faults.exec({ ...exec, times: 7 }, { afterBytes: 0, then }),
      );
      assert.deepEqual([digests(run.outputs), run.result.problems], [digests(FILES), []]);
      assert.ok(!log.includes(' data 1 '), 'the large output did not travel by the log');
    });
  }

  const lasting: readonly (readonly [string, (faults: ApiServerFaults) => void])[] = [
    ['a 403 on the first exec although the review said yes', (faults) => faults.forbid(exec, { review: true })],
    ['a proxy that knows no WebSockets', (faults) => faults.refuseUpgrade(exec, 400)],
    ['execs that always end before their data', (faults) => faults.exec(exec, { afterBytes: 0, then: 'success' })],
  ];
  for (const [what, disturb] of lasting) {
    it(`scenario 25: after ${what} the log brings what is not sensitive, and what is gets reported, not sent`, async () => {
      const { run, log } = await runByExec('2', disturb);
      const { key: _, ...open } = FILES;
      assert.deepEqual(digests(run.outputs), digests(open));
      assert.deepEqual(
        run.result.problems.map(({ name, kind }) => [name, kind]),
        [['key', 'lost']],
      );
      assert.ok(log.includes(' data 1 '), 'the large output travelled by the log');
      assert.equal(run.result.error?.code, 'outputs-incomplete');
      // Four goes of three.
      assert.ok(execsOf(run) <= 12, `${execsOf(run)} execs were tried`);
    });
  }
});
