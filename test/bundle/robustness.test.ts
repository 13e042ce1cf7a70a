import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import type { Definition, JsonObject } from '../../src/bundle/bundle.js';
import { checkDefinitions } from '../../src/bundle/definition-check.js';
import { describeProblem } from '../../src/bundle/problem.js';
import { validateBundle, type BundleVerdict } from '../../src/bundle/validate.js';
import { loadOwnSchemas } from '../../src/bundle/own-schemas.js';
import { loadAjv } from '../../src/bundle/validators.js';

const BASE = { schemaVersion: 'v1.2.0', name: 'x', version: '1.0.0', invocationImages: [{ image: 'a/b:1' }] };

/** A bundle with something of every kind, multi-byte characters among it. */
const EVERYTHING = {
  ...BASE,
  description: 'ünïcödé 🚀 \\ "quoted" \u0001',
  definitions: {
    port: { type: 'integer', default: 80.5e1 },
    any: true,
    text: { type: ['string', 'null'], pattern: '^\\_a' },
  },
  parameters: { port: { definition: 'port', destination: { env: 'PORT', path: '/etc/port' }, required: true } },
  credentials: { token: { env: 'TOKEN', applyTo: ['install'] } },
  outputs: { log: { definition: 'text', path: '/cnab/app/outputs/a/b' } },
  actions: { 'io.cnab.help': { stateless: true } },
  requiredExtensions: ['a.b'],
  custom: { 'a.b': [null, false, -0.1, {}] },
};

function assertReported(verdict: BundleVerdict, text: string): void {
  assert.ok(verdict.problems.length > 0, `nothing was said of ${text.slice(0, 200)}`);
  for (const problem of verdict.problems) {
    assert.ok(problem.line >= 1 && problem.column >= 1);
    assert.match(describeProblem(problem), /^b\.json:\d+:\d+: .+$/);
  }
}

describe('bundles that are damaged or hostile', function () {
  this.timeout(180_000);
  it('cut off at any byte end in a reported problem', async () => {
    const whole = Buffer.from(JSON.stringify(EVERYTHING, null, 1));
    assert.deepEqual((await validateBundle(whole, 'b.json')).problems, []);
    for (let length = 0; length < whole.length; length++) {
      assertReported(await validateBundle(whole.subarray(0, length), 'b.json'), `the first ${length} bytes`);
    }
  });

  it('with any byte changed are accepted or end in a reported problem', async () => {
    const whole = Buffer.from(JSON.stringify(EVERYTHING));
    await fc.assert(
      fc.asyncProperty(fc.nat(whole.length - 1), fc.nat(255), async (at, byte) => {
        const changed = Buffer.from(whole);
        changed[at] = byte;
        const verdict = await validateBundle(changed, 'b.json');
        if (verdict.bundle === undefined) assertReported(verdict, changed.toString('latin1'));
      }),
      { numRuns: 100 },
    );
  });

  it('with any JSON in any field, or any bytes at all, are accepted or end in a reported problem', async () => {
    const field = fc.constantFrom(...Object.keys(EVERYTHING));
    await fc.assert(
      fc.asyncProperty(field, fc.option(fc.string()), fc.jsonValue(), async (key, inner, value) => {
        const text = JSON.stringify({ ...EVERYTHING, [key]: inner === null ? value : { [inner]: value } });
        const verdict = await validateBundle(Buffer.from(text), 'b.json');
        if (verdict.bundle === undefined) assertReported(verdict, text);
      }),
      { numRuns: 100 },
    );
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 200 }), async (bytes) => {
        assertReported(await validateBundle(bytes, 'b.json'), Buffer.from(bytes).toString('latin1'));
        await validateBundle(bytes, 'b.yaml');
      }),
    );
  });

  it('nested 100,000 deep are refused where the nesting gets too deep', async () => {
    for (const text of [
      '['.repeat(100_000) + ']'.repeat(100_000),
      '{"a":'.repeat(100_000),
      '{"a":"\n'.repeat(100_000),
    ]) {
      const verdict = await validateBundle(Buffer.from(text), 'b.json');
      assertReported(verdict, text);
    }
    const { problems } = await validateBundle(Buffer.from(`${'['.repeat(300)}${']'.repeat(300)}`), 'b.json');
    assert.equal(problems[0]?.column, 257);
    assert.match(problems[0]?.message ?? '', /nested more than 256 levels deep here/);
  });

  it('do not keep the checker busy: patterns that never end, references that double or go round', async () => {
    const validators = { ...(await loadAjv()), ...(await loadOwnSchemas({ allErrors: true })) };
    const doubling = Array.from({ length: 40 }, (_, n): [string, JsonObject] => {
      const next = { $ref: `#/definitions/n${n + 1}` };
      return [`n${n}`, { allOf: [next, next] }];
    });
    const hostile: Record<'pattern' | 'doubling' | 'circle', Definition> = {
      pattern: { type: 'string', pattern: '^(a+)+$', default: `${'a'.repeat(60)}b` },
      doubling: {
        $ref: '#/definitions/n0',
        default: 1,
        definitions: Object.fromEntries([...doubling, ['n40', { type: 'integer' }]]),
      },
      circle: { allOf: [{ $ref: '#' }], default: 1 },
    };
    const users = new Map(Object.keys(hostile).map((name) => [name, `output "${name}"`]));
    // Only what never ends is given little time: how long the rest takes is the machine's affair.
    const { circle, ...endless } = hostile;
    const findings = [
      ...checkDefinitions(Object.entries(endless), users, validators, { each: 100, all: 10_000 }),
      ...checkDefinitions([['circle', circle]], users, validators, { each: 10_000, all: 10_000 }),
    ];
    assert.deepEqual(
      findings.map(({ message }) => message),
      [
        'definition "pattern" cannot be checked: it takes too long, simplify its patterns and references',
        'definition "doubling" cannot be checked: it takes too long, simplify its patterns and references',
        'definition "circle" cannot be checked: it refers to itself without end',
      ],
    );
    const all = checkDefinitions(
      [
        ['a', hostile.pattern],
        ['b', hostile.pattern],
        ['c', true],
      ],
      new Map(),
      validators,
      { each: 100, all: 150 },
    );
    assert.match(all.at(-1)?.message ?? '', /^definition "c" was not checked: the ones before it took too long$/);
  });

  it('with thousands of values for one place are still checked quickly', async () => {
    const parameters = Object.fromEntries(
      Array.from({ length: 5_000 }, (_, n) => [
        `p${n}`,
        { definition: 's', destination: { env: 'X', path: '/a/b' }, applyTo: [`a${n}`] },
      ]),
    );
    const verdict = await validateBundle(
      Buffer.from(JSON.stringify({ ...BASE, definitions: { s: true }, parameters })),
      'b.json',
    );
    assert.deepEqual(verdict.problems, []);
  });

  it('of very many values report the first problem and say that there may be more', async () => {
    const { problems } = await validateBundle(Buffer.from(`{"keywords":[${'1,'.repeat(150_000)}1]}`), 'b.json');
    assert.equal(problems.length, 1);
    assert.match(problems[0]?.message ?? '', /; the document is too large to look for more$/);
  });

  it('keep __proto__ and constructor as ordinary names', async () => {
    const source = readFileSync(new URL('../fixtures/bundles/names-of-javascript.json', import.meta.url));
    const { bundle } = await validateBundle(source, 'b.json');
    assert.deepEqual(Object.keys(bundle?.parameters ?? {}), ['__proto__', 'toString']);
    assert.equal(({} as Record<string, unknown>)['type'], undefined);
  });
});
