import assert from 'node:assert/strict';
import type { JsonObject } from '../../../src/bundle/bundle.js';
import { invocation, problemsOf, sidecar } from '../../helpers/pod-patch.js';

describe('what a run rests on', () => {
  const held: readonly (readonly [string, JsonObject, RegExp])[] = [
    [
      'restartPolicy',
      { spec: { restartPolicy: 'OnFailure' } },
      /spec\.restartPolicy must stay "Never": a bundle is run once/,
    ],
    [
      'terminationGracePeriodSeconds',
      { spec: { terminationGracePeriodSeconds: 5 } },
      /spec\.terminationGracePeriodSeconds must stay 600: .*--hold-time/,
    ],
    [
      'activeDeadlineSeconds',
      { spec: { activeDeadlineSeconds: 5 } },
      /spec\.activeDeadlineSeconds must be absent: .*--timeout/,
    ],
    [
      'automountServiceAccountToken',
      { spec: { automountServiceAccountToken: true } },
      /spec\.automountServiceAccountToken must stay false: .*--service-account/,
    ],
    [
      'serviceAccountName',
      { spec: { serviceAccountName: 'admin' } },
      /spec\.serviceAccountName must be absent: .*--service-account/,
    ],
    ['serviceAccount', { spec: { serviceAccount: 'admin' } }, /spec\.serviceAccount must be absent/],
    [
      'shareProcessNamespace',
      { spec: { shareProcessNamespace: true } },
      /spec\.shareProcessNamespace must be absent: .*first process/,
    ],
    ['hostPID', { spec: { hostPID: true } }, /spec\.hostPID must be absent/],
    [
      'the sidecar',
      { spec: { initContainers: [{ name: 'outputs', $patch: 'delete' }] } },
      /spec\.initContainers\[outputs\] must stay: it brings the inputs/,
    ],
    [
      "the sidecar's image",
      sidecar({ image: 'x' }),
      /spec\.initContainers\[outputs\]\.image must stay "docker\.io.*: it is chosen with --shell-image/,
    ],
    [
      "the sidecar's command",
      sidecar({ command: ['x'] }),
      /spec\.initContainers\[outputs\]\.command must stay as it is/,
    ],
    ["the sidecar's args", sidecar({ args: ['x'] }), /spec\.initContainers\[outputs\]\.args must be absent/],
    [
      "the sidecar's env",
      sidecar({ env: [{ name: 'X', value: '1' }] }),
      /spec\.initContainers\[outputs\]\.env must stay as it is/,
    ],
    ["the sidecar's envFrom", sidecar({ envFrom: [{}] }), /spec\.initContainers\[outputs\]\.envFrom must be absent/],
    [
      "the sidecar's restartPolicy",
      sidecar({ restartPolicy: null }),
      /spec\.initContainers\[outputs\]\.restartPolicy must stay "Always"/,
    ],
    [
      "the sidecar's postStart",
      sidecar({ lifecycle: null }),
      /spec\.initContainers\[outputs\]\.lifecycle must stay as it is: .*until its inputs are there/,
    ],
    [
      "the sidecar's preStop",
      sidecar({ lifecycle: { preStop: {} } }),
      /spec\.initContainers\[outputs\]\.lifecycle must stay/,
    ],
    [
      "the sidecar's probes",
      sidecar({ livenessProbe: {}, startupProbe: {} }),
      /livenessProbe must be absent[^]*startupProbe must be absent/,
    ],
    ["the sidecar's terminal", sidecar({ tty: true }), /spec\.initContainers\[outputs\]\.tty must be absent/],
    [
      "the sidecar's mounts",
      sidecar({ volumeMounts: [{ $patch: 'replace' }] }),
      /spec\.initContainers\[outputs\]\.volumeMounts\[.*\] must stay/,
    ],
    [
      'the invocation',
      { spec: { containers: [{ $patch: 'replace' }, { name: 'x', image: 'y' }] } },
      /spec\.containers\[invocation\] must stay: it is the bundle/,
    ],
    [
      "the invocation's image",
      invocation({ image: 'x' }),
      /spec\.containers\[invocation\]\.image must stay "example\/hello:1\.0\.0": the bundle says/,
    ],
    ["the invocation's command", invocation({ command: ['sh'] }), /spec\.containers\[invocation\]\.command must stay/],
    ["the invocation's args", invocation({ args: ['x'] }), /spec\.containers\[invocation\]\.args must be absent/],
    [
      "the invocation's restartPolicy",
      invocation({ restartPolicy: 'Always' }),
      /spec\.containers\[invocation\]\.restartPolicy must be absent: a bundle is run once/,
    ],
    [
      "the invocation's restartPolicyRules",
      invocation({ restartPolicyRules: [] }),
      /spec\.containers\[invocation\]\.restartPolicyRules must be absent/,
    ],
    [
      "the invocation's variables",
      invocation({ env: [{ name: 'CNAB_ACTION', value: 'x', valueFrom: null }] }),
      /spec\.containers\[invocation\]\.env\[CNAB_ACTION\] must stay/,
    ],
    [
      "the invocation's outputs",
      invocation({ volumeMounts: [{ mountPath: '/cnab/app/outputs', $patch: 'delete' }] }),
      /volumeMounts\[\/cnab\/app\/outputs\] must stay/,
    ],
    [
      "the invocation's files",
      invocation({ volumeMounts: [{ mountPath: '/etc/app.conf', readOnly: true }] }),
      /volumeMounts\[\/etc\/app\.conf\] must stay/,
    ],
    [
      'a mount over the outputs',
      invocation({ volumeMounts: [{ name: 'files', mountPath: '/cnab/app/outputs/x' }] }),
      /volumeMounts\[\/cnab\/app\/outputs\/x\] must not be there/,
    ],
    [
      'a container that is started again',
      { spec: { containers: [{ name: 'p', image: 'p', restartPolicy: 'Always' }] } },
      /spec\.containers\[p\]\.restartPolicy must be absent: the pod would not end/,
    ],
    [
      'the outputs volume',
      { spec: { volumes: [{ name: 'outputs', $retainKeys: ['name', 'hostPath'], hostPath: { path: '/x' } }] } },
      /spec\.volumes\[outputs\] must stay/,
    ],
    [
      'the memory of the files',
      { spec: { volumes: [{ name: 'files', emptyDir: { medium: null } }] } },
      /spec\.volumes\[files\] must stay/,
    ],
    [
      'the inputs volume',
      { spec: { volumes: [{ name: 'inputs', $patch: 'delete' }] } },
      /spec\.volumes\[inputs\] must stay/,
    ],
    [
      'a token by a volume',
      { spec: { volumes: [{ name: 't', projected: { sources: [{ serviceAccountToken: { path: 't' } }] } }] } },
      /spec\.volumes\[t\] cannot be: a token of the cluster reaches the bundle only by --service-account/,
    ],
    [
      'labels of a run',
      { metadata: { labels: { 'cnab.io/run': 'x' } } },
      /metadata\.labels\["cnab\.io\/run"\] must stay as it is: the run is found again by it/,
    ],
    ['annotations of a run', { metadata: { annotations: null } }, /metadata\.annotations\["cnab\.io\/run"\] must stay/],
    [
      'a name',
      { metadata: { name: 'x', finalizers: ['a/b'] } },
      /metadata\.name cannot be set[^]*metadata\.finalizers cannot be set/,
    ],
  ];
  for (const [what, document, words] of held) {
    it(`cannot change ${what}`, () => assert.match(problemsOf(document), words));
  }

  it('names everything that it changes at once', () => {
    const document = { metadata: { name: 'x' }, spec: { hostPID: true, restartPolicy: 'Always' } };
    assert.match(problemsOf(document), /for 3 reasons/);
  });

  it('may not drop the refusal of a token, which a service account keeps for the sidecar', () => {
    const document = { spec: { automountServiceAccountToken: null } };
    assert.match(problemsOf(document, { serviceAccount: 'deployer' }), /automountServiceAccountToken must stay false/);
  });
});
