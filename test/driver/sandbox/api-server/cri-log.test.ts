import assert from 'node:assert/strict';
import fc from 'fast-check';
import { CriEncoder, parseRecord, PIECE_BYTES } from '../../../../src/driver/sandbox/api-server/cri-log.js';

const TIME = '2026-11-30T23:05:06.451526067Z';

function encode(...chunks: (string | Uint8Array)[]): string {
  const encoder = new CriEncoder('stdout', () => TIME);
  const records = chunks.map((chunk) => encoder.write(Buffer.from(chunk as string)));
  return Buffer.concat([...records, encoder.end()]).toString('latin1');
}

describe('the log format of a container runtime', () => {
  it('is one record for a line', () => {
    assert.equal(encode('a\nb\n'), `${TIME} stdout F a\n${TIME} stdout F b\n`);
  });

  it('cuts a line of 102,400 bytes into six pieces of 16,384 and a rest, as seen with containerd', () => {
    const records = encode('x'.repeat(102_400) + '\n')
      .trimEnd()
      .split('\n');
    assert.deepEqual(
      records.map((record) => [record.split(' ')[2], (record.split(' ')[3] ?? '').length]),
      [...Array.from({ length: 6 }, () => ['P', PIECE_BYTES]), ['F', 4096]],
    );
  });

  it('does not cut a line of exactly one piece', () => {
    assert.equal(encode('x'.repeat(PIECE_BYTES) + '\n').split(' ')[2], 'F');
  });

  it('marks a last line without its newline as a piece', () => {
    assert.equal(encode('a\nrest'), `${TIME} stdout F a\n${TIME} stdout P rest\n`);
  });

  it('drops a carriage return before the newline, and no other byte', () => {
    assert.equal(
      encode('a\r\n\r\r\n\0\xff\n'),
      [' F a\n', ' F \r\n', ' F \0\xc3\xbf\n'].map((end) => `${TIME} stdout${end}`).join(''),
    );
  });

  it('gives every byte back when it is read, however the output was chopped', () => {
    const output = fc.array(fc.uint8Array({ maxLength: 20_000 }), { maxLength: 6 });
    fc.assert(
      fc.property(output, (chunks) => {
        const clean = chunks.map((chunk) => chunk.map((byte) => (byte === 0x0d ? 0x20 : byte)));
        const text = encode(...clean);
        const records = text.split('\n').slice(0, -1);
        const read = records.map(
          (record) => parseRecord(Buffer.from(`${record}\n`, 'latin1'))?.content ?? Buffer.alloc(0),
        );
        assert.deepEqual(Buffer.concat(read), Buffer.concat(clean));
      }),
      { numRuns: 50 },
    );
  });

  it('is not understood in a line of anything else', () => {
    for (const line of ['', 'x', `${TIME} stdin F a`, `${TIME} stdout`, ' stdout F a']) {
      assert.equal(parseRecord(Buffer.from(line)), undefined, line);
    }
  });
});
