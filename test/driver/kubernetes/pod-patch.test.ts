import assert from 'node:assert/strict';
import type { V1Container } from '@kubernetes/client-node';
import type { JsonObject } from '../../../src/bundle/bundle.js';
import { planRun, previewRun } from '../../../src/driver/kubernetes/plan.js';
import { expectedWay } from '../../../src/driver/kubernetes/way.js';
import { DEFAULT_SETTINGS } from '../../../src/driver/settings.js';
import { inputFile, operation } from '../../helpers/operation.js';
import { ATTEMPT, invocation, patched, problemsOf, sidecar, spec } from '../../helpers/pod-patch.js';

const named = (containers: readonly V1Container[] | undefined, name: string): V1Container | undefined =>
  containers?.find((container) => container.name === name);

describe('a pod patch', () => {
  it('gives both containers resources, and keeps everything else of the Job', () => {
    const document = {
      spec: {
        ...spec(sidecar({ resources: { limits: { cpu: '1' } } })),
        ...spec(invocation({ resources: { limits: { memory: '1Gi' } } })),
      },
    };
    const { spec: pod } = patched(document);
    assert.equal(named(pod?.initContainers, 'outputs')?.resources?.limits?.['cpu'], '1');
    assert.ok(named(pod?.initContainers, 'outputs')?.resources?.limits?.['memory']);
    assert.deepEqual(named(pod?.containers, 'invocation')?.resources, { limits: { memory: '1Gi' } });
    assert.deepEqual(named(pod?.containers, 'invocation')?.command, ['/cnab/app/run']);
  });

  it('is a Pod, the spec of one, or both its metadata and spec', () => {
    const selected = (document: JsonObject): unknown => patched(document).spec?.nodeSelector?.['disk'];
    assert.equal(selected({ spec: { nodeSelector: { disk: 'ssd' } } }), 'ssd');
    assert.equal(selected({ nodeSelector: { disk: 'ssd' } }), 'ssd');
    assert.equal(selected({ apiVersion: 'v1', kind: 'Pod', spec: { nodeSelector: { disk: 'ssd' } } }), 'ssd');
    const { metadata } = patched({ metadata: { labels: { team: 'a' }, annotations: { 'x/y': 'z' } } });
    assert.deepEqual([metadata?.labels?.['team'], metadata?.annotations?.['x/y']], ['a', 'z']);
  });

  for (const [what, document, words] of [
    [
      'a Deployment',
      { apiVersion: 'apps/v1', kind: 'Deployment', spec: {} },
      /is no Pod of v1: its kind is "Deployment"/,
    ],
    ['an unknown member beside spec', { spec: {}, status: {} }, /has "status" beside metadata and spec/],
    ['a spec that is no object', { spec: [] }, /has no object as its spec/],
    [
      'an item without its name',
      { spec: { containers: [{ image: 'x' }] } },
      /cannot be applied: spec\.containers\[0\] has no "name"/,
    ],
  ] as const) {
    it(`that is ${what} is refused`, () => assert.match(problemsOf(document), words));
  }

  const free: readonly (readonly [string, JsonObject])[] = [
    [
      'tolerations and a node selector',
      { spec: { tolerations: [{ operator: 'Exists' }], nodeSelector: { disk: 'ssd' } } },
    ],
    [
      'security contexts',
      {
        spec: {
          securityContext: { runAsNonRoot: true },
          ...spec(sidecar({ securityContext: { seccompProfile: { type: 'RuntimeDefault' } } })),
        },
      },
    ],
    [
      'further variables and mounts of the bundle',
      invocation({
        env: [{ name: 'HTTPS_PROXY', value: 'x' }],
        volumeMounts: [{ name: 'outputs', mountPath: '/more' }],
      }),
    ],
    [
      'further containers and init containers',
      { spec: { containers: [{ name: 'proxy', image: 'p' }], initContainers: [{ name: 'first', image: 'f' }] } },
    ],
    [
      'limits of the volumes of a run',
      {
        spec: {
          volumes: [
            { name: 'outputs', emptyDir: { sizeLimit: '1Gi' } },
            { name: 'files', emptyDir: { sizeLimit: '1Mi' } },
          ],
        },
      },
    ],
    ['image pull secrets and a priority', { spec: { imagePullSecrets: [{ name: 's' }], priorityClassName: 'high' } }],
    [
      'a field at the value that it has',
      { spec: { restartPolicy: 'Never', hostPID: false, shareProcessNamespace: false } },
    ],
  ];
  for (const [what, document] of free) it(`may give ${what}`, () => assert.equal(problemsOf(document), ''));
});

describe('the preview of a run', () => {
  it('is the Job and its Secrets, and shows no value', () => {
    const asked = operation({
      files: [inputFile('/x', 's3cr3t')],
      environment: [{ name: 'A', value: Buffer.from('t0ken'), source: 'a' }],
    });
    const settings = DEFAULT_SETTINGS;
    const way = expectedWay(asked, settings);
    const plan = planRun({ operation: asked, settings, attempt: ATTEMPT, way, annotations: {} });
    const objects = previewRun(plan, 'payments') as { kind: string; metadata: { namespace: string; name: string } }[];
    assert.deepEqual(
      objects.map(({ kind }) => kind),
      ['Job', 'Secret'],
    );
    assert.deepEqual(
      objects.map(({ metadata }) => [metadata.namespace, metadata.name]),
      [
        ['payments', plan.name],
        ['payments', plan.name],
      ],
    );
    const text = JSON.stringify(objects);
    for (const secret of ['s3cr3t', 't0ken']) {
      assert.ok(!text.includes(secret) && !text.includes(Buffer.from(secret).toString('base64')));
    }
  });
});
