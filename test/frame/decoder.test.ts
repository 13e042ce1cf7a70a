import assert from 'node:assert/strict';
import fc from 'fast-check';
import { FrameDecoder } from '../../src/frame/decoder.js';
import { MAX_LINE_BYTES } from '../../src/frame/grammar.js';

const RUN = '01J9ZZZZZZZZZZZZZZZZZZZZZZ';
const line = (text: string): string => `CNABO1 ${RUN} 1 ${text} .\n`;

function decode(decoder: FrameDecoder, ...chunks: (string | Uint8Array)[]): string[] {
  return chunks.flatMap((chunk) =>
    [...decoder.push(typeof chunk === 'string' ? Buffer.from(chunk, 'latin1') : chunk)].map((frame) => frame.type),
  );
}

describe('FrameDecoder', () => {
  it('finds frames wherever the stream is cut', () => {
    const log = Buffer.from(line('hello 1') + 'Status: failed to watch file\n' + line('beat') + line('ended'));
    for (let size = 1; size <= log.length; size += 1) {
      const decoder = new FrameDecoder(RUN);
      const chunks: Buffer[] = [];
      for (let at = 0; at < log.length; at += size) chunks.push(log.subarray(at, at + size));
      assert.deepEqual(decode(decoder, ...chunks), ['hello', 'beat', 'ended']);
      assert.equal(decoder.noise, 1);
    }
  });

  it('does not take an unfinished last line for a frame', () => {
    const decoder = new FrameDecoder(RUN);
    assert.deepEqual(decode(decoder, line('beat').trimEnd()), []);
    assert.deepEqual(decode(decoder, '\n'), ['beat']);
  });

  it('drops the half line of a broken connection, so that it is not glued to the first line of the next', () => {
    const decoder = new FrameDecoder(RUN);
    decode(decoder, line('beat').slice(0, 20));
    decoder.restart();
    assert.deepEqual(decode(decoder, line('ended')), ['ended']);
    assert.equal(decoder.noise, 1);
  });

  it('skips a line without end and goes on after it', () => {
    const decoder = new FrameDecoder(RUN);
    const long = Buffer.alloc(100_000, 0x41);
    for (let n = 0; n < 50; n += 1) assert.deepEqual(decode(decoder, long), []);
    assert.deepEqual(decode(decoder, ` .\n${line('beat')}`), ['beat']);
    assert.equal(decoder.noise, 1);
  });

  it('takes a line of exactly the limit, in one piece and in two, and none above', () => {
    const head = `CNABO1 ${RUN} 1 data 0 0 0 `;
    const atLimit = `${head}${'A'.repeat(MAX_LINE_BYTES - head.length - 2)} .\n`;
    const above = atLimit.replace(' .', 'A .');
    for (const cut of [0, 1, 6000, MAX_LINE_BYTES]) {
      const decoder = new FrameDecoder(RUN);
      assert.deepEqual(decode(decoder, atLimit.slice(0, cut), atLimit.slice(cut)), ['data']);
      assert.deepEqual(decode(decoder, above.slice(0, cut), above.slice(cut)), []);
    }
  });

  it('leaves empty lines uncounted and counts the rest of what is no frame', () => {
    const decoder = new FrameDecoder(RUN);
    assert.deepEqual(decode(decoder, '\n\n', 'hello\n', line('beat').replace(RUN, 'other'), '\xff\xfe\n'), []);
    assert.equal(decoder.noise, 3);
  });

  it('reads lines with and without the timestamp of the log', () => {
    const decoder = new FrameDecoder(RUN);
    const zulu = '2026-12-01T05:08:09.123456789Z';
    const offset = '2026-12-01T07:08:10.123456789+02:00';
    assert.deepEqual(decode(decoder, `${zulu} ${line('hello 1')}`, line('beat')), ['hello', 'beat']);
    assert.deepEqual(decode(decoder, `${offset} noise\n${offset} ${line('ended')}`), ['ended']);
    assert.deepEqual(decode(decoder, `2026-12-01 ${line('ended')}${zulu} ${zulu} ${line('ended')}`), []);
  });

  it('takes a line of the limit that has a timestamp', () => {
    const head = `CNABO1 ${RUN} 1 data 0 0 0 `;
    const text = `2026-12-01T07:08:10.123456789+02:00 ${head}${'A'.repeat(MAX_LINE_BYTES - head.length - 2)} .\n`;
    assert.deepEqual(decode(new FrameDecoder(RUN), text.slice(0, 9000), text.slice(9000)), ['data']);
  });

  it('takes any bytes, cut anywhere, without an exception', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 300 }), { maxLength: 20 }), (chunks) => {
        const decoder = new FrameDecoder(RUN);
        assert.deepEqual(decode(decoder, ...chunks), []);
        assert.deepEqual(decode(decoder, `\n${line('beat')}`), ['beat']);
      }),
    );
  });
});
