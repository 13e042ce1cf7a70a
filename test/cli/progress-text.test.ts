import assert from 'node:assert/strict';
import { ProgressText } from '../../src/cli/progress-text.js';
import { TransferPace } from '../../src/cli/transfer-pace.js';
import type { Progress } from '../../src/driver/driver.js';
import { SMALL_BYTES } from '../../src/frame/delivery.js';

const MIB = 1024 ** 2;
const collecting = (receivedBytes: number, more: Partial<Progress> = {}): Progress => {
  return { phase: 'collecting', receivedBytes, totalBytes: 256 * MIB, ...more };
};

/** What stands there at the end, when each of these was told a second after the one before. */
function after(...steps: readonly Progress[]): string | undefined {
  const text = new ProgressText();
  steps.forEach((progress, second) => text.note(progress, second * 1000));
  return text.text((steps.length - 1) * 1000);
}

describe('the text of a progress', () => {
  it('says bytes of bytes announced, percent, rate, time left and which output', () => {
    const steps = [0, 8, 16, 24, 32].map((mib) => collecting(mib * MIB, { output: 'state.tar' }));
    assert.equal(after(...steps), 'collecting outputs, 32 MiB of 256 MiB (12%), 8 MiB/s, 28s left, "state.tar"');
  });

  it('says nothing of a rate before there is one, and nothing but the amount when all is there', () => {
    assert.equal(after(collecting(MIB)), 'collecting outputs, 1 MiB of 256 MiB (0%)');
    assert.equal(after(collecting(0), collecting(256 * MIB)), 'collecting outputs, 256 MiB of 256 MiB (100%)');
    assert.equal(after(collecting(256 * MIB - 1)), 'collecting outputs, 256 MiB of 256 MiB (99%)');
    assert.equal(after({ phase: 'collecting', receivedBytes: 0, totalBytes: 0 }), 'collecting outputs');
    assert.equal(after({ phase: 'collecting', receivedBytes: 5 }), 'collecting outputs, 5 B received');
  });

  it('has the rate of the last seconds, and says how long nothing has come', () => {
    const text = new ProgressText();
    text.note(collecting(0), 0);
    text.note(collecting(100 * MIB), 1000);
    for (let second = 2; second <= 10; second++) text.note(collecting((100 + second) * MIB), second * 1000);
    assert.match(text.text(10_000) ?? '', / 1 MiB\/s, 2m left$/);
    assert.match(text.text(12_000) ?? '', /, 614 KiB\/s, /);
    assert.equal(text.text(22_000), 'collecting outputs, 110 MiB of 256 MiB (42%), nothing for 12s');
    text.note(collecting(111 * MIB), 23_000);
    assert.doesNotMatch(text.text(23_000) ?? '', /nothing/);
  });

  it('counts what was there before as received, and not into the rate', () => {
    const steps = [200, 201, 202, 203].map((mib) => collecting(mib * MIB));
    assert.match(after(...steps) ?? '', /203 MiB of 256 MiB \(79%\), 1 MiB\/s, 53s left$/);
  });

  it('counts no time before the first byte into the rate', () => {
    const waited = [...Array.from({ length: 8 }, () => 0), 1, 3, 5].map((mib) => collecting(mib * MIB));
    assert.match(after(...waited.slice(0, 9)) ?? '', /1 MiB of 256 MiB \(0%\)$/);
    assert.match(after(...waited) ?? '', /, 2 MiB\/s, /);
  });

  it('begins anew where less is there than before', () => {
    const pace = new TransferPace();
    for (const [bytes, second] of [
      [9, 0],
      [99, 1],
      [5, 2],
      [6, 4],
      [8, 8],
    ] as const)
      pace.note(bytes, second * 1000);
    assert.deepEqual([pace.rate(8000), pace.left(9, 8000), pace.silence(8500)], [0.5, 2000, 500]);
  });

  it('has a rate near the true one, however often it is told', () => {
    for (const everyMs of [1, 7, 150, 199, 200, 900, 2500]) {
      const pace = new TransferPace();
      for (let at = 0; at <= 20_000; at += everyMs) pace.note(at, at);
      const rate = pace.rate(20_000) ?? 0;
      assert.ok(Math.abs(rate - 1000) <= Math.max(everyMs, 200) / 5 + 1, `every ${everyMs} ms: ${rate}`);
    }
  });

  it('lets no name and no word of a server drive the terminal, and keeps names short', () => {
    const hostile = 'a\u001b[2J\r\n\u202e"\\\u009b1m##[x]\u00ad';
    const shown = after(collecting(1, { output: hostile, detail: hostile })) ?? '';
    assert.doesNotMatch(shown, /[\u0000-\u001f\u007f-\u009f\u202e]/);
    assert.ok((after(collecting(1, { output: 'x'.repeat(5000) })) ?? '').length < 150);
  });

  it('says once until when outputs can be fetched, on the clock of the machine', () => {
    const text = new ProgressText();
    const now = new Date(2026, 10, 30, 13, 55, 10, 400).getTime();
    assert.equal(text.held(now), undefined);
    text.note(collecting(1), now);
    assert.equal(text.held(now), undefined);
    text.note(collecting(1, { heldUntil: 0, totalBytes: SMALL_BYTES }), now);
    assert.equal(text.held(now), undefined, 'of a small secret');
    text.note(collecting(1, { heldUntil: new Date(2026, 10, 30, 14, 5, 10).getTime() }), now);
    assert.equal(text.held(now), 'outputs can be fetched until 14:05:10 (10m)');
    assert.equal(text.held(now), undefined);
  });
});
