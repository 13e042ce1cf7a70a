import assert from 'node:assert/strict';
import type { Definition, Json } from '../../src/bundle/bundle.js';
import { isBase64Text } from '../../src/bundle/base64.js';
import { checkOutput } from '../../src/bundle/outputs.js';
import { CheckTime } from '../../src/bundle/time-limit.js';
import { checkValue, encodeFileValue } from '../../src/bundle/values.js';

describe('checkValue', () => {
  const cases: [Definition, Json, string[]][] = [
    [true, 'anything', []],
    [false, 1, ['p is not allowed at all']],
    [
      { type: 'integer', minimum: 1024, maximum: 10 },
      80,
      ['p must be at most 10, but is 80', 'p must be at least 1024, but is 80'],
    ],
    [
      { exclusiveMinimum: 1, multipleOf: 2 },
      1,
      ['p must be more than 1, but is 1', 'p must be a multiple of 2, but is 1'],
    ],
    [{ type: 'string' }, 5, ['p must be text (a string), but is an integer']],
    [{ type: ['string', 'null'] }, 5.5, ['p must be text (a string) or null, but is a number with a fraction']],
    [{ type: 'integer' }, 80.0, []],
    [{ enum: ['a', 1, null] }, 'b', ['p must be one of "a", 1, null, but is "b"']],
    [{ const: { a: 1 } }, 'b', ['p must be the value that "const" gives']],
    [{ pattern: '^a$' }, 'b\u001b', ['p must match the pattern "^a$", but is "b\\u001b"']],
    [{ minLength: 3 }, '🚀', ['p must have at least 3 characters, but has 1 character']],
    [
      { maxItems: 1, uniqueItems: true },
      [1, 1],
      ['p must have at most 1 entries, but has 2 entries', 'p must not hold the same entry twice'],
    ],
    [{ required: ['toString'] }, {}, ['p has no "toString"']],
    [{ additionalProperties: false }, { x: 1 }, ['p at "x" is no property that is allowed here']],
    [
      { propertyNames: { maxLength: 1 } },
      { xx: 1 },
      ['p at "xx" has a name that must have at most 1 characters, but has 2 characters'],
    ],
    [
      { properties: { a: { items: { type: 'integer' } } } },
      { a: [1, 'x'] },
      ['p at "a.1" must be an integer, but is text'],
    ],
    [
      { anyOf: [{ type: 'integer' }, { maxLength: 1 }] },
      'xx',
      ['p must be an integer, but is text, or must have at most 1 characters, but has 2 characters'],
    ],
    [
      { oneOf: [{ type: 'integer' }, { minimum: 1 }] },
      2,
      ['p fits 2 alternatives of "oneOf" at once: exactly one is allowed'],
    ],
    [{ not: { const: 1 } }, 1, ['p is what "not" forbids']],
    [{ if: { const: 1 }, then: { minimum: 2 } }, 1, ['p must be at least 2, but is 1']],
    [{ format: 'ipv4' }, 'x', ['p must be in the format "ipv4", but is "x"']],
    [{ format: 'idn-email' }, 'x', []],
    [{ contentEncoding: 'base64' }, 'a_b', ['p must be base64 text (standard alphabet, with padding)']],
    [{ contentEncoding: 'base65' }, 'a_b', []],
    [{ items: { contentEncoding: 'base64' } }, ['QQ=='], []],
    [
      { $ref: 'http://127.0.0.1:9/x' },
      1,
      [
        'p cannot be checked against its definition: its "$ref" "http://127.0.0.1:9/x" leads out of it, and nothing is ever fetched: copy what it refers to into the definition',
      ],
    ],
    [{ properties: { a: { default: 1 } } }, {}, []],
  ];
  for (const [definition, value, sentences] of cases) {
    it(`${JSON.stringify(value)} against ${JSON.stringify(definition)}: ${sentences.length === 0 ? 'fits' : sentences.join('; ')}`, async () => {
      assert.deepEqual(await checkValue(definition, value, 'p'), sentences);
    });
  }

  it('changes nothing of the value', async () => {
    const value = { b: '1' };
    await checkValue({ properties: { a: { default: 1 }, b: { type: 'integer' } } }, value, 'p');
    assert.deepEqual(value, { b: '1' });
  });

  it('tells nothing of a sensitive value', async () => {
    const secret = 'hunter2';
    const definitions: Definition[] = [
      { type: 'integer' },
      { pattern: '^x' },
      { enum: [secret.slice(1)] },
      { const: secret.slice(1) },
      { maxLength: 2 },
      { format: 'ipv4' },
      { anyOf: [{ type: 'integer' }, { pattern: '^x' }] },
    ].map((definition) => ({ ...definition, writeOnly: true }));
    for (const definition of definitions) {
      const sentences = await checkValue(definition, secret, 'p');
      assert.equal(sentences.length, 1);
      assert.doesNotMatch(sentences.join(), /hunter|unter2|7/);
    }
    const inKeys = await checkValue({ additionalProperties: false, writeOnly: true }, { [secret]: 1 }, 'p');
    assert.deepEqual(inKeys, ['p has a property that is not allowed']);
  });

  it("takes what is ajv's own and no keyword of draft 7 for no keyword", async () => {
    for (const keyword of [{ $async: true }, { id: 'x' }, { formatMinimum: 5 }, { $data: true }, { elements: 5 }]) {
      const sentences = await checkValue({ type: 'integer', ...keyword }, 'x', 'p');
      assert.deepEqual(sentences, ['p must be an integer, but is text'], JSON.stringify(keyword));
    }
    assert.match(
      (await checkValue({ allOf: [{ $async: true, type: 'integer' }] }, 'x', 'p')).join(),
      /cannot be checked/,
    );
  });

  it('takes no text that UTF-8 cannot hold, whatever the definition', async () => {
    for (const definition of [true, { type: 'string' }] as const)
      assert.match(
        (await checkValue(definition, 'a\ud800', 'p')).join(),
        /^p holds half a character \(a lone surrogate\)/,
      );
    assert.deepEqual(await checkValue(true, 'a\u{1f600}', 'p'), []);
  });

  it('gives up on a pattern that never ends', async () => {
    const sentences = await checkValue({ pattern: '^(a+)+$' }, `${'a'.repeat(60)}b`, 'p', new CheckTime(100));
    assert.deepEqual(sentences, [
      'p cannot be checked against its definition: it takes too long, simplify its patterns and references',
    ]);
  });
});

