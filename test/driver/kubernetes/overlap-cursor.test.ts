import assert from 'node:assert/strict';
import fc from 'fast-check';
import { OverlapCursor } from '../../../src/driver/kubernetes/overlap-cursor.js';

/** A line as the kubelet gives it with timestamps. */
function line(second: number, content: string): string {
  return `2026-11-30T23:05:${String(second).padStart(2, '0')}.000000007Z ${content}\n`;
}

/** Reads `stream` in chunks that end at these places. */
function feed(cursor: OverlapCursor, stream: string, cuts: readonly number[] = []): string {
  let out = '';
  let from = 0;
  cursor.begin();
  for (const to of [...[...cuts].sort((a, b) => a - b), stream.length]) {
    for (const piece of cursor.push(Buffer.from(stream.slice(from, to), 'latin1'))) {
      out += 'gap' in piece ? '<gap>' : piece.bytes.toString('latin1');
    }
    from = Math.max(from, to);
  }
  return out;
}

describe('OverlapCursor', () => {
  it('begins from the start where it has seen no timestamp', () => {
    const cursor = new OverlapCursor();
    assert.equal(cursor.sinceTime, undefined);
    assert.equal(feed(cursor, 'failed to open log file\n'), 'failed to open log file\n');
    assert.equal(cursor.sinceTime, undefined);
  });

  it('asks again from a second before the line that had begun when something was last taken', () => {
    const cursor = new OverlapCursor();
    feed(cursor, line(10, 'a') + line(20, 'b') + line(30, 'c').slice(0, -1));
    assert.equal(cursor.sinceTime, undefined);
    cursor.taken();
    assert.equal(cursor.sinceTime, '2026-11-30T23:05:29Z');
    // Half of what is a whole only together with what follows is needed again.
    feed(cursor, line(40, 'd'));
    assert.equal(cursor.sinceTime, '2026-11-30T23:05:29Z');
    feed(cursor, '2026-12-01T01:05:56.123456789+02:00 east\n');
    cursor.taken();
    assert.equal(cursor.sinceTime, '2026-11-30T23:05:55Z');
  });

  it('takes nothing in the middle of a line for a timestamp', () => {
    const cursor = new OverlapCursor();
    const stream = `${line(10, 'a')}${line(20, line(40, 'b').trimEnd())}`;
    feed(cursor, stream, [line(10, 'a').length + 32]);
    cursor.taken();
    assert.equal(cursor.sinceTime, '2026-11-30T23:05:19Z');
  });

  it('gives every byte as it came, and never asks from behind a line that has not come, for any chunks', () => {
    const lines = fc.array(fc.string({ unit: fc.constantFrom('a', '2', ' ', 'Z'), maxLength: 60 }), { maxLength: 12 });
    fc.assert(
      fc.property(lines, fc.array(fc.nat(900), { maxLength: 8 }), fc.nat(900), (contents, cuts, end) => {
        const stream = contents.map((content, second) => line(second + 10, content)).join('');
        const cursor = new OverlapCursor();
        const came = stream.slice(0, end);
        assert.equal(feed(cursor, came, cuts), came);
        cursor.taken();
        const begun = came.match(/^2026-\S+Z /gm) ?? [];
        const newest = Date.parse(begun.at(-1)?.trim() ?? '1970-01-01T00:00:01Z');
        assert.ok(Date.parse(cursor.sinceTime ?? '1970-01-01T00:00:00Z') <= newest - 1000);
      }),
    );
  });
});
