import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { Definition, Json } from '../../src/bundle/bundle.js';
import { CheckTime } from '../../src/bundle/time-limit.js';
import { checkOutput, definitionType, outputDefault, outputWarning, typedOutput } from '../../src/bundle/outputs.js';

const BINARY = Buffer.from([0xff, 0xfe, 0x00]);

describe('checkOutput', () => {
  const cases: [Definition, string | Buffer, string | undefined][] = [
    [true, BINARY, undefined],
    [false, 'x', 'is not allowed at all'],
    [{}, 'anything', undefined],
    [{ type: 'string' }, 'no JSON {', undefined],
    [{ type: 'string' }, BINARY, undefined],
    [{ type: 'string', enum: ['ok'] }, 'ok\n', undefined],
    [{ type: 'string', pattern: '^ok$' }, 'ok\r\n', undefined],
    [{ type: 'string', pattern: '^ok$' }, 'ok\n\n', 'must match the pattern "^ok$", but is "ok\\u000a\\u000a"'],
    [{ type: 'string', enum: ['ok'] }, 'no', 'must be one of "ok", but is "no"'],
    [{ type: 'integer' }, ' 5 \n', undefined],
    [{ type: 'integer' }, '1.0', undefined],
    [{ type: 'number' }, '5', undefined],
    [{ type: 'integer' }, '1.5', 'must be an integer in JSON, but is a number with a fraction'],
    [{ type: 'integer' }, '5 x', 'must be an integer in JSON, but is no JSON document'],
    [{ type: 'integer' }, '"5"', 'must be an integer in JSON, but is text'],
    [{ type: 'integer' }, BINARY, 'must be an integer in JSON, but is binary'],
    [{ type: 'integer', minimum: 10 }, '5', 'must be at least 10, but is 5'],
    [{ type: 'integer' }, '', undefined],
    [{ type: 'object', required: ['a'] }, '{}', 'has no "a"'],
    [{ type: 'object', properties: { a: { type: 'integer' } } }, '{"a":"x"}', 'at "a" must be an integer, but is text'],
    [{ type: 'array' }, 'null', 'must be a list in JSON, but is null'],
    [{ type: ['integer', 'null'] }, 'null', undefined],
    [{ type: ['string', 'integer'], minimum: 5 }, 'text', undefined],
    [{ enum: [1, 'x'] }, '1\n', undefined],
    [{ enum: [1, 'x'] }, 'x\n', undefined],
    [{ enum: [1, 'x'] }, 'y', 'must be one of 1, "x", but is "y"'],
    [{ type: 'string', contentEncoding: 'base64' }, '-----BEGIN', undefined],
    [{ $ref: 'http://127.0.0.1:9/x' }, 'x', undefined],
    [{ type: 'integer', writeOnly: true, minimum: 10 }, '5', 'must be at least 10'],
    [{ type: 'array' }, '['.repeat(100_000) + ']'.repeat(100_000), 'must be a list in JSON, but is no JSON document'],
    [
      { pattern: '^(a+)+$' },
      `${'a'.repeat(60)}b`,
      'cannot be checked against its definition: it takes too long, simplify its patterns and references',
    ],
  ];
  for (const [definition, content, reason] of cases) {
    const shown = typeof content === 'string' ? JSON.stringify(content.slice(0, 30)) : 'binary content';
    it(`${shown} for ${JSON.stringify(definition)} ${reason ?? 'fits'}`, async () => {
      assert.equal(await checkOutput(definition, Buffer.from(content), new CheckTime(500)), reason);
    });
  }

  it('resolves for any bytes and reports a million misfits as one', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array(), fc.constantFrom('string', 'integer', 'object'), async (bytes, type) => {
        await checkOutput({ type, minimum: 1, maxLength: 3 }, bytes);
      }),
    );
    const many = Buffer.from(`["x"${',1'.repeat(500_000)}]`);
    assert.equal(
      await checkOutput({ type: 'array', items: { type: 'string' } }, many),
      'at "1" must be text (a string), but is an integer',
    );
  });
});

describe('typedOutput', () => {
  const cases: [Definition, string | Buffer, Json | undefined][] = [
    [{ type: 'string' }, 'a\n', 'a\n'],
    [{ type: 'string' }, '5', '5'],
    [{}, '5', '5'],
    [{ type: 'string' }, BINARY, undefined],
    [{ type: 'integer' }, '5\n', 5],
    [{ type: 'object' }, '{"a":[1]}', { a: [1] }],
    [{ type: 'boolean' }, 'false', false],
    [{ type: ['string', 'integer'] }, '5', 5],
    [{ type: ['string', 'integer'] }, 'x', 'x'],
    [{ type: 'integer' }, 'x', undefined],
    [{ type: 'integer' }, '', undefined],
    [{ type: 'string' }, '', ''],
    [{ type: 'integer' }, '12345678901234567890\n', '12345678901234567890'],
  ];
  for (const [definition, content, value] of cases) {
    it(`is ${JSON.stringify(value)} for ${JSON.stringify(content.toString('latin1'))} and ${JSON.stringify(definition)}`, () => {
      assert.deepEqual(typedOutput(definition, Buffer.from(content)), value);
    });
  }
});

describe('outputDefault', () => {
  const cases: [Definition, string | undefined][] = [
    [true, undefined],
    [{ type: 'string' }, undefined],
    [{ default: false }, 'false'],
    [{ default: 0 }, '0'],
    [{ default: '' }, ''],
    [{ default: [] }, '[]'],
    [{ default: 'a "b"' }, 'a "b"'],
    [{ default: { a: 1000000 } }, '{"a":1000000}'],
    [{ default: null }, 'null'],
    [{ type: 'string', default: null }, undefined],
    [{ type: ['string', 'null'], default: null }, 'null'],
  ];
  for (const [definition, text] of cases) {
    it(`of ${JSON.stringify(definition)} is ${JSON.stringify(text)}`, () => {
      const bytes = outputDefault(definition);
      assert.equal(bytes === undefined ? undefined : Buffer.from(bytes).toString('utf8'), text);
    });
  }
});

describe('definitionType and outputWarning', () => {
  it('joins the declared types', () => {
    assert.equal(definitionType({ type: 'string' }), 'string');
    assert.equal(definitionType({ type: ['string', 'null'] }), 'string|null');
    assert.equal(definitionType({}), '');
    assert.equal(definitionType(true), '');
  });

  it('warns of an output that is declared as base64 and is not', () => {
    const definition = { type: 'string', contentEncoding: 'base64' };
    assert.equal(outputWarning(definition, Buffer.from('QQ==\n')), undefined);
    assert.equal(outputWarning({ type: 'string' }, BINARY), undefined);
    assert.match(outputWarning(definition, Buffer.from('-----BEGIN')) ?? '', /^is declared as base64 and is not/);
  });
});
