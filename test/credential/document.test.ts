import assert from 'node:assert/strict';
import fc from 'fast-check';
import { parseDocument } from '../../src/credential/document.js';
import { CnabError } from '../../src/errors.js';

const parse = async (text: string | Uint8Array) => (await parseDocument(Buffer.from(text as string), 'f.yaml')).json;

async function refusal(text: string | Uint8Array): Promise<string> {
  try {
    await parse(text);
  } catch (error) {
    assert.ok(error instanceof CnabError, String(error));
    assert.equal(error.code, 'invalid');
    return error.message;
  }
  throw new Error('it was accepted');
}

describe('a YAML or JSON document', () => {
  it('is read as YAML 1.2', async () => {
    assert.deepEqual(await parse('a: yes\nb: 2020-01-01\nc: 0x10\nd: ~\ne: 1e3\nf: on\n'), {
      a: 'yes',
      b: '2020-01-01',
      c: 16,
      d: null,
      e: 1000,
      f: 'on',
    });
    assert.equal(await parse(''), undefined);
    assert.equal(await parse('# nothing\n'), null);
  });

  it('may be any JSON, tabs and a byte order mark included', async () => {
    await fc.assert(
      fc.asyncProperty(fc.jsonValue({ maxDepth: 4 }), async (value) => {
        fc.pre(!/\d{16}|e\+/.test(JSON.stringify(value)));
        const wrapped = { value };
        assert.deepEqual(await parse(JSON.stringify(wrapped, null, '\t')), JSON.parse(JSON.stringify(wrapped)));
      }),
      { numRuns: 200 },
    );
    assert.deepEqual(await parse('\ufeff{"a": 1}'), { a: 1 });
    assert.deepEqual(await parse('{"__proto__": 1}'), JSON.parse('{"__proto__": 1}'));
  });

  it('that is broken is refused with line and column, and not quoted', async () => {
    assert.match(await refusal('a: 1\nb: [hunter2'), /^f\.yaml:\d+:\d+: unexpected end/);
    assert.match(await refusal('a: 1\na: hunter2'), /^f\.yaml:2:\d+: duplicated mapping key$/);
    assert.match(await refusal('a: hunter2: b'), /^f\.yaml:1:\d+: /);
    assert.match(await refusal('a: 1\n---\nb: 2'), /single document/);
    assert.match(await refusal('a: !!js/function x'), /begins with "!" marks a type/);
    for (const text of [
      'a: 1\nb: [hunter2',
      'a: 1\na: hunter2',
      'a: hunter2: b',
      '"hunter2\\q"',
      'a: *hunter2',
      'a: !hunter2',
      'a: !<hunter2>',
      'a: !hunter2!x y',
    ]) {
      assert.doesNotMatch(await refusal(text), /hunter2|\n/);
    }
  });

  it('is refused with a whole number that would change', async () => {
    assert.match(await refusal('a: 1\nb:\n  - 9007199254740993'), /^f\.yaml:3:5: a whole number beyond/);
    assert.match(await refusal('{"a": -12345678901234567890}'), /^f\.yaml:1:7: /);
    assert.deepEqual(await parse('a: 9007199254740991\nb: "9007199254740993"\nc: 1e300'), {
      a: 9007199254740991,
      b: '9007199254740993',
      c: 1e300,
    });
  });

  it('is refused with what JSON does not have', async () => {
    assert.match(await refusal('a: .nan'), /number that JSON does not have/);
    assert.match(await refusal('a: -.inf'), /number that JSON does not have/);
    assert.match(await refusal(Buffer.of(0x61, 0x3a, 0x20, 0xff)), /not UTF-8/);
  });

  it('is refused when it is too large, too deep, or grows too large', async () => {
    assert.match(await refusal(`a: "${'x'.repeat(1024 * 1024)}"`), /^f\.yaml: it is larger than 1048576 bytes$/);
    assert.match(await refusal('['.repeat(100_000)), /nesting|depth/i);
    const bomb = ['a0: &a0 [x,x,x,x,x,x,x,x,x,x]'];
    for (let at = 1; at < 12; at += 1) bomb.push(`a${at}: &a${at} [${`*a${at - 1},`.repeat(10)}]`);
    assert.match(await refusal(bomb.join('\n')), /aliases stand for more/);
    assert.match(await refusal(`a: &a "${'x'.repeat(100_000)}"\nb: [${'*a,'.repeat(1000)}]`), /aliases stand for more/);
    assert.match(await refusal('a: &a [*a]'), /nested more than 256 levels/);
  });

  it('may use aliases within reason, each a value of its own', async () => {
    assert.deepEqual(await parse('a: &x {k: 1}\nb: *x'), { a: { k: 1 }, b: { k: 1 } });
  });

  it('knows the lines of its maps and lists', async () => {
    const document = await parseDocument(Buffer.from('a:\n  - name: x\n    b: 1\n  -\n    name: y\nz: {q: 1}\n'), 'f');
    const { a, z } = document.json as { a: object[]; z: object };
    assert.deepEqual(
      [a[0], a[1], z].map((value) => document.lineOf(value as never)),
      [2, 5, 6],
    );
  });
});
