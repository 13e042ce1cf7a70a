import assert from 'node:assert/strict';
import fc from 'fast-check';
import {
  environmentProblems,
  environmentWarnings,
  withoutExpansion,
} from '../../../src/driver/kubernetes/environment.js';

const variable = (name: string, value: string | Uint8Array = 'x') => ({
  name,
  value: typeof value === 'string' ? Buffer.from(value) : value,
  source: 'parameter "p"',
});

describe('the environment of the invocation', () => {
  it('takes any printable ASCII name and any UTF-8 value', () => {
    assert.deepEqual(environmentProblems([variable('A'), variable('my.var', 'ü$(A)\n"'), variable('1 x', '')]), []);
  });

  for (const [what, given] of [
    ['no name', variable('')],
    ['"="', variable('A=B')],
    ['non-ASCII', variable('Ä')],
    ['control', variable('A\nB')],
    ['NUL', variable('A', 'a\0b')],
    ['not UTF-8', variable('A', Uint8Array.of(0xff, 0xfe))],
    ['not UTF-8', variable('A', Uint8Array.of(0xed, 0xa0, 0x80))],
    ['131072 bytes', variable('A', 'x'.repeat(131_070))],
  ] as const) {
    it(`refuses: ${what}`, () => {
      const problems = environmentProblems([given]);
      assert.equal(problems.length, 1);
      assert.ok(problems[0]?.includes(what) && problems[0].startsWith('parameter "p": '), problems[0]);
    });
  }

  it('takes 131,071 bytes with the name, as Linux does', () => {
    assert.deepEqual(environmentProblems([variable('A', 'x'.repeat(131_069))]), []);
  });

  it('refuses the same name twice, and more than Linux takes in total', () => {
    assert.equal(environmentProblems([variable('A'), variable('A')]).length, 1);
    const many = Array.from({ length: 20 }, (_, index) => variable(`V${index}`, 'x'.repeat(100_000)));
    assert.match(environmentProblems(many).join('\n'), /in total|would have 2000/);
  });

  it('never shows a value', () => {
    const secret = 's3cr3t';
    const problems = environmentProblems([
      variable('A B=', `${secret}\0`),
      variable('A', `${secret}\0${'x'.repeat(140_000)}`),
    ]);
    assert.ok(!problems.join('\n').includes(secret));
  });

  it('warns of names that a shell drops', () => {
    assert.equal(environmentWarnings([variable('my.var'), variable('OK_1'), variable('1x')]).length, 2);
  });
});

/** Kubernetes' own expansion (k8s.io/kubernetes third_party/forked/golang/expansion), with no variable defined. */
function expand(text: string): string {
  let out = '';
  for (let at = 0; at < text.length; at += 1) {
    if (text[at] !== '$' || at + 1 >= text.length) {
      out += text[at];
    } else if (text[at + 1] === '$') {
      out += '$';
      at += 1;
    } else if (text[at + 1] === '(' && text.includes(')', at)) {
      const end = text.indexOf(')', at);
      out += '<expanded>';
      at = end;
    } else {
      out += '$';
    }
  }
  return out;
}

describe('text that Kubernetes expands', () => {
  it('arrives as it was, whatever dollars and parentheses it holds', () => {
    const text = fc.string({ unit: fc.constantFrom('$', '(', ')', 'a', ' ') });
    fc.assert(fc.property(text, (given) => assert.equal(expand(withoutExpansion(given)), given)));
  });

  it('keeps a shell script readable', () => {
    assert.equal(withoutExpansion('echo "$A" $(date) $$'), 'echo "$A" $$(date) $$$$');
  });
});
