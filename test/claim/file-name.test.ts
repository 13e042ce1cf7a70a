import assert from 'node:assert/strict';
import fc from 'fast-check';
import { decodeFileName, encodeFileName, hashedFileName } from '../../src/claim/file-name.js';

describe('the file name of a name', () => {
  it('is the name itself where that is harmless', () => {
    for (const name of ['app', 'my.app-2_x', 'App', '01ARYZ6S410000000000000000'])
      assert.equal(encodeFileName(name), name);
  });

  it('encodes what could lead elsewhere, hide, or be an option', () => {
    assert.equal(encodeFileName('..'), '%2E.');
    assert.equal(encodeFileName('.'), '%2E');
    assert.equal(encodeFileName('.hidden'), '%2Ehidden');
    assert.equal(encodeFileName('-rf'), '%2Drf');
    assert.equal(encodeFileName('a/../b'), 'a%2F..%2Fb');
    assert.equal(encodeFileName('team/app'), 'team%2Fapp');
    assert.equal(encodeFileName('a\nb'), 'a%0Ab');
    assert.equal(encodeFileName('50%'), '50%25');
    assert.equal(encodeFileName('é'), '%C3%A9');
    assert.equal(encodeFileName('a~b'), 'a%7Eb');
    assert.equal(encodeFileName('nul\0'), 'nul%00');
    assert.equal(encodeFileName(''), '~empty');
  });

  it('cuts a long name and adds its hash, never inside an escape', () => {
    const names = ['x'.repeat(300), `${'x'.repeat(299)}y`, 'é'.repeat(100), '/'.repeat(150)];
    const files = names.map(encodeFileName);
    assert.equal(new Set(files).size, names.length);
    for (const file of files) {
      assert.ok(Buffer.byteLength(file) <= 200);
      assert.match(file, /^(?:[\w.-]|%[0-9A-F]{2})+~[0-9a-f]{64}$/);
      assert.equal(decodeFileName(file), undefined);
    }
    assert.equal(encodeFileName('x'.repeat(200)), 'x'.repeat(200));
  });

  it('keeps lone surrogates apart', () => {
    assert.equal(encodeFileName('\ud800'), '%ED%A0%80');
    assert.equal(decodeFileName('%ED%A0%80'), '\ud800');
    assert.notEqual(encodeFileName('\ud800'), encodeFileName('\udfff'));
    assert.equal(decodeFileName(encodeFileName('a\udfffb\ud83d\ude00')), 'a\udfffb\ud83d\ude00');
  });

  it('goes back to the name, and two names never share one', () => {
    const unit = fc.constantFrom(
      'a',
      'B',
      '.',
      '-',
      '/',
      '%',
      '\n',
      'é',
      '😀',
      '\ud800',
      '\udc00',
      '~',
      '2',
      'E',
      '\0',
    );
    const names = fc.array(unit, { maxLength: 20 }).map((parts) => parts.join(''));
    fc.assert(
      fc.property(names, names, (a, b) => {
        assert.equal(decodeFileName(encodeFileName(a)), a);
        assert.equal(encodeFileName(a) === encodeFileName(b), a === b);
        assert.match(encodeFileName(a), /^[^./-][^/]*$/);
        assert.notEqual(hashedFileName(a), encodeFileName(b));
      }),
      { numRuns: 500 },
    );
  });

  it('is not decoded where it was not made by encoding', () => {
    for (const file of ['%2e', '%C3', 'a/b', '.x', '%61', 'a b', `${'x'.repeat(201)}`]) {
      assert.equal(decodeFileName(file), undefined);
    }
  });
});
