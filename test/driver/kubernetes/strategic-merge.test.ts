import assert from 'node:assert/strict';
import type { JsonObject } from '../../../src/bundle/bundle.js';
import { POD_SCHEMA } from '../../../src/driver/kubernetes/pod-schema.js';
import { MergeError, strategicMerge } from '../../../src/driver/kubernetes/strategic-merge.js';

const POD: JsonObject = {
  metadata: { labels: { a: '1', b: '2' }, finalizers: ['x/a'] },
  spec: {
    nodeSelector: { os: 'linux' },
    tolerations: [{ key: 't', operator: 'Exists' }],
    imagePullSecrets: [{ name: 's' }],
    securityContext: { supplementalGroups: [1, 2], runAsUser: 5 },
    containers: [
      {
        name: 'c',
        image: 'i',
        command: ['a', 'b'],
        env: [{ name: 'A', value: '1' }],
        resources: { limits: { memory: '1Gi' } },
        volumeMounts: [{ name: 'v', mountPath: '/v' }],
      },
    ],
    volumes: [{ name: 'v', emptyDir: { medium: 'Memory' } }],
  },
};
const merge = (patch: JsonObject): JsonObject => strategicMerge(POD, patch, POD_SCHEMA);
const specOf = (patch: JsonObject): Record<string, unknown> =>
  merge({ spec: patch })['spec'] as Record<string, unknown>;
const container = (patch: JsonObject): Record<string, unknown> =>
  (specOf({ containers: [{ name: 'c', ...patch }] })['containers'] as Record<string, unknown>[])[0] ?? {};

