import assert from 'node:assert/strict';
import type { V1Job, V1Pod } from '@kubernetes/client-node';
import type { KubernetesList } from '../../../src/driver/kubernetes/api-types.js';
import { decide, waitingFor } from '../../../src/driver/kubernetes/decision.js';
import { RunView } from '../../../src/driver/kubernetes/run-view.js';
import { ended, event, initializing, JOB_UID, runPod, running } from '../../helpers/run-pod.js';

const bound = (): RunView => {
  const view = new RunView();
  view.bind(JOB_UID);
  return view;
};
const podUid = (view: RunView): string | undefined => view.pod?.metadata?.uid;
const podList = (resourceVersion: string, ...items: V1Pod[]): KubernetesList<V1Pod> => ({
  metadata: { resourceVersion },
  items,
});
const job = (more: Partial<V1Job> = {}): V1Job => ({ metadata: { uid: JOB_UID }, ...more });

describe('what is known of a run', () => {
  it('a pod that came before the Job was known counts once it is', () => {
    const view = new RunView();
    view.seePod(runPod());
    assert.equal(podUid(view), undefined);
    view.bind(JOB_UID);
    assert.equal(podUid(view), 'pod-1');
  });

  it('a pod that another owner made is none of ours, whatever its labels', () => {
    const view = new RunView();
    view.bind('another-job');
    view.seePod(runPod());
    assert.equal(view.pod, undefined);
  });

  it('a pod whose Job was deleted without it has no owner any more, and stays ours', () => {
    const view = bound();
    view.seePod(runPod({ sidecar: running, invocation: running }));
    const orphan = runPod({ resourceVersion: '200', invocation: ended(0) });
    view.seePod({ ...orphan, metadata: { ...orphan.metadata, ownerReferences: [] } });
    const decision = decide(view, { now: 0, clusterNow: 0, posted: 0, startTimeoutMs: 0 });
    assert.equal(decision?.kind === 'verdict' && decision.outcome.status, 'succeeded');
  });

  it('an older message does not take back a newer one', () => {
    const view = bound();
    view.seePod(runPod({ resourceVersion: '1000', invocation: ended(0) }));
    view.seePod(runPod({ resourceVersion: '999', invocation: running }));
    assert.equal(view.pod?.metadata?.resourceVersion, '1000');
  });

  it('a second pod is noted and never mixed with the first', () => {
    const view = bound();
    view.seePod(runPod({ invocation: running }));
    view.seePod(runPod({ uid: 'pod-2', name: 'run-second', resourceVersion: '900', invocation: ended(0) }));
    assert.equal(view.pod?.metadata?.uid, 'pod-1');
    assert.deepEqual(view.otherPods, ['run-second']);
  });

  it('a pod that a list lacks is gone, and stays known', () => {
    const view = bound();
    view.seePods(podList('100', runPod({ invocation: running })));
    view.seePods(podList('101'));
    assert.equal(view.podGone, true);
    assert.equal(view.pod?.metadata?.uid, 'pod-1');
  });

  it('a list that is older than a pod says nothing of it', () => {
    const view = bound();
    view.seePod(runPod({ resourceVersion: '100' }));
    view.seePods(podList('99'));
    assert.equal(view.podGone, false);
    view.seePods(podList('100'));
    assert.equal(view.podGone, true);
  });

  it('whoever waits is woken by each change until he goes', () => {
    const view = bound();
    let woken = 0;
    const forget = view.onChange(() => (woken += 1));
    view.seePod(runPod());
    forget();
    view.seeJob(job());
    assert.equal(woken, 1);
  });
});

