import assert from 'node:assert/strict';
import type { V1Pod } from '@kubernetes/client-node';
import { KubernetesApi } from '../../../src/driver/kubernetes/api.js';
import { plainConnection } from '../../../src/driver/kubernetes/connection.js';
import { KeptState } from '../../../src/driver/kubernetes/kept-state.js';
import { RunEnding, type RunEnded } from '../../../src/driver/kubernetes/run-ending.js';
import { RunView } from '../../../src/driver/kubernetes/run-view.js';
import { httpPeer, json, refusal, reset, type Answer, type HttpPeer } from '../../helpers/http-peer.js';
import { ManualClock } from '../../helpers/manual-clock.js';
import { ended, initializing, JOB_UID, running, runPod } from '../../helpers/run-pod.js';

const MINUTE_MS = 60_000;
const pending = runPod({ resourceVersion: '5', sidecar: running, invocation: initializing });
const listOf = (...items: V1Pod[]): Answer => json({ metadata: { resourceVersion: '9' }, items });

/** A run that was posted an hour ago; what is known of it, a pod that has not started, is as old. */
async function anHourLater(
  answers: readonly Answer[],
  see: (peer: HttpPeer, view: RunView) => void = () => undefined,
  signal = new AbortController().signal,
): Promise<RunEnded> {
  const peer = await httpPeer(answers);
  const clock = new ManualClock(10_000);
  const api = new KubernetesApi(plainConnection({ server: peer.url }), { clock, random: () => 0 });
  const view = new RunView();
  view.bind(JOB_UID);
  view.seePod(pending);
  view.onChange(() => see(peer, view));
  const ending = new RunEnding({
    ...{ api, view, job: { namespace: 'default', name: 'run', uid: JOB_UID } },
    operation: { runId: 'run', files: [] },
    facts: { startTimeoutMs: 5 * MINUTE_MS, gracePeriodMs: 1000, shellImage: 'r.example/sh' },
    posted: clock.now() - 60 * MINUTE_MS,
    observer: { lost: undefined },
    state: new KeptState({}, () => Promise.resolve()),
    assembler: { fault: undefined },
    signal,
  });
  try {
    return await ending.wait();
  } finally {
    api.close();
    await peer.close();
  }
}

describe('a start time that is over for a process that slept, or was cut off', () => {
  const started = runPod({ resourceVersion: '8', sidecar: running, invocation: running });
  const over = runPod({ resourceVersion: '12', sidecar: running, invocation: ended(0) });

  for (const [what, trouble] of [
    ['', []],
    [', after tries that fail', [reset, refusal(503, 'ServiceUnavailable', 'not yet'), reset]],
  ] as const) {
    it(`stops no bundle that has started meanwhile: the cluster is asked first${what}`, async () => {
      let requests: readonly string[] = [];
      let isOver = false;
      const end = await anHourLater([...trouble, listOf(started)], ({ seen }, view) => {
        requests = seen;
        if (isOver || !view.history.started) return;
        isOver = true;
        setImmediate(() => view.seePod(over));
      });
      assert.equal(end.kind === 'ended' && end.ending.kind === 'verdict' && end.ending.outcome.status, 'succeeded');
      assert.ok(requests.length > 0 && requests.every((request) => request.startsWith('GET ')), requests.join());
    });
  }

  it('stops one that has not', async () => {
    const isGone: Answer = (request, response, body) => {
      const isDeletion = request.method === 'DELETE';
      (isDeletion ? json({ kind: 'Status', status: 'Success' }) : listOf())(request, response, body);
    };
    const end = await anHourLater([listOf(pending), isGone]);
    assert.match(
      end.kind === 'ended' && end.ending.kind === 'not-started' ? end.ending.message : '',
      /did not start within 300 s/,
    );
  });

  it('stops one that starts at the last moment, and tells how it ended', async () => {
    let isTold = false;
    let view: RunView | undefined;
    const deletion: Answer = (...exchange) => {
      json({ kind: 'Status', status: 'Success' })(...exchange);
      view?.seePod(started);
      view?.seePod(runPod({ resourceVersion: '12', sidecar: running, invocation: ended(7) }));
      isTold = true;
    };
    const end = await anHourLater([listOf(pending), deletion], (_peer, its) => (view = its));
    assert.ok(isTold);
    assert.equal(end.kind === 'ended' && end.ending.kind === 'verdict' && end.ending.outcome.exitCode, 7);
  });

  it('keeps nobody from leaving while the cluster cannot be asked', async () => {
    const leave = new AbortController();
    const away: Answer = (...exchange) => {
      leave.abort({ kind: 'leave' });
      reset(...exchange);
    };
    assert.equal((await anHourLater([away], undefined, leave.signal)).kind, 'left');
  });
});
