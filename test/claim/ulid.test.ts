import assert from 'node:assert/strict';
import fc from 'fast-check';
import { formatUlid, newUlid, timeOfUlid, ulidAfter } from '../../src/claim/ulid.js';
import { parseUlid } from './parse-ulid.js';

const ULID = /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/;
const GREATEST = `7${'Z'.repeat(25)}`;
const bytes10 = fc.uint8Array({ minLength: 10, maxLength: 10 });
const time48 = fc.integer({ min: 0, max: 2 ** 48 - 1 });

describe('ULID', () => {
  it('has the form of the specification for a known time', () => {
    assert.equal(formatUlid(1469918176385, new Uint8Array(10)), '01ARYZ6S410000000000000000');
    assert.equal(formatUlid(2 ** 48 - 1, new Uint8Array(10).fill(255)), GREATEST);
  });

  it('gives back the time and the randomness that went in', () => {
    fc.assert(
      fc.property(time48, bytes10, (time, random) => {
        const id = formatUlid(time, random);
        assert.match(id, ULID);
        assert.deepEqual(parseUlid(id), { time, random });
      }),
    );
  });

  it('clamps a time that does not fit', () => {
    for (const time of [-5, Number.NaN, Number.NEGATIVE_INFINITY]) {
      assert.equal(parseUlid(formatUlid(time, new Uint8Array(10)))?.time, 0);
    }
    assert.equal(parseUlid(formatUlid(2 ** 60, new Uint8Array(10)))?.time, 2 ** 48 - 1);
    assert.equal(parseUlid(formatUlid(5.9, new Uint8Array(10)))?.time, 5);
  });

  it('does not parse the hand-edited id of Porter, lower case, or a first digit above 7', () => {
    for (const text of ['01G1VJGY43HT3KZN82DS6DDIWK', '01aryz6s410000000000000000', `8${'0'.repeat(25)}`, 'id', '']) {
      assert.equal(parseUlid(text), undefined);
    }
  });
});

describe('the ULID after a text', () => {
  it('is one more, with carry', () => {
    assert.equal(ulidAfter('01ARYZ6S410000000000000000'), '01ARYZ6S410000000000000001');
    assert.equal(ulidAfter('01ARYZ6S41000000000000000Z'), '01ARYZ6S410000000000000010');
    assert.equal(ulidAfter(`01ARYZ6S41${'Z'.repeat(16)}`), `01ARYZ6S42${'0'.repeat(16)}`);
    assert.equal(ulidAfter(`0${'Z'.repeat(25)}`), `1${'0'.repeat(25)}`);
  });

  it('does not exist after the greatest ULID, nor after a text that starts beyond it', () => {
    for (const text of [GREATEST, `${GREATEST}x`, 'id', '8', 'ä']) assert.equal(ulidAfter(text), undefined);
  });

  it('steps over characters that no ULID has', () => {
    assert.equal(ulidAfter('01G1VJGY43HT3KZN82DS6DDIWK'), '01G1VJGY43HT3KZN82DS6DDJ00');
    assert.equal(ulidAfter('0z'), `1${'0'.repeat(25)}`);
    assert.equal(ulidAfter('01'), `01${'0'.repeat(24)}`);
    assert.equal(ulidAfter(''), '0'.repeat(26));
  });

  it('is greater than any text by plain comparison, and nothing lies between a ULID and its successor', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 30 }), (text) => {
        const next = ulidAfter(text);
        if (next === undefined) return;
        assert.match(next, ULID);
        assert.ok(next > text);
      }),
      { numRuns: 500 },
    );
    fc.assert(
      fc.property(time48, bytes10, (time, random) => {
        const id = formatUlid(time, random);
        const next = ulidAfter(id);
        assert.ok(next === undefined ? id === GREATEST : valueOf(next) === valueOf(id) + 1n);
      }),
    );
  });
});

describe('the time of a ULID', () => {
  it('is the one that it was made with', () => {
    fc.assert(fc.property(time48, bytes10, (time, random) => timeOfUlid(formatUlid(time, random)) === time));
  });

  it('is that of a ULID in its canonical form only', () => {
    for (const text of ['', 'a-run', '0'.repeat(25), '0'.repeat(27), `8${'0'.repeat(25)}`, `0${'u'.repeat(25)}`]) {
      assert.equal(timeOfUlid(text), undefined, text);
    }
  });
});

describe('a new ULID', () => {
  it('is made of the clock when that is ahead of the floor, and follows the floor when the clock stepped back', () => {
    const random = new Uint8Array(10).fill(7);
    assert.equal(newUlid(2000, random, formatUlid(1000, random)), formatUlid(2000, random));
    assert.equal(newUlid(1000, random, formatUlid(2000, random)), ulidAfter(formatUlid(2000, random)));
    assert.equal(newUlid(1000, random, formatUlid(1000, random)), ulidAfter(formatUlid(1000, random)));
    assert.equal(newUlid(1000, random, 'zzz'), undefined);
  });
});

function valueOf(ulid: string): bigint {
  const digits = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
  return [...ulid].reduce((value, char) => value * 32n + BigInt(digits.indexOf(char)), 0n);
}
