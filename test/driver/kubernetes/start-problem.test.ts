import assert from 'node:assert/strict';
import {
  jobStartProblem,
  podCreationProblem,
  podStartProblem,
  pullInProgress,
} from '../../../src/driver/kubernetes/start-problem.js';
import { ended, event, initializing, runPod, running, waiting } from '../../helpers/run-pod.js';

const IMAGE = 'r.example/bundle:1';
const kindOf = (state: unknown, events = [event('Scheduled', 'assigned')]): string | undefined =>
  podStartProblem(runPod({ sidecar: running, invocation: state, status: { phase: 'Pending' } }), events)?.kind;
const pull = (words: string): unknown =>
  waiting(
    'ErrImagePull',
    `failed to pull and unpack image "${IMAGE}": failed to resolve reference "${IMAGE}": ${words}`,
  );

describe('why a run does not start', () => {
  it('a pod on its way has no problem', () => {
    assert.equal(podStartProblem(runPod({ status: { phase: 'Pending' } }), []), undefined);
    assert.equal(kindOf(initializing), undefined);
    assert.equal(kindOf(waiting('ContainerCreating')), undefined);
  });

  describe('image pulls', () => {
    for (const words of [
      `${IMAGE}: not found`,
      'pulling from host r.example failed with status code [manifests 1]: 401 Unauthorized',
      'pulling from host r.example failed with status code [manifests 1]: 403 Forbidden',
      'pull access denied, repository does not exist or may require authorization: server message: insufficient_scope: authorization failed',
      'no match for platform in manifest: not found',
      'manifest unknown',
    ]) {
      it(`will never do: ${words.slice(0, 60)}`, () => assert.equal(kindOf(pull(words)), 'never'));
    }

    for (const words of [
      'failed to do request: Head "https://r.example/v2/x": dial tcp: lookup r.example on 10.0.0.10:53: no such host',
      'dial tcp 10.0.0.1:443: i/o timeout',
      'dial tcp 10.0.0.1:443: connect: connection refused',
      'pulling from host r.example failed with status code [manifests 1]: 429 Too Many Requests',
      'pulling from host r.example failed with status code [manifests 1]: 503 Service Unavailable',
      'unexpected EOF',
    ]) {
      it(`may heal: ${words.slice(0, 60)}`, () => assert.equal(kindOf(pull(words)), 'wait'));
    }

    it('an image cannot talk its way into a verdict by its name', () => {
      const image = 'unauthorized.example/not-found/denied:1';
      const state = waiting(
        'ErrImagePull',
        `failed to resolve reference "${image}": ${image}: dial tcp: connection reset`,
      );
      const pod = runPod({ sidecar: running, invocation: state, invocationStatus: { image } });
      assert.equal(podStartProblem(pod, [])?.kind, 'wait');
    });

    it('a back-off is told with the error before it, which the events keep', () => {
      const failed = event('Failed', `Failed to pull image "${IMAGE}": ${IMAGE}: not found`);
      const state = waiting('ImagePullBackOff', `Back-off pulling image "${IMAGE}"`);
      const pod = runPod({ sidecar: running, invocation: state });
      const problem = podStartProblem(pod, [failed]);
      assert.equal(problem?.kind, 'never');
      assert.match(
        problem.message,
        /r\.example\/bundle:1 of the invocation cannot be pulled: r\.example\/bundle:1: not found/,
      );
    });

    it('a failed pull is seen in the events while the status still says PodInitializing', () => {
      const failed = event('Failed', `Failed to pull image "${IMAGE}": 401 Unauthorized`);
      assert.equal(kindOf(initializing, [failed]), 'never');
      const healed = event('Pulled', `Successfully pulled image "${IMAGE}" in 2s`);
      assert.equal(kindOf(initializing, [failed, healed]), undefined);
    });

    it('the sidecar is named when it is the shell image that cannot be pulled', () => {
      const pod = runPod({ sidecar: waiting('ErrImagePull', 'busybox:1: not found'), invocation: initializing });
      assert.match(podStartProblem(pod, [])?.message ?? '', /image busybox:1 of the outputs sidecar/);
    });

    it('an image name that is none will never do', () => {
      assert.equal(kindOf(waiting('InvalidImageName', "couldn't parse image name")), 'never');
    });

    it('a pull under way is told until it is over', () => {
      const present = event('Pulled', 'Container image "busybox:1" already present on machine');
      const pulling = event('Pulling', `Pulling image "${IMAGE}"`);
      assert.equal(pullInProgress([present, pulling]), `pulling image "${IMAGE}"`);
      const pulled = event('Pulled', `Successfully pulled image "${IMAGE}" in 2s`);
      assert.equal(pullInProgress([present, pulling, pulled]), undefined);
    });
  });

  it('a container config that a later moment may mend is waited for, one that contradicts itself is not', () => {
    assert.equal(kindOf(waiting('CreateContainerConfigError', 'secret "run" not found')), 'wait');
    assert.equal(
      kindOf(waiting('CreateContainerConfigError', 'container has runAsNonRoot and image will run as root')),
      'never',
    );
    assert.equal(kindOf(waiting('RunContainerError', 'context deadline exceeded')), 'wait');
  });

  it('a pod that no node takes may find one, and the scheduler is quoted', () => {
    const message = "0/1 nodes are available: 1 node(s) didn't match Pod's node affinity/selector.";
    const conditions = [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message }];
    const problem = podStartProblem(runPod({ status: { phase: 'Pending', conditions } }), []);
    assert.equal(problem?.kind, 'wait');
    assert.ok(problem.message.includes(message));
  });

  it('a sidecar whose shell cannot be started, or that is out of memory, will never do', () => {
    for (const state of [ended(128, 'StartError', 'exec: "/bin/sh": no such file'), ended(137, 'OOMKilled')]) {
      const pod = runPod({ sidecar: state, invocation: initializing });
      assert.equal(podStartProblem(pod, [])?.kind, 'never');
    }
  });

  it('a sidecar that ended once may come back, one that ended three times will not', () => {
    const pod = (restartCount: number) =>
      runPod({
        sidecar: waiting('CrashLoopBackOff'),
        sidecarStatus: { restartCount, lastState: ended(1) as object },
        invocation: initializing,
      });
    assert.equal(podStartProblem(pod(1), [])?.kind, 'wait');
    assert.equal(podStartProblem(pod(3), [])?.kind, 'never');
  });

  it('volumes, networks and hooks are told in the words of the newest event', () => {
    const events = [
      event('FailedMount', 'newer', '2026-12-01T05:00:09Z'),
      event('FailedMount', 'older', '2026-12-01T05:00:01Z'),
      event('Scheduled', 'assigned', '2026-12-01T05:00:20Z'),
    ];
    assert.deepEqual(podStartProblem(runPod({ status: { phase: 'Pending' } }), events), {
      kind: 'wait',
      message: 'newer',
    });
  });

  for (const trouble of [
    'FailedMount',
    'FailedAttachVolume',
    'FailedCreatePodSandBox',
    'FailedScheduling',
    'NetworkNotReady',
  ]) {
    it(`${trouble} is past when the kubelet has turned to an image since, and present when it comes after`, () => {
      const pod = runPod({ status: { phase: 'Pending' } });
      const found = (at: string): string | undefined =>
        podStartProblem(pod, [
          event(trouble, 'trouble', at),
          event('Pulling', 'Pulling image "r.example/x:1"', '2026-12-01T05:00:05Z'),
        ])?.message;
      assert.equal(found('2026-12-01T05:00:04Z'), undefined);
      assert.equal(found('2026-12-01T05:00:05.900000Z'), undefined, 'events of the kubelet have whole seconds');
      assert.equal(found('2026-12-01T05:00:06Z'), 'trouble');
    });
  }

  describe('pods that are refused', () => {
    for (const [kind, words] of [
      ['never', 'pods "x" is forbidden: exceeded quota: q, requested: pods=1, used: pods=0, limited: pods=0'],
      ['never', 'pods "x" is forbidden: failed quota: q: must specify limits.cpu for: invocation,outputs'],
      ['never', 'pods "x" is forbidden: maximum memory usage per Container is 64Mi, but limit is 129Mi'],
      ['never', 'pods "x-" is forbidden: error looking up service account a/b: serviceaccount "b" not found'],
      ['never', 'admission webhook "policy.example" denied the request: no'],
      [
        'restricted',
        'pods "x" is forbidden: violates PodSecurity "restricted:latest": allowPrivilegeEscalation != false',
      ],
      ['wait', 'Internal error occurred: failed calling webhook "w": connection refused'],
      ['wait', 'etcdserver: request timed out'],
    ] as const) {
      it(`${kind}: ${words.slice(0, 70)}`, () => {
        assert.equal(podCreationProblem(`Error creating: ${words}`).kind, kind);
        assert.equal(jobStartProblem([event('FailedCreate', `Error creating: ${words}`)])?.kind, kind);
      });
    }

    it('other events on the Job are no refusal', () => {
      assert.equal(jobStartProblem([event('SuccessfulCreate', 'Created pod: x')]), undefined);
    });
  });
});
