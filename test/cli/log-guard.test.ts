import assert from 'node:assert/strict';
import fc from 'fast-check';
import { audienceOf, logGuard, safeLine, safeText, type Audience } from '../../src/cli/log-guard.js';

function shown(audience: Audience, ...chunks: (string | Uint8Array)[]): string {
  const guard = logGuard(audience);
  return (
    chunks.map((chunk) => guard.push(typeof chunk === 'string' ? Buffer.from(chunk) : chunk)).join('') + guard.end()
  );
}

describe('log guard', () => {
  describe('on a terminal', () => {
    const rows: readonly [string, string, string][] = [
      ['leaves text, tabs and newlines alone', 'a\tb\nc ü 🎉\n', 'a\tb\nc ü 🎉\n'],
      ['shows an escape character instead of obeying it', '\u001b]0;title\u0007', '\\x1b]0;title\\x07'],
      ['shows a cursor movement', 'a\u001b[2Jb', 'a\\x1b[2Jb'],
      ['drops colours', '\u001b[1;31mred\u001b[0m', 'red'],
      ['shows C1 controls', 'a\u009b2Jb', 'a\\x9b2Jb'],
      ['shows backspace, NUL and DEL', 'a\bb\u0000c\u007f', 'a\\x08b\\x00c\\x7f'],
      ['ends a line at a carriage return, so that nothing is overwritten', '10%\r20%\r\ndone\r', '10%\n20%\ndone\n'],
      ['shows what reorders text', 'a\u202eb', 'a\\u202eb'],
      ['does not touch the markers of CI systems', '::x\n##[x]\n', '::x\n##[x]\n'],
    ];
    for (const [title, input, output] of rows) it(title, () => assert.equal(shown('terminal', input), output));

    it('replaces bytes that are no UTF-8', () => {
      assert.equal(shown('terminal', Buffer.from([0x61, 0xff, 0x9b, 0x62])), 'a\ufffd\ufffdb');
    });

    it('puts a character together that was cut between two chunks', () => {
      const bytes = Buffer.from('ü');
      assert.equal(shown('terminal', bytes.subarray(0, 1), bytes.subarray(1)), 'ü');
    });

    it('shows a sequence that never ends', () => assert.equal(shown('terminal', 'a\u001b[1;2'), 'a\\x1b[1;2'));
  });

  describe('in CI', () => {
    const rows: readonly [string, string, string][] = [
      ['puts a space before ::', '::set-output name=a::b\n', ' ::set-output name=a::b\n'],
      [
        'puts a space before ##[ and ##vso[',
        '##[error]x\n##vso[task.complete]y\n',
        ' ##[error]x\n ##vso[task.complete]y\n',
      ],
      ['sees the marker behind blanks', 'x\n \t ::a::b', 'x\n \t  ::a::b'],
      ['sees the marker behind a colour', '\u001b[0m::a::b', ' ::a::b'],
      ['sees the marker inside a colour', ':\u001b[0m:a::b', ' ::a::b'],
      ['sees the marker behind a carriage return', 'x\r::a::b', 'x\n ::a::b'],
      ['sees the marker behind a no-break space', '\u00a0::a::b', '\u00a0 ::a::b'],
      ['shows an invisible character that hides a marker', '##\u00advso[x]', '##\\xadvso[x]'],
      ['leaves :: inside a line alone', 'std::string ##[x', 'std::string ##[x'],
      ['leaves a heading alone', '## Title\n###\n', '## Title\n###\n'],
    ];
    for (const [title, input, output] of rows) it(title, () => assert.equal(shown('ci', input), output));
  });

  describe('where markers are found anywhere in a line', () => {
    it('breaks the marker itself', () => {
      assert.equal(shown('marked', 'x ##vso[a]b ##[c]\n  ::d::e'), 'x ## vso[a]b ## [c]\n  : :d::e');
      assert.equal(shown('marked', '##VSO[a]'), ' ## VSO[a]');
    });
  });

  it('gives the same text however the stream is cut', () => {
    const piece = fc.constantFrom(
      '::',
      ':',
      '#',
      '##',
      '##[',
      'vso[',
      'teamcity[',
      ' ',
      '\n',
      '\r',
      '\u001b',
      '\u001b[0m',
      '[1',
      'm',
      'a',
      'ü',
      '\u00ad',
      '\u009b',
    );
    const audience = fc.constantFrom<Audience>('terminal', 'wrapped', 'ci', 'marked');
    fc.assert(
      fc.property(
        fc.array(piece, { maxLength: 30 }),
        fc.array(fc.nat(80), { maxLength: 8 }),
        audience,
        (pieces, cuts, who) => {
          const bytes = Buffer.from(pieces.join(''));
          const at = [0, ...cuts.map((cut) => Math.min(cut, bytes.length)).sort((a, b) => a - b), bytes.length];
          const chunks = at.slice(1).map((end, index) => bytes.subarray(at[index], end));
          assert.equal(shown(who, ...chunks), shown(who, bytes));
        },
      ),
      { numRuns: 500 },
    );
  });

  it('never lets a control character or a command at the start of a line through in CI', () => {
    const piece = fc.constantFrom(
      '::',
      ':',
      '##',
      '##[',
      '##vso[',
      ' ',
      '\n',
      '\r',
      '\u001b',
      '\u001b[m',
      '\u0085',
      'a',
      '\u200b',
      '\u000b',
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => {
        const text = shown('marked', pieces.join(''));
        assert.doesNotMatch(text, /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/);
        for (const line of text.split('\n')) assert.doesNotMatch(line.trimStart(), /^::|##\[|##vso\[/);
      }),
      { numRuns: 500 },
    );
  });

  it('keeps 16 MiB of ordinary log moving', () => {
    const chunk = Buffer.from('2026-01-01T00:00:00Z step: applying module::resource ## done\n'.repeat(1024));
    const guard = logGuard('ci');
    let size = 0;
    for (let sent = 0; sent < 16 * 1024 * 1024; sent += chunk.length) size += guard.push(chunk).length;
    assert.ok(size + guard.end().length >= 16 * 1024 * 1024);
  });
});

describe('safe texts', () => {
  it('makes one line of anything', () => assert.equal(safeLine('a\nb\r\u001b[31m\u2028'), 'a\\nb\\r\\x1b[31m\\u2028'));

  it('keeps the lines of a sentence of ours and breaks what a runner would obey', () => {
    assert.equal(safeText('error: x\n       ::stop::y', 'marked'), 'error: x\n       : :stop::y');
  });

  it('knows who reads', () => {
    assert.equal(audienceOf({}), 'terminal');
    assert.equal(audienceOf({ CI: 'false' }), 'terminal');
    assert.equal(audienceOf({ CI: 'true' }), 'ci');
    assert.equal(audienceOf({ CI: 'true', GITHUB_ACTIONS: 'true' }), 'marked');
    assert.equal(audienceOf({ TF_BUILD: 'True' }), 'marked');
  });
});
