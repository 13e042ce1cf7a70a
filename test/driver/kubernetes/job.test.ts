import assert from 'node:assert/strict';
import type { V1Job, V1PodSpec } from '@kubernetes/client-node';
import { planInputs } from '../../../src/driver/kubernetes/inputs.js';
import type { Way } from '../../../src/frame/delivery.js';
import { buildJob } from '../../../src/driver/kubernetes/job.js';
import { factsOf } from '../../../src/driver/kubernetes/job-facts.js';
import { podShape } from '../../../src/driver/kubernetes/security.js';
import { expectedWay } from '../../../src/driver/kubernetes/way.js';
import type { Operation } from '../../../src/driver/driver.js';
import { DEFAULT_SETTINGS, type DriverSettings } from '../../../src/driver/settings.js';
import { inputFile, operation, RUN_ID } from '../../helpers/operation.js';

function build(
  given: { operation?: Partial<Operation>; settings?: Partial<DriverSettings>; restricted?: boolean; way?: Way } = {},
): V1Job {
  const asked = operation(given.operation);
  const settings = { ...DEFAULT_SETTINGS, ...given.settings };
  const shape = podShape(given.restricted ?? false, settings.runAsUser);
  const way = given.way ?? expectedWay(asked, settings);
  return buildJob({ operation: asked, settings, name: 'job', inputs: planInputs(asked, 'job'), shape, way });
}
const podOf = (job: V1Job): V1PodSpec => job.spec?.template.spec as V1PodSpec;

