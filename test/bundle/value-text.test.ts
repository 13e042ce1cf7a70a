import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { Definition, Json } from '../../src/bundle/bundle.js';
import { parseValue } from '../../src/bundle/value-text.js';
import { valueText } from '../../src/bundle/values.js';
import { CnabError } from '../../src/errors.js';

function refusal(definition: Definition, text: string): string {
  try {
    const value = parseValue(definition, text);
    return assert.fail(`${JSON.stringify(text)} was taken as ${JSON.stringify(value)}`);
  } catch (error) {
    assert.ok(error instanceof CnabError, String(error));
    assert.equal(error.code, 'invalid');
    return error.message;
  }
}

describe('parseValue', () => {
  const taken: [Definition, string, Json][] = [
    [{ type: 'string' }, '', ''],
    [{ type: 'string' }, ' "quoted\\n" ', ' "quoted\\n" '],
    [{ type: 'integer' }, '08', 8],
    [{ type: 'integer' }, '+5', 5],
    [{ type: 'integer' }, '-0', 0],
    [{ type: 'integer' }, '-9007199254740991', -9007199254740991],
    [{ type: 'number' }, '1e3', 1000],
    [{ type: 'number' }, '.5', 0.5],
    [{ type: 'number' }, '5.', 5],
    [{ type: 'number' }, '-0', 0],
    [{ type: 'number' }, '9007199254740992', 9007199254740992],
    [{ type: 'boolean' }, 'TRUE', true],
    [{ type: 'boolean' }, 'false', false],
    [{ type: 'array' }, ' [1, "a"] ', [1, 'a']],
    [{ type: 'object' }, '{"a":{}}', { a: {} }],
    [{ type: 'null' }, 'null', null],
    [{}, '5', '5'],
    [true, 'x', 'x'],
    [{ enum: [1] }, '1', '1'],
    [{ type: ['string', 'integer'] }, '5', 5],
    [{ type: ['string', 'integer'] }, '5.5', '5.5'],
    [{ type: ['string', 'integer'] }, '"5"', '"5"'],
    [{ type: ['string', 'boolean'] }, 'TRUE', 'TRUE'],
    [{ type: ['integer', 'null'] }, '08', 8],
    [{ type: ['integer', 'null'] }, 'null', null],
    [{ type: ['number', 'array'] }, '[1]', [1]],
    [{ $ref: '#/definitions/p~1q', definitions: { 'p/q': { type: 'integer' } } }, '7', 7],
    [{ $ref: '#' }, 'x', 'x'],
  ];
  for (const [definition, text, value] of taken) {
    it(`takes ${JSON.stringify(text)} for ${JSON.stringify(definition)} as ${JSON.stringify(value)}`, () => {
      assert.deepEqual(parseValue(definition, text), value);
    });
  }

  const refused: [Definition, string, RegExp][] = [
    ...['', ' 5', '5 ', '0x10', '1e3', '1_000', '12abc', '5.0'].map((text): [Definition, string, RegExp] => [
      { type: 'integer' },
      text,
      /^must be an integer, but is "/,
    ]),
    [
      { type: 'integer' },
      '9007199254740992',
      /^must be an integer between ±9007199254740991, but is "9007199254740992"$/,
    ],
    ...['', 'NaN', 'Infinity', '0x1p-2', '1 000', '.', '1e'].map((text): [Definition, string, RegExp] => [
      { type: 'number' },
      text,
      /^must be a number, but is "/,
    ]),
    [{ type: 'number' }, '1e999', /^must be a number that 64 bits can hold/],
    [{ type: 'number' }, '9007199254740993', /^must be no integer beyond/],
    [{ type: 'boolean' }, '1', /^must be true or false, but is "1"$/],
    [{ type: 'boolean' }, 'yes', /^must be true or false/],
    [{ type: 'array' }, 'null', /^must be a list in JSON and not null, but is "null"$/],
    [{ type: 'array' }, 'a,b', /^must be a list in JSON, but is "a,b"$/],
    [{ type: 'object' }, '[]', /^must be an object in JSON and not a list/],
    [{ type: 'object' }, '{"n":12345678901234567890}', /^must not hold integers beyond/],
    [{ type: 'null' }, '', /^must be null/],
    [{ type: ['integer', 'array'] }, 'x', /^must be an integer or a list, but is "x"$/],
    [{ type: 'array' }, '['.repeat(100_000), /^must be a list in JSON/],
    [{ type: 'cnab' }, 'x', /unknown type "cnab"/],
  ];
  for (const [definition, text, message] of refused) {
    it(`refuses ${JSON.stringify(text.slice(0, 30))} for ${JSON.stringify(definition)}`, () => {
      assert.match(refusal(definition, text), message);
    });
  }

  it('does not tell the text for a sensitive definition', () => {
    assert.equal(refusal({ type: 'integer', writeOnly: true }, 'hunter2'), 'must be an integer');
    const nested = { type: 'object', properties: { a: { writeOnly: true } } };
    assert.equal(refusal(nested, 'hunter2'), 'must be an object in JSON');
  });

  it('reads back every number and every structure that valueText writes', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const json = JSON.parse(JSON.stringify(value)) as Json;
        const type = json === null ? 'null' : Array.isArray(json) ? 'array' : typeof json;
        try {
          assert.deepEqual(parseValue({ type }, valueText(json)), json);
        } catch (error) {
          assert.ok(error instanceof CnabError && error.message.includes('integer'), String(error));
        }
      }),
    );
  });
});

describe('valueText', () => {
  it('is raw text for strings, JSON with sorted keys and no escapes for HTML otherwise, empty for no value', () => {
    assert.equal(valueText('"quoted" <&>\n'), '"quoted" <&>\n');
    assert.equal(valueText({ b: '<&>', a: [1.0, true, null] }), '{"a":[1,true,null],"b":"<&>"}');
    assert.equal(valueText(false), 'false');
    assert.equal(valueText(0), '0');
    assert.equal(valueText(null), 'null');
    assert.equal(valueText(''), '');
    assert.equal(valueText(undefined), '');
  });
});