describe('what the state of the cluster means', () => {
  const times = { clusterNow: undefined, now: 10_000, posted: 0, startTimeoutMs: 60_000 };
  const late = { ...times, now: 60_000 };

  it('nothing, while a Job without a pod is young', () => {
    assert.equal(decide(bound(), times), undefined);
  });

  it('no pod within the start time-out ends the run before it ran, in the words of the last event', () => {
    const view = bound();
    view.seeJobEvents([event('FailedCreate', 'Error creating: etcdserver: request timed out')]);
    assert.equal(decide(view, times), undefined);
    const decision = decide(view, late);
    assert.equal(decision?.kind, 'not-started');
    assert.match(decision.message, /within 60 s: .*etcdserver/);
  });

  it('a start time-out of 0 is none', () => {
    assert.equal(decide(bound(), { now: 9e9, clusterNow: 9e9, posted: 0, startTimeoutMs: 0 }), undefined);
  });

  it('a run that has started has no start time-out', () => {
    const view = bound();
    view.seePod(runPod({ sidecar: running, invocation: running }));
    assert.equal(decide(view, late), undefined);
  });

  it('a refused pod ends the run at once, or asks for the restricted shape', () => {
    const view = bound();
    view.seeJobEvents([event('FailedCreate', 'pods "x" is forbidden: exceeded quota: q')]);
    assert.equal(decide(view, times)?.kind, 'not-started');
    view.seeJobEvents([event('FailedCreate', 'pods "x" is forbidden: violates PodSecurity "restricted:latest": a')]);
    assert.equal(decide(view, times)?.kind, 'restricted');
  });

  it('a Job that is deleted before its pod is seen is unknown', () => {
    const view = bound();
    view.seeJob(undefined);
    const decision = decide(view, times);
    assert.equal(decision?.kind === 'verdict' && decision.outcome.status, 'unknown');
  });

  it('a Job that failed without a pod did not run', () => {
    const view = bound();
    const conditions = [{ type: 'Failed', status: 'True', reason: 'DeadlineExceeded', message: 'too long' }];
    view.seeJob(job({ status: { conditions } }));
    const decision = decide(view, times);
    assert.match(decision?.kind === 'not-started' ? decision.message : '', /DeadlineExceeded: too long/);
  });

  it('a pod that is gone is unknown, and says who took it', () => {
    for (const [act, words] of [
      [(view: RunView) => view.seeJob(undefined), /Job was deleted/],
      [(view: RunView) => view.seePod(runPod({ uid: 'pod-2', name: 'run-second' })), /replaced by run-second/],
      [() => undefined, /it was deleted/],
    ] as const) {
      const view = bound();
      view.seePod(runPod({ sidecar: running, invocation: running }));
      act(view);
      view.seePod(runPod({ sidecar: running, invocation: running }), true);
      const decision = decide(view, times);
      assert.ok(decision?.kind === 'verdict');
      assert.deepEqual([decision.outcome.status, decision.outcome.ran], ['unknown', 'yes']);
      assert.match(decision.outcome.problem?.message ?? '', words);
    }
  });

  it('a pod that is gone and never had a node did not run; one that a list lacks may have got one', () => {
    const unscheduled = { ...runPod(), spec: { containers: [] } };
    const view = bound();
    view.seePod(unscheduled);
    view.seePod(unscheduled, true);
    assert.equal(decide(view, times)?.kind, 'not-started');
    const listed = bound();
    listed.seePods(podList('100', unscheduled));
    listed.seePods(podList('101'));
    const decision = decide(listed, times);
    assert.equal(decision?.kind === 'verdict' && decision.outcome.ran, 'unknown');
  });

  it('a pod that is gone with its exit code has its verdict', () => {
    const view = bound();
    view.seePod(runPod({ sidecar: ended(0), invocation: ended(5) }), true);
    const decision = decide(view, times);
    assert.equal(decision?.kind === 'verdict' && decision.outcome.exitCode, 5);
  });

  it('a deleted pod is waited for until its node is clearly lost', () => {
    const view = bound();
    const now = Date.parse('2026-12-01T05:10:00Z');
    view.seePod(runPod({ sidecar: running, invocation: running, deletionTimestamp: '2026-12-01T05:09:45Z' }));
    assert.equal(decide(view, { ...times, clusterNow: now }), undefined);
    const decision = decide(view, { ...times, clusterNow: now + 20_000 });
    assert.equal(decision?.kind === 'verdict' && decision.outcome.status, 'unknown');
    assert.equal(decide(view, { ...times, now: now + 3_600_000 }), undefined, 'by the clock of the cluster alone');
  });

  it('what is waited for is told', () => {
    const view = bound();
    view.seePod(runPod({ sidecar: running, invocation: initializing, status: { phase: 'Pending' } }));
    assert.equal(waitingFor(view), undefined);
    view.seePodEvents([event('Pulling', 'Pulling image "r.example/bundle:1"')]);
    assert.equal(waitingFor(view), 'pulling image "r.example/bundle:1"');
    // A sidecar that ends with its pod is no trouble.
    view.seePod(runPod({ sidecar: ended(0), invocation: initializing, deletionTimestamp: '2026-12-01T05:00:00Z' }));
    assert.equal(waitingFor(view), 'for the pod to end');
  });
});