describe('the Job of a run', () => {
  it('tries once, leaves nothing after a day, and has no deadline without a time-out', () => {
    const { spec } = build();
    assert.deepEqual(
      [spec?.backoffLimit, spec?.ttlSecondsAfterFinished, spec?.activeDeadlineSeconds],
      [0, 86_400, undefined],
    );
    assert.equal(spec?.podReplacementPolicy, undefined);
    assert.equal(podOf(build()).restartPolicy, 'Never');
    assert.equal(podOf(build()).enableServiceLinks, false);
    assert.equal(podOf(build()).terminationGracePeriodSeconds, 600);
  });

  it('with a time-out its deadline is later than everything the CLI does itself', () => {
    assert.equal(build({ settings: { timeoutMs: 60_000 } }).spec?.activeDeadlineSeconds, 60 + 30 + 600);
  });

  it('is found again by its labels, and tells in annotations what a label cannot hold', () => {
    const { metadata, spec } = build({ operation: { installation: 'My App' }, settings: { labels: { team: 'a' } } });
    assert.equal(metadata?.labels?.['cnab.io/run'], RUN_ID);
    assert.equal(metadata?.labels?.['team'], 'a');
    assert.match(metadata?.labels?.['cnab.io/installation'] ?? '', /^sha256-/);
    assert.equal(metadata?.annotations?.['cnab.io/installation'], 'My App');
    assert.deepEqual(spec?.template.metadata?.labels, metadata?.labels);
    assert.deepEqual(spec?.template.metadata?.annotations, {
      ...metadata?.annotations,
      'kubectl.kubernetes.io/default-container': 'invocation',
      'ad.datadoghq.com/outputs.logs_exclude': 'true',
      'co.elastic.logs.outputs/enabled': 'false',
      'fluentbit.io/exclude-outputs': 'true',
      'vector.dev/exclude-containers': 'outputs',
      'io.opentelemetry.discovery.logs.outputs/enabled': 'false',
    });
  });

  it('tells whoever takes the run up which way was chosen, with which limits and times, for which paths', () => {
    const outputs = [
      { name: 'a', path: '/cnab/app/outputs/a$(B)$$ $c', sensitive: false },
      { name: 'b', path: '/cnab/app/outputs/b/c', sensitive: true },
    ];
    const way: Way = { via: 'log', maxLogBytes: 5_000_000, inLog: 'not-sensitive' };
    const times = { startTimeoutMs: 0, gracePeriodMs: 1501, holdTimeMs: 60_000 };
    const settings = { maxOutputBytes: 7_000_000, maxOutputsTotalBytes: 9_000_000, ...times };
    const facts = factsOf(podOf(build({ operation: { outputs }, settings, way })), 'job');
    assert.deepEqual(facts.way, way);
    const { startTimeoutMs, gracePeriodMs, holdTimeMs } = facts;
    assert.deepEqual({ startTimeoutMs, gracePeriodMs, holdTimeMs }, times);
    assert.deepEqual(facts.limits, { maxOutputBytes: 7_000_000, maxTotalBytes: 5_000_000 });
    assert.deepEqual(
      facts.wanted,
      outputs.map(({ path }) => path),
    );
    const other: Way = { via: 'exec', maxLogBytes: 5_000_000, inLog: 'all' };
    const others = factsOf(podOf(build({ operation: { outputs }, settings, way: other })), 'job');
    assert.deepEqual([others.way, others.limits.maxTotalBytes], [other, 9_000_000]);
  });

  it('runs the image as it is, pinned, with nothing around /cnab/app/run', () => {
    const contentDigest = `sha256:${'a'.repeat(64)}`;
    const [invocation] = podOf(build({ operation: { image: { image: 'r.example/x:1', contentDigest } } })).containers;
    assert.equal(invocation?.image, `r.example/x:1@${contentDigest}`);
    assert.deepEqual([invocation?.command, invocation?.args], [['/cnab/app/run'], undefined]);
    assert.equal(invocation?.securityContext, undefined);
  });

  it('no value of the environment and no content of a file stands in it', () => {
    const secret = 's3cr3t';
    const job = build({
      operation: {
        environment: [{ name: 'P', value: Buffer.from(secret), source: 'credential "p"' }],
        files: [inputFile('/p', secret)],
      },
    });
    const text = JSON.stringify(job);
    assert.ok(!text.includes(secret) && !text.includes(Buffer.from(secret).toString('base64')));
    assert.deepEqual(podOf(job).containers[0]?.env, [
      { name: 'P', valueFrom: { secretKeyRef: { name: 'job', key: 'e0' } } },
    ]);
  });

  it('the sidecar gets the files and none of the environment', () => {
    const pod = podOf(build({ operation: { files: [inputFile('/a', 'A'), inputFile('/b', 'B')] } }));
    assert.deepEqual(pod.volumes?.find(({ name }) => name === 'inputs')?.projected?.sources, [
      {
        secret: {
          name: 'job',
          items: [
            { key: 'f0.0', path: 'f0.0' },
            { key: 'f1.0', path: 'f1.0' },
          ],
        },
      },
    ]);
    assert.deepEqual(pod.containers[0]?.volumeMounts?.slice(1), [
      { name: 'files', mountPath: '/a', subPath: 'f0' },
      { name: 'files', mountPath: '/b', subPath: 'f1' },
    ]);
  });

  it('the sidecar is native, gates the start, and is root without rights but DAC_OVERRIDE', () => {
    const [sidecar] = podOf(build()).initContainers ?? [];
    assert.equal(sidecar?.restartPolicy, 'Always');
    assert.ok((sidecar?.lifecycle?.postStart?.exec?.command?.length ?? 0) > 0);
    assert.deepEqual(sidecar?.securityContext, {
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      runAsUser: 0,
      runAsGroup: 0,
      capabilities: { drop: ['ALL'], add: ['DAC_OVERRIDE'] },
    });
    assert.equal(sidecar?.resources?.limits?.['cpu'], undefined);
    assert.ok(sidecar?.resources?.limits?.['memory'] !== undefined);
  });

  it('no dollar of the script or of a path is expanded by Kubernetes', () => {
    const outputs = [{ name: 'o', path: '/cnab/app/outputs/$(CNAB_RUN)$$', sensitive: false }];
    const [sidecar] = podOf(build({ operation: { outputs } })).initContainers ?? [];
    assert.equal(sidecar?.env?.find(({ name }) => name === 'CNAB_WANTED_0')?.value, '$$(CNAB_RUN)$$$$');
    assert.doesNotMatch(sidecar?.command?.[2] ?? '', /(?<!\$)\$(?:\$\$)*\(/);
  });

  it("in the restricted shape the whole pod is one user without rights, and inputs are that user's alone", () => {
    const pod = podOf(build({ restricted: true }));
    assert.deepEqual(pod.securityContext, {
      runAsNonRoot: true,
      runAsUser: 65_532,
      runAsGroup: 65_532,
      fsGroup: 65_532,
      seccompProfile: { type: 'RuntimeDefault' },
    });
    const [sidecar] = pod.initContainers ?? [];
    for (const container of [pod.containers[0], sidecar]) {
      assert.equal(container?.securityContext?.allowPrivilegeEscalation, false);
      assert.deepEqual(container.securityContext.capabilities, { drop: ['ALL'] });
    }
    assert.equal(sidecar?.env?.find(({ name }) => name === 'CNAB_INPUTS')?.value, '0444:1');
  });

  it('private inputs are open in a pod of unknown users, and closed where the user is named', () => {
    const modes = (settings: Partial<DriverSettings>) =>
      podOf(build({ operation: { files: [inputFile('/p', 'x')] }, settings })).initContainers?.[0]?.env?.find(
        ({ name }) => name === 'CNAB_INPUTS',
      )?.value;
    assert.deepEqual([modes({}), modes({ runAsUser: 1000 })], ['0666:1', '0600:1']);
  });

  it('no token reaches anybody without a service account', () => {
    const pod = podOf(build());
    assert.equal(pod.automountServiceAccountToken, false);
    assert.ok(!JSON.stringify(pod).includes('serviceAccountToken'));
  });

  it('with a service account its token reaches the invocation and not the sidecar', () => {
    const pod = podOf(build({ operation: { serviceAccount: 'deployer' } }));
    assert.equal(pod.serviceAccountName, 'deployer');
    assert.equal(pod.automountServiceAccountToken, false);
    const mounts = (name: string): boolean =>
      [...pod.containers, ...(pod.initContainers ?? [])]
        .find((container) => container.name === name)
        ?.volumeMounts?.some(({ mountPath }) => mountPath.includes('serviceaccount')) ?? false;
    assert.deepEqual([mounts('invocation'), mounts('outputs')], [true, false]);
  });

  it("image pull secrets and the shell image are the user's", () => {
    const pod = podOf(build({ settings: { imagePullSecrets: ['a'], shellImage: 'mirror.example/busybox:1' } }));
    assert.deepEqual(pod.imagePullSecrets, [{ name: 'a' }]);
    assert.equal(pod.initContainers?.[0]?.image, 'mirror.example/busybox:1');
  });
});
