import assert from 'node:assert/strict';
import { withDeletionCause } from '../../../src/driver/kubernetes/deletion-cause.js';
import { KubernetesApi } from '../../../src/driver/kubernetes/api.js';
import { plainConnection } from '../../../src/driver/kubernetes/connection.js';
import { buildResult, endReasonOf, stopReasonOf, type RunEnd } from '../../../src/driver/kubernetes/result.js';
import type { PodOutcome } from '../../../src/driver/kubernetes/pod-verdict.js';
import { RunView } from '../../../src/driver/kubernetes/run-view.js';
import type { Assembly } from '../../../src/frame/assemble.js';
import { withApiServer } from '../../helpers/api-server.js';
import { operation } from '../../helpers/operation.js';
import { ended, JOB_UID, runPod } from '../../helpers/run-pod.js';

const success: PodOutcome = { status: 'succeeded', ran: 'yes', exitCode: 0, warnings: [] };
const failure: PodOutcome = {
  status: 'failed',
  ran: 'yes',
  exitCode: 3,
  problem: { code: 'bundle-failed', message: 'the bundle ended with exit code 3' },
  warnings: [],
};
const assembly: Assembly = {
  outputs: [{ index: 0, file: '/staging/0', size: 2, sha256: 'a'.repeat(64) }],
  problems: [],
  noise: 0,
};
const end = (more: Partial<RunEnd> = {}): RunEnd => ({
  outcome: success,
  assembly,
  logComplete: true,
  warnings: [],
  keep: false,
  ...more,
});
const lost: Assembly = { ...assembly, outputs: [], problems: [{ index: 0, kind: 'lost', reason: 'is lost' }] };