// Each expectation is what `kubectl patch --local --type=strategic` 1.37 makes of the same, but for the order of new items.
describe('a strategic merge', () => {
  it('objects are merged member by member, and null deletes', () => {
    assert.deepEqual(specOf({ nodeSelector: { disk: 'ssd' } })['nodeSelector'], { os: 'linux', disk: 'ssd' });
    assert.deepEqual(specOf({ nodeSelector: { os: null, disk: 'ssd' } })['nodeSelector'], { disk: 'ssd' });
    assert.equal('nodeSelector' in specOf({ nodeSelector: null }), false);
    assert.deepEqual((merge({ metadata: { labels: { a: null, c: '3' } } })['metadata'] as JsonObject)['labels'], {
      b: '2',
      c: '3',
    });
  });

  for (const [list, key, old, more] of [
    ['imagePullSecrets', 'name', { name: 's' }, { name: 't' }],
    ['volumes', 'name', { name: 'v', emptyDir: { medium: 'Memory' } }, { name: 'w', emptyDir: {} }],
    ['containers', 'name', undefined, { name: 'd', image: 'j' }],
    ['initContainers', 'name', undefined, { name: 'd', image: 'j' }],
    ['hostAliases', 'ip', undefined, { ip: '10.0.0.1', hostnames: ['h'] }],
    ['topologySpreadConstraints', 'topologyKey', undefined, { topologyKey: 'zone', maxSkew: 1 }],
  ] as const) {
    it(`${list} are told apart by ${key}, and a new one is added`, () => {
      const merged = specOf({ [list]: [more] })[list] as JsonObject[];
      assert.deepEqual(merged.at(-1), more);
      if (old !== undefined) assert.deepEqual(merged[0], old);
      assert.throws(() => specOf({ [list]: [{ other: 1 }] }), new RegExp(`spec\\.${list}\\[0\\] has no "${key}"`));
    });
  }

  it('a named container is changed in place: resources, env by name, volumeMounts by mountPath, ports by containerPort', () => {
    assert.deepEqual(container({ resources: { limits: { cpu: '1' } } })['resources'], {
      limits: { memory: '1Gi', cpu: '1' },
    });
    assert.deepEqual(container({ env: [{ name: 'B', value: '2' }] })['env'], [
      { name: 'A', value: '1' },
      { name: 'B', value: '2' },
    ]);
    assert.deepEqual(container({ env: [{ name: 'A', value: null, valueFrom: {} }] })['env'], [
      { name: 'A', valueFrom: {} },
    ]);
    assert.deepEqual(container({ volumeMounts: [{ mountPath: '/v', readOnly: true }] })['volumeMounts'], [
      { name: 'v', mountPath: '/v', readOnly: true },
    ]);
    assert.deepEqual(container({ ports: [{ containerPort: 80 }] })['ports'], [{ containerPort: 80 }]);
  });

  it('every other list is taken as a whole: tolerations, commands, plain values', () => {
    assert.deepEqual(specOf({ tolerations: [{ key: 'z' }] })['tolerations'], [{ key: 'z' }]);
    assert.deepEqual(container({ command: ['z'] })['command'], ['z']);
    assert.deepEqual(specOf({ securityContext: { supplementalGroups: [3] } })['securityContext'], {
      supplementalGroups: [3],
      runAsUser: 5,
    });
  });

  it('finalizers are a set, and single values can be taken from it', () => {
    const finalizers = (patch: JsonObject): unknown =>
      (merge({ metadata: patch })['metadata'] as JsonObject)['finalizers'];
    assert.deepEqual(finalizers({ finalizers: ['x/b', 'x/a'] }), ['x/a', 'x/b']);
    assert.deepEqual(finalizers({ '$deleteFromPrimitiveList/finalizers': ['x/a'] }), []);
  });

  it('$patch: delete empties an object and takes an item out of a list', () => {
    assert.deepEqual(specOf({ nodeSelector: { $patch: 'delete' } })['nodeSelector'], {});
    assert.deepEqual(specOf({ volumes: [{ name: 'v', $patch: 'delete' }] })['volumes'], []);
    assert.deepEqual(specOf({ volumes: [{ name: 'other', $patch: 'delete' }] })['volumes'], POD_VOLUMES);
  });

  it('$patch: replace puts an object or a list in the place of the old one, and leaves no directive behind', () => {
    assert.deepEqual(specOf({ nodeSelector: { $patch: 'replace', disk: 'ssd' } })['nodeSelector'], { disk: 'ssd' });
    assert.deepEqual(container({ env: [{ $patch: 'replace' }, { name: 'N', value: 'n' }] })['env'], [
      { name: 'N', value: 'n' },
    ]);
    assert.throws(
      () => specOf({ containers: [{ name: 'c', $patch: 'replace', image: 'j' }] }),
      /spec\.containers\[0\] has \$patch: replace beside other members/,
    );
  });

  it('$retainKeys drops what it does not name: a volume of another kind', () => {
    const patch = { name: 'v', $retainKeys: ['name', 'hostPath'], hostPath: { path: '/x' } };
    assert.deepEqual(specOf({ volumes: [patch] })['volumes'], [{ name: 'v', hostPath: { path: '/x' } }]);
  });

  it('what is added holds neither nulls nor directives', () => {
    assert.deepEqual(specOf({ affinity: { nodeAffinity: null, podAffinity: { x: 1 } } })['affinity'], {
      podAffinity: { x: 1 },
    });
  });

  it('what it does not understand is refused with its place', () => {
    for (const [patch, words] of [
      [{ containers: {} }, /spec\.containers must be a list/],
      [{ containers: ['x'] }, /spec\.containers\[0\] must be an object/],
      [{ $setElementOrder: [] }, /spec\.\$setElementOrder is a directive that is not known here/],
      [{ nodeSelector: { $patch: 'remove' } }, /spec\.nodeSelector\.\$patch must be merge, replace or delete/],
      [{ nodeSelector: { $retainKeys: 'x' } }, /spec\.nodeSelector\.\$retainKeys must be a list/],
    ] as const) {
      assert.throws(() => specOf(patch), MergeError);
      assert.throws(() => specOf(patch), words);
    }
  });

  it('neither the pod nor the patch is changed, and names of the prototype are names like any other', () => {
    const before = JSON.stringify(POD);
    const patch = JSON.parse(
      '{"spec":{"__proto__":{"x":1},"constructor":{"y":2},"containers":[{"name":"c","image":"z"}]}}',
    ) as JsonObject;
    const text = JSON.stringify(patch);
    const merged = merge(patch)['spec'] as JsonObject;
    assert.deepEqual([JSON.stringify(POD), JSON.stringify(patch)], [before, text]);
    assert.deepEqual(merged['constructor'], { y: 2 });
    assert.equal(({} as Record<string, unknown>)['x'], undefined);
  });
});

const POD_VOLUMES = [{ name: 'v', emptyDir: { medium: 'Memory' } }];
