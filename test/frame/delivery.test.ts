import assert from 'node:assert/strict';
import { SMALL_BYTES, deliveryOf, limitsOf, type Way } from '../../src/frame/delivery.js';
import type { ManifestEntry } from '../../src/frame/grammar.js';

const DIGEST = 'a'.repeat(64);
const EXEC: Way = { via: 'exec', maxLogBytes: 2 ** 28, inLog: 'not-sensitive' };
const LOG: Way = { ...EXEC, via: 'log' };
const file = (index: number, size: number): ManifestEntry => ({ kind: 'file', index, size, sha256: DIGEST });
const sealed = (index: number, size: number): ManifestEntry => ({ kind: 'sealed', index, size, seal: DIGEST });
const missing = (index: number): ManifestEntry => ({ kind: 'missing', index });

describe('The way of each output', () => {
  it('is one pass by the log for what is small together, whatever is allowed', () => {
    const entries = [file(0, SMALL_BYTES - 1), missing(1), file(2, 1)];
    for (const way of [EXEC, LOG])
      assert.deepEqual(deliveryOf({ entries }, way), { byLog: [0, 2], byExec: [], passes: 1 });
  });

  it('is exec for all that is more by one byte, and three passes where exec is not to be had', () => {
    const entries = [file(0, SMALL_BYTES), file(1, 1)];
    assert.deepEqual(deliveryOf({ entries }, EXEC), { byLog: [], byExec: [0, 1], passes: 0 });
    assert.deepEqual(deliveryOf({ entries }, LOG), { byLog: [0, 1], byExec: [], passes: 3 });
  });

  it('is exec for a sealed file of any size, which makes nothing else large', () => {
    const entries = [file(0, 10), sealed(1, 2 ** 30), sealed(2, 1)];
    assert.deepEqual(deliveryOf({ entries }, EXEC), { byLog: [0], byExec: [1, 2], passes: 1 });
  });

  it('is none for files without a byte and for what is no file', () => {
    const entries = [file(0, 0), sealed(1, 0), missing(2), { kind: 'large', index: 3, size: '99' } as const];
    assert.deepEqual(deliveryOf({ entries }, EXEC), { byLog: [], byExec: [], passes: 0 });
  });

  it('does not lead through a log that may not carry it', () => {
    const way = { ...EXEC, maxLogBytes: 99 };
    assert.deepEqual(deliveryOf({ entries: [file(0, 100)] }, way), { byLog: [], byExec: [0], passes: 0 });
    const limits = { maxOutputBytes: 1000, maxTotalBytes: 1000 };
    assert.deepEqual(limitsOf(limits, way), limits);
    assert.deepEqual(limitsOf(limits, { ...way, via: 'log' }), { maxOutputBytes: 1000, maxTotalBytes: 99 });
  });
});
