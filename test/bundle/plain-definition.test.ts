import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { Definition, Json } from '../../src/bundle/bundle.js';
import { isPlain, plainErrors } from '../../src/bundle/plain-definition.js';
import { loadAjv, type Validators } from '../../src/bundle/validators.js';

const plain = fc.record(
  {
    type: fc.constantFrom('null', 'boolean', 'object', 'array', 'number', 'integer', 'string'),
    title: fc.string(),
    description: fc.string(),
    default: fc.jsonValue(),
    examples: fc.array(fc.jsonValue()),
    readOnly: fc.boolean(),
    writeOnly: fc.boolean(),
    $comment: fc.string(),
  },
  { requiredKeys: ['type'], noNullPrototype: true },
);

describe('a definition of one type', () => {
  let ajv: Validators;
  before(async () => {
    ajv = await loadAjv();
  });

  it('is checked as ajv checks it, whatever describes it beside', () => {
    fc.assert(
      fc.property(plain, fc.jsonValue(), (definition, value) => {
        const asked = definition as Definition;
        if (!isPlain(asked)) assert.fail('not taken for plain');
        const expected = ajv.compile(asked, { allErrors: true, encodings: true })(value);
        assert.deepEqual(plainErrors(asked, value as Json), expected);
      }),
      { numRuns: 300 },
    );
  });

  it('is no plain one as soon as a keyword asks for more', () => {
    const more: Definition[] = [
      true,
      false,
      {},
      { type: ['string'] },
      { type: 'text' },
      { type: 'toString' },
      { type: 'string', minLength: 1 },
      { type: 'string', contentEncoding: 'base64' },
      { type: 'string', nullable: true },
      { type: 'string', $id: 'x' },
      { type: 'string', $ref: '#' },
      { type: 'string', 'x-unknown': 1 },
    ];
    assert.deepEqual(
      more.map(isPlain),
      more.map(() => false),
    );
  });
});
