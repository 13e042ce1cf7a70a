import assert from 'node:assert/strict';
import type { V1Node } from '@kubernetes/client-node';
import { clusterCases } from '../cases.js';
import { needsOwnNode } from '../node.js';

clusterCases('nodes that are kept for others by a taint', (one) => {
  it('are told with the patch that tolerates them, and it makes the run work', async function () {
    needsOwnNode(this);
    const [node] = await one().api.list<V1Node>('/api/v1/nodes');
    const path = `/api/v1/nodes/${node?.metadata?.name ?? ''}`;
    const taint = (taints: object[]) =>
      one().api.call('PATCH', path, { spec: { taints } }, 'application/merge-patch+json');
    await taint([{ key: 'dedicated', value: 'builds', effect: 'NoSchedule' }]);
    one().defer(async () => void (await taint([])));

    const bundle = one().bundle({ script: 'echo ran' });
    const refused = await one().install(bundle, ['--start-timeout', '5s']);
    assert.equal(refused.code, 3, refused.stderr);
    const json = /echo '(\{.*\})' > pod-patch\.json/.exec(refused.told)?.[1] ?? '';
    assert.match(refused.told, /taint/);
    one().file(
      'pod-patch.json',
      json === '' ? '{}' : json.replace(/"KEY"/, '"dedicated"').replace(/"VALUE"/, '"builds"'),
    );
    const { code, stderr } = await one().install(bundle, ['--pod-patch', 'pod-patch.json', '--start-timeout', '20s']);
    assert.equal(code, 0, stderr);
  });
});
