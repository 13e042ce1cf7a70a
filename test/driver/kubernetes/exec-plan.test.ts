import assert from 'node:assert/strict';
import { MOST_BYTES, nextSend, nextSize } from '../../../src/driver/kubernetes/exec-plan.js';
import type { ManifestEntry } from '../../../src/frame/grammar.js';

const MIB = 1024 ** 2;

const entries = (...sizes: readonly (number | 'missing')[]): { readonly entries: readonly ManifestEntry[] } => ({
  entries: sizes.map((size, index) =>
    size === 'missing' ? { kind: 'missing', index } : { kind: 'file', index, size, sha256: '' },
  ),
});

const whole = (index: number, length: number) => ({ index, offset: 0, length });

describe('what an exec is asked for', () => {
  it('whole files together as long as they fit, over what is no file and what has no byte', () => {
    const manifest = entries(10, 'missing', 0, 20, 3 * MIB, 30);
    const missing = [whole(0, 10), whole(3, 20), whole(4, 3 * MIB), whole(5, 30)];
    assert.deepEqual(nextSend(manifest, missing, 64 * MIB), {
      request: { verb: 'files', first: 0, last: 5 },
      ranges: missing,
      bytes: 3 * MIB + 60,
    });
    assert.deepEqual(nextSend(manifest, missing, MIB), {
      request: { verb: 'files', first: 0, last: 3 },
      ranges: missing.slice(0, 2),
      bytes: 30,
    });
  });

  it('a part of a file where it does not fit, from the first byte that is missing, in whole blocks', () => {
    const manifest = entries(5 * MIB + 1, 10);
    const missing = [{ index: 0, offset: MIB, length: 4 * MIB + 1 }, whole(1, 10)];
    assert.deepEqual(nextSend(manifest, missing, 2.5 * MIB).request, {
      verb: 'range',
      index: 0,
      offset: MIB,
      length: 2 * MIB,
    });
    assert.deepEqual(nextSend(manifest, missing, 64 * MIB).request, {
      verb: 'range',
      index: 0,
      offset: MIB,
      length: 4 * MIB + 1,
    });
    assert.equal(nextSend(manifest, missing, 5).bytes, MIB);
  });

  it('as much as comes in five seconds, from 1 to 256 MiB, and not suddenly more', () => {
    assert.equal(nextSize(64 * MIB, 64 * MIB, 10_000), 32 * MIB);
    assert.equal(nextSize(64 * MIB, 64 * MIB, 1), 256 * MIB);
    assert.equal(nextSize(256 * MIB, 256 * MIB, 1000), MOST_BYTES);
    assert.equal(nextSize(4 * MIB, 4 * MIB, 1), 16 * MIB);
    assert.equal(nextSize(64 * MIB, 1000, 60_000), MIB);
  });
});
