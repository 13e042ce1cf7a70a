import assert from 'node:assert/strict';
import { Outage } from '../../../src/driver/kubernetes/outage.js';

describe('the time for which there is no way through', () => {
  it('begins with the first try that fails, not with the last that did not', () => {
    const outage = new Outage();
    assert.deepEqual(
      [1_000_000, 1_002_000, 1_040_000].map((now) => outage.fail(now)),
      [0, 2000, 40_000],
    );
  });

  it('begins anew with each answer', () => {
    const outage = new Outage();
    outage.fail(0);
    assert.equal(outage.fail(50_000), 50_000);
    outage.end();
    assert.deepEqual([outage.fail(90_000), outage.fail(91_000)], [0, 1000]);
  });

  it('grows by a minute at most while nobody tries: who slept, or set the clock, has not waited', () => {
    const outage = new Outage();
    outage.fail(0);
    assert.equal(outage.fail(8 * 3600_000), 60_000);
    assert.equal(outage.fail(3600_000), 60_000, 'a clock that was set back');
    assert.equal(outage.fail(3601_000), 61_000);
  });
});
