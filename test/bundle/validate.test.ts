import assert from 'node:assert/strict';
import { describeProblem, pathOf, pointerOf, quoted } from '../../src/bundle/problem.js';
import { validateBundle } from '../../src/bundle/validate.js';

const BASE = { schemaVersion: 'v1.2.0', name: 'x', version: '1.0.0', invocationImages: [{ image: 'a/b:1' }] };

function check(document: unknown, origin = 'b.json') {
  return validateBundle(Buffer.from(typeof document === 'string' ? document : JSON.stringify(document)), origin);
}

describe('validateBundle', () => {
  it('tells all problems at once, in the order of the file: shape, rules, definitions and duplicate keys', async () => {
    const text = `{
  "schemaVersion": "v1.2.0", "name": "x", "version": "latest",
  "invocationImages": [{ "image": 7 }, { "image": "a", "image": "b" }],
  "definitions": { "port": { "type": "integer", "default": "http" }, "bad": { "minimum": "1" } },
  "parameters": {
    "a": { "definition": "port", "destination": { "env": "A", "path": "/x/../y" } },
    "b": { "definition": "none", "destination": { "env": "A" } },
    "c": { "destination": [] }
  },
  "outputs": { "o": { "definition": "port", "path": "/tmp/o" } },
  "extra": 1
}`;
    const { problems, bundle } = await check(text);
    assert.equal(bundle, undefined);
    assert.deepEqual(
      problems.map(({ line, column, pointer }) => `${line}:${column} ${pointer}`),
      [
        '2:54 /version',
        '3:35 /invocationImages/0/image',
        '3:56 /invocationImages/1/image',
        '4:60 /definitions/port/default',
        '4:90 /definitions/bad/minimum',
        '6:71 /parameters/a/destination/path',
        '7:26 /parameters/b/definition',
        '7:58 /parameters/b/destination/env',
        '8:10 /parameters/c',
        '8:27 /parameters/c/destination',
        '10:53 /outputs/o/path',
        '11:3 /extra',
      ],
    );
  });

  it('does not call a reference dangling because the definition that it names is broken', async () => {
    const { problems } = await check({
      ...BASE,
      definitions: { d: 1 },
      outputs: { o: { definition: 'd', path: '/cnab/app/outputs/o' } },
    });
    assert.deepEqual(
      problems.map(({ pointer }) => pointer),
      ['/definitions/d'],
    );
  });

  it('counts columns in UTF-16 code units and lines by LF, CR LF and CR', async () => {
    const { problems } = await check(
      '{\r\n"keywords":\r["😀", 1],\n"schemaVersion":"v1","name":"x","version":"1","invocationImages":[{"image":"a"}]}',
    );
    assert.deepEqual(
      problems.map(({ line, column, pointer }) => [line, column, pointer]),
      [[3, 8, '/keywords/1']],
    );
  });

  it('says of a document that is no object what it should be', async () => {
    for (const text of ['[]', '1', 'null', '"x"']) {
      assert.deepEqual(
        (await check(text)).problems.map(({ message }) => message),
        ['a bundle is a JSON object: it begins with "{"'],
      );
    }
  });

  it('tells nothing of a sensitive default, not even of a nested one or in a broken document', async () => {
    const secret = 'hunter2hunter2';
    for (const definition of [
      { type: 'integer', writeOnly: true, default: secret },
      { enum: ['a'], writeOnly: true, default: secret },
      { type: 'object', additionalProperties: false, properties: { a: { writeOnly: true } }, default: { [secret]: 1 } },
      { type: 'object', properties: { a: { type: 'string', maxLength: 1, writeOnly: true } }, default: { a: secret } },
      { type: 'string', format: 'date', writeOnly: true, default: secret },
    ]) {
      const verdict = await check({
        ...BASE,
        definitions: { d: definition },
        outputs: { o: { definition: 'd', path: '/cnab/app/outputs/o' } },
      });
      assert.equal(verdict.problems.length, 1);
      assert.equal(JSON.stringify(verdict).includes(secret), false, JSON.stringify(verdict));
    }
    for (const text of [
      `{"a": 1 "${secret}"}`,
      `{"a": ${secret}}`,
      `{"a": '${secret}'}`,
      `{"a": "${secret}`,
      `{"a": 12${secret}}`,
    ]) {
      const verdict = await check(text);
      assert.notEqual(verdict.problems.length, 0);
      assert.equal(JSON.stringify(verdict).includes(secret), false, JSON.stringify(verdict));
    }
  });

  it('says how many more there are beyond 200 problems', async () => {
    const { problems } = await check({ ...BASE, keywords: Array.from({ length: 300 }, (_, index) => index) });
    assert.equal(problems.length, 200);
    assert.equal(problems.at(-1)?.message, 'there are 101 more problems from here on');
  });

  it('reads YAML by its name, with the line of what is wrong where it can', async () => {
    const yaml =
      'schemaVersion: v1.2.0\nname: x\nversion: 1.0.0\ninvocationImages:\n- image: a\noutputs:\n  log:\n    definition: none\n    path: /tmp/x\n';
    assert.deepEqual(
      (await check(yaml, 'b.yaml')).problems.map(({ line, column, pointer }) => `${line}:${column} ${pointer}`),
      ['8:5 /outputs/log/definition', '9:5 /outputs/log/path'],
    );
    for (const [text, message] of [
      ['a: [1', /^the YAML is broken: /],
      ['a: 1\na: 2', /^the YAML is broken: duplicated mapping key/],
      ['', /^the document is empty$/],
      ['a: .inf', /number that JSON does not have \(\.inf or \.nan\)/],
      ['a: 9007199254740993', /whole number beyond .* cannot be kept exactly/],
      ['&a [*a]', /nested more than 256 levels/],
      ['['.repeat(100_000), /^the (YAML is broken|document is nested)/],
      [
        `a: &a [x,x,x,x,x,x,x,x,x]\n${'bcdefgh'.replace(
          /./g,
          (name) =>
            `${name}: &${name} [${Array(9)
              .fill(`*${String.fromCharCode(name.charCodeAt(0) - 1)}`)
              .join()}]\n`,
        )}`,
        /aliases stand for more/,
      ],
    ] as const) {
      assert.match((await check(text, 'b.yml')).problems[0]?.message ?? '', message, text.slice(0, 40));
    }
  });
});

describe('problems', () => {
  it('are described as compilers do, and foreign text in them cannot drive a terminal', () => {
    const problem = {
      message: 'm',
      pointer: '/a\u001b[2J',
      line: 3,
      column: 4,
      file: 'b.json',
      severity: 'error',
    } as const;
    assert.equal(describeProblem(problem), 'b.json:3:4: m (/a\\u001b[2J)');
    assert.equal(describeProblem({ ...problem, pointer: '' }), 'b.json:3:4: m');
    assert.equal(quoted('a"\\\u202e\u{e0041}'), '"a\\"\\\\\\u202e\\u{e0041}"');
    assert.equal(quoted('x'.repeat(100)), `"${'x'.repeat(60)}…"`);
  });

  it('have JSON Pointers that name any key', () => {
    for (const path of [[], [''], ['a/b', 'm~n', '~1', '__proto__']]) assert.deepEqual(pathOf(pointerOf(path)), path);
    assert.equal(pointerOf(['a/b', '~1']), '/a~1b/~01');
  });
});
