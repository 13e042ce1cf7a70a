import assert from 'node:assert/strict';
import {
  BLOCK_BYTES,
  LINE_BYTES,
  MAX_LINE_BYTES,
  blocksOf,
  entryText,
  frameParser,
  isRunId,
  linesOf,
  type Frame,
  type ManifestEntry,
} from '../../src/frame/grammar.js';

const RUN = '01J9ZZZZZZZZZZZZZZZZZZZZZZ';
const DIGEST = 'a'.repeat(64);
const parse = frameParser(RUN);
const read = (text: string): Frame | undefined => parse(Buffer.from(text, 'latin1'));
const frame = (text: string): Frame | undefined => read(`CNABO1 ${RUN} ${text} .`);

describe('The grammar of frames', () => {
  it('reads every type of line', () => {
    assert.deepEqual(frame('1 hello 3'), { start: 1, type: 'hello', count: 3 });
    assert.deepEqual(frame('1 beat'), { start: 1, type: 'beat' });
    assert.deepEqual(frame('2 ended'), { start: 2, type: 'ended' });
    assert.deepEqual(frame(`12 manifest 0 ${DIGEST}`), { start: 12, type: 'manifest', count: 0, sha256: DIGEST });
    assert.deepEqual(frame(`1 block 3 7 12097 2 ${DIGEST}`), {
      start: 1,
      type: 'block',
      header: { index: 3, block: 7, bytes: 12097, lines: 2, sha256: DIGEST },
    });
    assert.deepEqual(frame('1 changed 0'), { start: 1, type: 'changed', index: 0 });
    assert.deepEqual(frame(`1 end ${DIGEST}`), { start: 1, type: 'end', sha256: DIGEST });
    assert.deepEqual(frame('1 fault tool base64'), { start: 1, type: 'fault', what: 'tool', detail: 'base64' });
  });

  it('reads a data line without looking at its base64, which the digest of the block decides on', () => {
    const data = frame('1 data 0 12 113 QUJD');
    assert.ok(data?.type === 'data');
    assert.deepEqual([data.index, data.block, data.line, data.payload.toString()], [0, 12, 113, 'QUJD']);
    assert.equal(frame('1 data 0 0 0 ?? ??')?.type, 'data');
  });

  it('gives back the text that an entry was read from', () => {
    const entries: ManifestEntry[] = [
      { kind: 'file', index: 0, size: 0, sha256: DIGEST },
      { kind: 'missing', index: 1 },
      { kind: 'special', index: 20, what: 'link-above' },
      { kind: 'unreadable', index: 3 },
      { kind: 'large', index: 4, size: '9223372036854775807' },
    ];
    for (const entry of entries) assert.deepEqual(frame(`1 ${entryText(entry)}`), { start: 1, type: 'entry', entry });
  });

  it('takes as noise what differs in one letter', () => {
    const lines = [
      '',
      '.',
      `CNABO1 ${RUN} 1 beat`,
      `CNABO1 ${RUN} 1 beat  .`,
      `CNABO1 ${RUN} 1 beat . `,
      `CNABO1 ${RUN} 1 beat .\r`,
      ` CNABO1 ${RUN} 1 beat .`,
      `CNABO2 ${RUN} 1 beat .`,
      `cnabo1 ${RUN} 1 beat .`,
      `CNABO1 ${RUN.slice(1)} 1 beat .`,
      `CNABO1 01J9ZZZZZZZZZZZZZZZZZZZZZY 1 beat .`,
      `CNABO1 ${RUN}  1 beat .`,
      `CNABO1 ${RUN} 1 beat .CNABO1 ${RUN} 1 beat .`,
      `CNABO1 ${RUN} 1 beat . CNABO1 ${RUN} 1 beat .`,
    ];
    for (const line of lines) assert.equal(read(line), undefined, JSON.stringify(line));
  });

  it('takes as noise numbers, digests and words that are not written as the sidecar writes them', () => {
    const lines = [
      '0 beat',
      '01 beat',
      'x beat',
      '1 beat 1',
      '1 heart',
      '1 __proto__',
      '1 hello',
      '1 hello -1',
      '1 hello 01',
      '1 hello +1',
      '1 hello 1e3',
      '1 hello 1000000000000000',
      '1 hello 1 1',
      `1 manifest 1 ${DIGEST.slice(1)}`,
      `1 manifest 1 ${DIGEST.toUpperCase()}`,
      `1 manifest 1 ${DIGEST} ${DIGEST}`,
      '1 entry 0',
      '1 entry x missing',
      '1 entry 0 missing 1',
      '1 entry 0 lost',
      '1 entry 0 special door',
      '1 entry 0 large 0',
      `1 entry 0 file 0x10 ${DIGEST}`,
      '1 entry 0 file 1',
      '1 fault tool BASE64',
      '1 fault fire tool',
      '1 data 0 0 0 ',
      '1 data 0 0 QUJD',
      '1 data 00 0 0 QUJD',
      '1 data 0 0 1000 QUJD',
    ];
    for (const line of lines) assert.equal(frame(line), undefined, line);
  });

  it('takes as noise a block header that contradicts itself', () => {
    assert.equal(frame(`1 block 0 0 0 0 ${DIGEST}`), undefined);
    assert.equal(frame(`1 block 0 0 12096 2 ${DIGEST}`), undefined);
    assert.equal(frame(`1 block 0 0 ${BLOCK_BYTES + 1} 87 ${DIGEST}`), undefined);
    assert.equal(frame(`1 block 0 0 ${BLOCK_BYTES} 87 ${DIGEST}`)?.type, 'block');
  });

  it('takes as noise a line over the limit, and control lines as long as data', () => {
    const fill = (length: number): string => 'A'.repeat(length - `CNABO1 ${RUN} 1 data 0 0 0  .`.length);
    assert.equal(frame(`1 data 0 0 0 ${fill(MAX_LINE_BYTES)}`)?.type, 'data');
    assert.equal(frame(`1 data 0 0 0 ${fill(MAX_LINE_BYTES + 1)}`), undefined);
    assert.equal(frame(`1 fault tool ${'a'.repeat(300)}`), undefined);
    assert.equal(frame(`1 beat${' a'.repeat(6000)}`), undefined);
  });

  it('reads lines of bytes that are no text as noise', () => {
    assert.equal(parse(Buffer.from([0, 255, 254, 10, 13])), undefined);
    assert.equal(read(`CNABO1 ${RUN} 1 be\0t .`), undefined);
    assert.equal(read(`CNABO1 ${RUN} 1 be\xe9t .`), undefined);
  });

  it('knows what can stand as the id of a run', () => {
    for (const id of ['a', RUN, '1f0e-11aa', 'x'.repeat(64)]) assert.ok(isRunId(id), id);
    for (const id of ['', '-a', 'a b', 'a\n', 'a.b', 'é', 'x'.repeat(65)]) assert.ok(!isRunId(id), id);
    assert.throws(() => frameParser('a b'), RangeError);
  });

  it('counts lines and blocks so that neither is empty', () => {
    assert.deepEqual([1, LINE_BYTES, LINE_BYTES + 1, BLOCK_BYTES].map(linesOf), [1, 1, 2, 87]);
    assert.deepEqual([0, 1, BLOCK_BYTES, BLOCK_BYTES + 1].map(blocksOf), [0, 1, 1, 2]);
  });

  it('keeps the longest line that the sidecar can write below the limit', () => {
    const payload = 'A'.repeat((LINE_BYTES / 3) * 4);
    const longest = `CNABO1 ${'x'.repeat(64)} 999999 data 999999 9999999999 999 ${payload} .`;
    assert.ok(longest.length <= MAX_LINE_BYTES, String(longest.length));
    assert.equal(frameParser('x'.repeat(64))(Buffer.from(longest))?.type, 'data');
  });
});
