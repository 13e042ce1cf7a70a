import assert from 'node:assert/strict';
import fc from 'fast-check';
import { LogCursor } from '../../../src/driver/kubernetes/log-cursor.js';

interface Rec {
  /** Milliseconds since the first line. */
  readonly at: number;
  readonly full: boolean;
  readonly content: string;
}

const BASE = Date.UTC(2026, 10, 30, 23, 5, 6);

function stamp(at: number): string {
  return new Date(BASE + at).toISOString().replace('Z', '000007Z');
}

/** What the kubelet's ReadLogs makes of CRI records (kubernetes/cri-client, pkg/logs/logs.go). */
function kubelet(records: readonly Rec[], since?: string): string {
  let out = '';
  let newLine = true;
  for (const { at, full, content } of records) {
    const line = content + (full ? '\n' : '');
    if (since === undefined || BASE + at >= Date.parse(since)) out += newLine ? `${stamp(at)} ${line}` : line;
    newLine = line === '' || line.endsWith('\n');
  }
  return out;
}

function plain(records: readonly Rec[]): string {
  return records.map(({ content, full }) => content + (full ? '\n' : '')).join('');
}

/** Reads `stream` in chunks of the given sizes; gaps come out as `<gap>`. */
function feed(cursor: LogCursor, stream: string, sizes: readonly number[] = []): string {
  const bytes = Buffer.from(stream, 'latin1');
  let out = '';
  cursor.begin();
  for (let at = 0, i = 0; at < bytes.length; i++) {
    const size = sizes.length === 0 ? bytes.length : (sizes[i % sizes.length] ?? 1);
    for (const piece of cursor.push(bytes.subarray(at, at + size))) {
      out += 'gap' in piece ? '<gap>' : piece.bytes.toString('latin1');
    }
    at += size;
  }
  return out;
}

const LINES: readonly Rec[] = [
  { at: 0, full: true, content: 'one' },
  { at: 10, full: true, content: '' },
  { at: 10, full: false, content: 'x'.repeat(100) },
  { at: 4000, full: true, content: 'tail' },
  { at: 4001, full: true, content: '2026-11-30T23:05:06.000000007Z looks like a timestamp' },
  { at: 9000, full: true, content: 'three' },
];

describe('LogCursor', () => {
  it('takes the timestamps off, whatever the chunks', () => {
    for (const size of [1, 2, 7, 30, 31, 32, 1000]) {
      assert.equal(feed(new LogCursor(), kubelet(LINES), [size]), plain(LINES));
    }
  });

  it('goes on exactly after a cut at any byte', () => {
    const stream = kubelet(LINES);
    for (let cut = 0; cut <= stream.length; cut++) {
      const cursor = new LogCursor();
      const first = feed(cursor, stream.slice(0, cut));
      const second = feed(cursor, kubelet(LINES, cursor.sinceTime), [13]);
      assert.equal(first + second, plain(LINES), `cut at ${cut}`);
      assert.equal(cursor.found, true);
    }
  });

  it('asks from two seconds before its last line, in whole seconds, and not at all at first', () => {
    const cursor = new LogCursor();
    assert.equal(cursor.sinceTime, undefined);
    feed(cursor, kubelet(LINES));
    assert.equal(cursor.sinceTime, '2026-11-30T23:05:13Z');
  });

  it('tells a gap and loses nothing of what is left when the file was rotated', () => {
    const cursor = new LogCursor();
    feed(cursor, kubelet(LINES.slice(0, 2)));
    assert.equal(feed(cursor, kubelet(LINES.slice(5))), '<gap>three\n');
    assert.equal(cursor.found, true);
  });

  it('ends a half line before a gap', () => {
    const cursor = new LogCursor();
    assert.equal(feed(cursor, kubelet(LINES.slice(0, 3))), plain(LINES.slice(0, 3)));
    assert.equal(feed(cursor, kubelet(LINES.slice(5))), '\n<gap>three\n');
  });

  it('knows that its place did not come again in an empty log', () => {
    const cursor = new LogCursor();
    feed(cursor, kubelet(LINES.slice(0, 2)));
    assert.equal(feed(cursor, ''), '');
    assert.equal(cursor.found, false);
  });

  it('tells lines of one and the same time apart by their number', () => {
    const same = ['a', 'b', 'c', 'd'].map((content) => ({ at: 5, full: true, content }));
    const cursor = new LogCursor();
    const first = feed(cursor, kubelet(same.slice(0, 2)));
    assert.equal(first + feed(cursor, kubelet(same)), 'a\nb\nc\nd\n');
  });

  it('gives a message of the kubelet in the body as it is and goes on behind it', () => {
    const cursor = new LogCursor();
    const first = feed(cursor, `${kubelet(LINES.slice(0, 1))}failed to watch file "/x"`);
    assert.equal(first + feed(cursor, kubelet(LINES.slice(0, 2))), 'one\nfailed to watch file "/x"\n\n');
  });

  it('goes on with the next line when such a message was glued to a half one', () => {
    const cursor = new LogCursor();
    const cut = kubelet(LINES.slice(0, 1)).slice(0, -2);
    const first = feed(cursor, `${cut}: no such file or directory`);
    assert.equal(first + feed(cursor, kubelet(LINES.slice(0, 2))), 'on: no such file or directory\n\n');
  });

  it('reads times with an offset, as nodes that are not on UTC write them', () => {
    const cursor = new LogCursor();
    assert.equal(feed(cursor, '2026-12-01T01:05:06.123456789+02:00 east\n'), 'east\n');
    assert.equal(cursor.sinceTime, '2026-11-30T23:05:04Z');
  });

  it('neither loses nor repeats a byte over many cuts, for any log and any chunks', () => {
    const record = fc.record({
      step: fc.constantFrom(0, 0, 1, 300, 2500),
      full: fc.boolean(),
      content: fc.string({ unit: fc.constantFrom('a', ' ', '2', 'Z', '\r', 'ÿ'), maxLength: 40 }),
    });
    const log = fc.array(record, { maxLength: 30 }).map((steps) => {
      let at = 0;
      // An empty partial record does not exist: containerd cuts at 16 KiB, conmon at what a read returned.
      return steps
        .filter(({ full, content }) => full || content !== '')
        .map(({ step, full, content }) => ({ at: (at += step), full, content }));
    });
    const cuts = fc.array(fc.nat(2000), { maxLength: 6 });
    const sizes = fc.array(fc.integer({ min: 1, max: 50 }), { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(log, cuts, sizes, (records, at, chunks) => {
        const cursor = new LogCursor();
        let out = '';
        for (const cut of at) out += feed(cursor, kubelet(records, cursor.sinceTime).slice(0, cut), chunks);
        out += feed(cursor, kubelet(records, cursor.sinceTime), chunks);
        assert.equal(out, plain(records));
        assert.equal(cursor.found, true);
      }),
      { numRuns: 300 },
    );
  });
});
