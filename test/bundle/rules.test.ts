import assert from 'node:assert/strict';
import { nearest } from '../../src/bundle/nearest.js';
import { isBelow, rootedPath } from '../../src/bundle/paths.js';
import { syntaxProblems } from '../../src/bundle/json-syntax.js';
import { validateBundle } from '../../src/bundle/validate.js';

const BASE = { schemaVersion: 'v1.2.0', name: 'x', version: '1.0.0', invocationImages: [{ image: 'a/b:1' }] };

async function said(fields: object): Promise<readonly string[]> {
  const { problems, warnings } = await validateBundle(Buffer.from(JSON.stringify({ ...BASE, ...fields })), 'b.json');
  return [...problems, ...warnings].map(({ severity, pointer, message }) => `${severity} ${pointer} ${message}`);
}

const credential = (destination: object) => ({ credentials: { t: destination } });

describe('rules', () => {
  it('want names that can be spoken of', async () => {
    const definitions = { s: {} };
    const parameter = { definition: 's', destination: { env: 'A' } };
    assert.deepEqual(await said({ definitions, parameters: { '': parameter } }), [
      'error /parameters/ the name of this parameter is empty: give it one',
    ]);
    assert.match(
      (await said({ definitions, parameters: { 'a=b': parameter } })).join(),
      /^warning .* it can be set from a file only$/,
    );
    assert.match((await said({ actions: { 'a\tb': {} } })).join(), /^warning .* control character/);
    assert.match((await said({ actions: { '\ud800': {} } })).join(), /^error .* lone surrogate/);
  });

  it('want variables that exist and warn of those that a shell cannot read or a kernel folder swallows', async () => {
    assert.match((await said(credential({ env: '' }))).join(), /^error \/credentials\/t\/env .* without a name/);
    assert.match((await said(credential({ env: 'a\nb' }))).join(), /^error \/credentials\/t\/env .* cannot exist/);
    assert.match((await said(credential({ env: 'my.var' }))).join(), /^warning .* a shell cannot read/);
    assert.match((await said(credential({ path: '/proc/1/x' }))).join(), /^warning .* lies in \/proc/);
    assert.match((await said(credential({ path: '' }))).join(), /^error .* is empty/);
  });

  it('want clean paths that a file system can hold', async () => {
    for (const [path, reason] of [
      ['/', /is the root folder/],
      ['/a/./b', /has "\." as a part/],
      ['/a\0b', /NUL character/],
      ['/a\ud800', /lone surrogate/],
      [`/${'a'.repeat(256)}`, /a part of more than 255 bytes/],
      [`${'/a'.repeat(65)}`, /is too long/],
      ['/cnab/app/run/x', /lies below \/cnab\/app\/run, which is a file/],
    ] as const) {
      assert.match((await said(credential({ path }))).join(), reason);
    }
    assert.deepEqual(await said(credential({ path: '/cnab/app/config' })), []);
    assert.deepEqual(
      [isBelow('/a/b', '/a'), isBelow('/ab', '/a'), isBelow('/a', '/a'), rootedPath('a')],
      [true, false, false, '/a'],
    );
  });

  it('want image references that could be one', async () => {
    assert.match(
      (await said({ images: { i: { image: ' ' } } })).join(),
      /^error \/images\/i\/image image "i" has an empty reference/,
    );
    assert.match((await said({ images: { i: { image: 'a b' } } })).join(), /white space/);
    assert.match(
      (await said({ images: { i: { image: 'a', size: -1 } } })).join(),
      /^error \/images\/i\/size .* negative size/,
    );
  });

  it('suggest the nearest name and nothing far-fetched', () => {
    const fields = ['parameters', 'outputs', 'name'];
    for (const [word, meant] of [
      ['paramters', 'parameters'],
      ['Outputs', 'outputs'],
      ['naem', 'name'],
      ['out', undefined],
      ['x'.repeat(1000), undefined],
    ] as const) {
      assert.equal(nearest(word, fields), meant, word);
    }
  });
});

describe('syntaxProblems', () => {
  it('says what to write instead', async () => {
    for (const [text, message] of [
      ["{'a': 1}", 'JSON strings have double quotes, not single ones'],
      ['{"a": True}', 'JSON has no True: write true'],
      ['{"a": NaN}', 'JSON has no NaN: numbers are finite'],
      ['{"a": word}', 'this word is not expected here: text stands in double quotes'],
      ['{"a" 1}', 'a ":" is missing before this number'],
      ['{"a": 1 "b": 2}', 'a "," is missing before this string'],
      ['[1}', 'a "]" is missing before "}"'],
      ['{"a":1]', 'a "}" is missing before "]"'],
      ['{} {}', 'the document has ended before this: remove "{"'],
      ['{"a": 01}', 'a "," is missing before this number'],
      ['{"a": 1.}', 'this is no JSON number'],
      ['{"a": "\\x"}', 'this string holds an escape that JSON does not have: write a backslash as "\\\\"'],
      ['{"a": "\\u12"}', 'a unicode escape has four hex digits, as in "\\u00e9"'],
      ['{"a": "\t"}', 'this string holds a control character: write it as an escape, as in "\\n" or "\\t"'],
      ['{"a": [1', 'the document ends too early: something is not closed'],
      ['{"a":}', 'a value is expected here, not "}"'],
      ['{1: 2}', 'a key in double quotes is expected here, not this number'],
      ['{}/* x', 'JSON has no comments: remove this one'],
    ] as const) {
      assert.throws(() => JSON.parse(text) as unknown, SyntaxError);
      assert.equal((await syntaxProblems(text, new SyntaxError('refused')))[0]?.message, message, text);
    }
  });
});
