import assert from 'node:assert/strict';
import fc from 'fast-check';
import { outsideIdentity } from '../../../../src/driver/sandbox/namespaces/outside-identity.js';

const ALL = '         0          0 4294967295\n';

describe('who a container is for the machine', () => {
  it('anybody but root stays who they are', () => {
    assert.deepEqual(outsideIdentity(1000, ALL, 'pod'), { id: 1000, privileged: false });
  });

  it('root is never itself, whatever the pod and the map', () => {
    const range = fc.tuple(fc.nat(70_000), fc.nat(4_000_000_000), fc.integer({ min: 1, max: 4_294_967_295 }));
    fc.assert(
      fc.property(fc.array(range, { maxLength: 5 }), fc.string(), (ranges, pod) => {
        const identity = outsideIdentity(0, ranges.map((fields) => fields.join(' ')).join('\n'), pod);
        if (identity === undefined) return;
        assert.ok(identity.id > 0 && identity.privileged);
        assert.notEqual(identity.id, 65_534);
        assert.ok(
          ranges.some(([inside, , count]) => identity.id >= inside && identity.id < inside + count),
          `${identity.id} is not mapped`,
        );
      }),
    );
  });

  it("root takes another id for each pod, from a range that is nobody's", () => {
    const ids = ['a', 'b', 'c'].map((pod) => outsideIdentity(0, ALL, pod)?.id ?? 0);
    assert.equal(new Set(ids).size, 3);
    for (const id of ids) assert.ok(id >= 2_000_000_000 && id < 2_000_065_536);
  });

  it('root of a container with few ids takes the highest one below nobody', () => {
    assert.deepEqual(outsideIdentity(0, '0 100000 65536\n', 'pod'), { id: 65_533, privileged: true });
    assert.deepEqual(outsideIdentity(0, '0 1000 1\n1 100000 999\n', 'pod'), { id: 999, privileged: true });
  });

  it('root that has no other id gets none', () => {
    assert.equal(outsideIdentity(0, '0 1000 1\n', 'pod'), undefined);
    assert.equal(outsideIdentity(0, '', 'pod'), undefined);
  });
});