describe('the time for checks', () => {
  it('is for all of them together, and a check that gets none is none that was passed', async () => {
    const time = new CheckTime(50, 120);
    const start = performance.now();
    for (let at = 0; at < 40; at += 1) {
      const sentences = await checkValue({ pattern: '^(a+)+$' }, `${'a'.repeat(60)}b`, 'p', time);
      assert.match(sentences.join(), /it takes too long/);
    }
    assert.ok(performance.now() - start < 1_000);
    assert.match((await checkValue({ type: 'string' }, 'x', 'p', time)).join(), /cannot be checked/);
    assert.match((await checkOutput({ type: 'integer' }, Buffer.from('1'), time)) ?? '', /cannot be checked/);
  });
});

describe('isBase64Text and encodeFileValue', () => {
  it('take base64 with padding, line breaks anywhere, no other alphabet', () => {
    for (const text of ['', 'QQ==', 'QUI=', 'QUJD', 'QU\r\nJD\n', '+/+/']) assert.equal(isBase64Text(text), true, text);
    for (const text of ['QQ', 'QQ=', 'Q===', '-_-_', 'QQ==QQ==', 'QU JD', '!!!!', 'QUJD='])
      assert.equal(isBase64Text(text), false, text);
  });

  it('encode the bytes of a file for base64 definitions and take text otherwise', () => {
    assert.equal(encodeFileValue({ type: 'string', contentEncoding: 'base64' }, Buffer.from([0xff, 0])), '/wA=');
    assert.equal(encodeFileValue({ type: 'string' }, Buffer.from('a\n')), 'a\n');
    assert.equal(encodeFileValue({}, Buffer.from('\uFEFFa\n')), '\uFEFFa\n');
    assert.equal(encodeFileValue({ type: 'integer' }, Buffer.from('5\r\n')), '5');
    assert.throws(
      () => encodeFileValue({ type: 'string' }, Buffer.from([0xff])),
      /must be UTF-8 text, but the file is binary/,
    );
  });
});
