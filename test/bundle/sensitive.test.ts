import assert from 'node:assert/strict';
import { isSensitive, type Bundle, type Definition } from '../../src/bundle/bundle.js';

const bundleWith = (definition: Definition): Bundle => ({
  schemaVersion: '1.2.0',
  name: 'b',
  version: '1.0.0',
  invocationImages: [{ image: 'example/b:1' }],
  definitions: { it: definition },
});

describe('a sensitive definition', () => {
  const rows: [string, Definition, boolean][] = [
    ['is one that is marked', { type: 'string', writeOnly: true }, true],
    [
      'is one with a marked member, since a value travels as a whole',
      { properties: { key: { writeOnly: true } } },
      true,
    ],
    ['is one with a mark behind anyOf', { anyOf: [{ type: 'null' }, { writeOnly: true }] }, true],
    [
      'is none with the mark set to false or to a text',
      { writeOnly: false, properties: { a: { writeOnly: 'true' } } },
      false,
    ],
    ['is none that is a plain true', true, false],
  ];
  for (const [claim, definition, expected] of rows) {
    it(claim, () => assert.equal(isSensitive(bundleWith(definition), 'it'), expected));
  }
  it('is none that does not exist, whatever its name', () => {
    assert.equal(isSensitive(bundleWith(true), '__proto__'), false);
    assert.equal(isSensitive(bundleWith(true), 'constructor'), false);
  });
});