describe('how a run is told', () => {
  it('an input file that the runtime cannot mount is told by what it belongs to', () => {
    const message = 'error mounting "/var/lib/x/f4" to rootfs at "/etc/app": not a directory: unknown';
    const file = { path: '/etc/app', content: Buffer.from(''), access: 'private', source: 'parameter "conf"' } as const;
    const outcome: PodOutcome = {
      status: 'failed',
      ran: 'no',
      problem: { code: 'unavailable', message },
      warnings: [],
    };
    const { error } = buildResult(operation({ files: [file] }), end({ outcome }));
    assert.match(error?.message ?? '', /^parameter "conf" cannot be put at \/etc\/app: error mounting/);
  });

  it('a success has its outputs by name and no error', () => {
    const result = buildResult(operation(), end());
    assert.deepEqual([result.status, result.error], ['succeeded', undefined]);
    assert.deepEqual(result.outputs, [{ name: 'greeting', file: '/staging/0', size: 2, sha256: 'a'.repeat(64) }]);
  });

  it('single outputs that are missing or too large are for the caller to judge', () => {
    const problems = [{ index: 0, kind: 'too-large', reason: 'has 8 MiB' }] as const;
    const result = buildResult(operation(), end({ assembly: { ...assembly, outputs: [], problems } }));
    assert.equal(result.error, undefined);
    assert.deepEqual(result.problems, [{ name: 'greeting', kind: 'too-large', reason: 'has 8 MiB' }]);
  });

  it('outputs that are lost for one cause make an error of exit code 5', () => {
    const result = buildResult(operation(), end({ assembly: lost, outputsReason: 'the sidecar died' }));
    assert.deepEqual([result.status, result.exitCode, result.error?.code], ['succeeded', 0, 'outputs-incomplete']);
    assert.match(result.error?.message ?? '', /the sidecar died/);
  });

  it('a collection that was cut short is told as a stop, whatever else is wrong with outputs that did not arrive', () => {
    for (const kind of ['lost', 'changed'] as const) {
      const problems = [{ index: 0, kind, reason: 'did not come' }];
      const cut = { kind: 'signal', signal: 'SIGINT' } as const;
      const { error } = buildResult(operation(), end({ assembly: { ...assembly, outputs: [], problems }, cut }));
      assert.equal(error?.code, 'interrupted', kind);
      assert.match(error?.message ?? '', /1 of its 1 outputs did not arrive/);
    }
  });

  it('a failed bundle stays failed, whatever became of its outputs', () => {
    const result = buildResult(operation(), end({ outcome: failure, assembly: lost, outputsReason: 'x' }));
    assert.deepEqual([result.status, result.exitCode, result.error?.code], ['failed', 3, 'bundle-failed']);
  });

  it('a stop before the verdict is what the user asked for, whatever exit code came of it', () => {
    for (const outcome of [success, failure]) {
      const canceled = buildResult(operation(), end({ outcome, stopped: { kind: 'signal', signal: 'SIGTERM' } }));
      assert.deepEqual(
        [canceled.status, canceled.exitCode, canceled.error?.code],
        ['canceled', outcome.exitCode, 'interrupted'],
      );
      const timedOut = buildResult(operation(), end({ outcome, stopped: { kind: 'timeout' } }));
      assert.deepEqual([timedOut.status, timedOut.error?.code], ['failed', 'timed-out']);
    }
  });

  it('names what asked for the stop', () => {
    for (const [stopped, words] of [
      [{ kind: 'signal', signal: 'SIGTERM' }, 'interrupted by SIGTERM: '],
      [{ kind: 'timeout' }, 'the time-out is over: '],
      [{ kind: 'cancel' }, 'canceled by cnab resume --cancel: '],
    ] as const) {
      const { error, status } = buildResult(operation(), end({ outcome: failure, stopped }));
      assert.ok(error?.message.startsWith(`${words}install was stopped, and`), error?.message);
      assert.equal(status, stopped.kind === 'timeout' ? 'failed' : 'canceled');
    }
  });

  it('a stop after the verdict matters only where outputs are lost by it', () => {
    const cut = { kind: 'timeout' } as const;
    assert.equal(buildResult(operation(), end({ cut })).error, undefined);
    const result = buildResult(
      operation(),
      end({ cut, assembly: lost, outputsReason: 'the collection was cut short' }),
    );
    assert.deepEqual([result.status, result.error?.code], ['succeeded', 'timed-out']);
  });

  it('an abort without a reason is an interrupt', () => {
    assert.deepEqual(stopReasonOf(AbortSignal.abort()), { kind: 'signal', signal: 'SIGINT' });
    assert.deepEqual(stopReasonOf(AbortSignal.abort({ kind: 'timeout' })), { kind: 'timeout' });
  });

  it('who leaves does not end the run', () => {
    assert.equal(endReasonOf(AbortSignal.abort({ kind: 'leave' })), undefined);
    assert.equal(endReasonOf(new AbortController().signal), undefined);
    assert.deepEqual(endReasonOf(AbortSignal.abort({ kind: 'timeout' })), { kind: 'timeout' });
  });
});

describe('who deleted the pod', () => {
  const deleted = (): RunView => {
    const view = new RunView();
    view.bind(JOB_UID);
    view.seePod(runPod({ invocation: ended(9), deletionTimestamp: '2026-12-01T05:00:00Z' }));
    return view;
  };
  const outcome: PodOutcome = { ...failure, problem: { code: 'bundle-failed', message: 'ended: its pod was deleted' } };
  const ask = (job: unknown): Promise<PodOutcome> =>
    withApiServer({}, async (server) => {
      if (job !== undefined) {
        server.faults.intercept = ({ resource }) => (resource === 'jobs' ? { status: 200, body: job } : undefined);
      }
      const api = new KubernetesApi(plainConnection({ server: server.url, token: server.token }));
      const told = await withDeletionCause(
        api,
        { namespace: 'default', name: 'run', uid: JOB_UID },
        deleted(),
        outcome,
      );
      api.close();
      return told;
    });

  it('the deadline of the Job is a time-out', async () => {
    const conditions = [{ type: 'FailureTarget', status: 'True', reason: 'DeadlineExceeded', message: 'too long' }];
    const { problem } = await ask({ metadata: { uid: JOB_UID }, status: { conditions } });
    assert.deepEqual([problem?.code, /deadline of its Job/.test(problem?.message ?? '')], ['timed-out', true]);
  });

  it('someone who deleted the Job, or only the pod', async () => {
    assert.match((await ask(undefined)).problem?.message ?? '', /its Job was deleted by someone else/);
    assert.match((await ask({ metadata: { uid: JOB_UID } })).problem?.message ?? '', /\(by someone else\)/);
  });
});
