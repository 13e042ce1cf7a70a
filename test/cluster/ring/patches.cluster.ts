import assert from 'node:assert/strict';
import type { V1Pod } from '@kubernetes/client-node';
import type { Acted, Case } from '../case.js';
import { clusterCases } from '../cases.js';

const OUT = '/cnab/app/outputs';

clusterCases('a patch of the pod', (one) => {
  const greeting = (): string => one().bundle({ script: `echo out > ${OUT}/out`, outputs: ['out'] });

  it('that a refusal by a quota ends in makes the run work', async () => {
    const hard = { 'limits.cpu': '4', 'limits.memory': '4Gi', 'requests.cpu': '4', 'requests.memory': '4Gi' };
    await one().api.create(`/api/v1/namespaces/${one().namespace}/resourcequotas`, {
      metadata: { name: 'limits' },
      spec: { hard },
    });
    const refused = await one().install(greeting());
    assert.equal(refused.code, 3, refused.stderr);
    await worksWithPatchOf(one(), refused, greeting());
  });

  it('that a refusal by a LimitRange ends in makes the run work', async () => {
    await one().api.create(`/api/v1/namespaces/${one().namespace}/limitranges`, {
      metadata: { name: 'small' },
      spec: { limits: [{ type: 'Container', max: { memory: '64Mi' }, min: { memory: '16Mi' } }] },
    });
    const refused = await one().install(greeting());
    assert.equal(refused.code, 3, refused.stderr);
    await worksWithPatchOf(one(), refused, greeting());
  });

  it('reaches pod, bundle and sidecar: labels, tolerations, resources, a volume of its own', async () => {
    const patch = {
      metadata: { labels: { team: 'payments' } },
      spec: {
        tolerations: [{ key: 'spot', operator: 'Exists' }],
        initContainers: [{ name: 'outputs', resources: { limits: { memory: '200Mi', cpu: '500m' } } }],
        containers: [
          {
            name: 'invocation',
            resources: { limits: { memory: '64Mi' } },
            volumeMounts: [{ name: 'cache', mountPath: '/cache' }],
          },
        ],
        volumes: [{ name: 'cache', emptyDir: { medium: 'Memory', sizeLimit: '8Mi' } }],
      },
    };
    const bundle = one().bundle({ script: `grep ' /cache ' /proc/mounts > ${OUT}/mount; sleep 2`, outputs: ['mount'] });
    const file = one().file('patch.json', JSON.stringify(patch));
    const command = one().start(['install', 'app', bundle, '--json', '--pod-patch', file]);
    const { metadata, spec } = await one().running();
    assert.equal(metadata?.labels?.['team'], 'payments');
    assert.ok(spec?.tolerations?.some(({ key }) => key === 'spot'));
    assert.equal(spec?.initContainers?.[0]?.resources?.limits?.['cpu'], '500m');
    assert.equal(spec?.containers[0]?.resources?.limits?.['memory'], '64Mi');
    const { code, stderr } = await one().acted(command);
    assert.equal(code, 0, stderr);
    assert.match((await one().output('mount')).toString(), / \/cache tmpfs /);
  });

  for (const [what, patch] of [
    [
      'stops the sidecar from being started again',
      { spec: { initContainers: [{ name: 'outputs', restartPolicy: null }] } },
    ],
    ['starts the pod again', { spec: { restartPolicy: 'OnFailure' } }],
    [
      'puts another program in the place of the run tool',
      { spec: { containers: [{ name: 'invocation', command: ['sh'] }] } },
    ],
    ['has a field that Kubernetes does not know', { spec: { tolerationz: [] } }],
  ] as const) {
    it(`that ${what} is refused, and nothing is left`, async () => {
      const file = one().file('patch.json', JSON.stringify(patch));
      const { code, stderr, document } = await one().install(greeting(), ['--pod-patch', file]);
      assert.ok(code === 2 || code === 3, `exit ${code}\n${stderr}`);
      assert.notEqual(document.ran, 'yes');
      await one().nothingIsLeft();
    });
  }
});

/** Does what the refusal says, word for word. */
async function worksWithPatchOf(one: Case, { told }: Acted, bundle: string): Promise<void> {
  const json = /echo '(\{.*\})' > pod-patch\.json/.exec(told)?.[1];
  assert.ok(json !== undefined, `no patch to paste in:\n${told}`);
  assert.match(told, /add: --pod-patch pod-patch\.json/);
  assert.ok((JSON.parse(json) as V1Pod).spec !== undefined);
  one.file('pod-patch.json', json);
  const { code, stderr } = await one.install(bundle, ['--pod-patch', 'pod-patch.json']);
  assert.equal(code, 0, stderr);
  assert.equal((await one.output('out')).toString(), 'out\n');
}
