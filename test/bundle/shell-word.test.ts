import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { shellWord } from '../../src/bundle/shell-word.js';

describe('a word for a shell', () => {
  it('comes back from a real one as it was, and runs nothing', () => {
    for (const word of ['', 'plain-1.0/x', 'two words', "it's", '$(id)', '`id`; rm -rf /', 'a\nb', '-n', '"', 'é'])
      assert.equal(execFileSync('sh', ['-c', `printf '%s' ${shellWord(word)}`], { encoding: 'utf8' }), word);
  });

  it('that needs no quotes has none', () => {
    assert.equal(shellWord('token=env:TOKEN'), 'token=env:TOKEN');
  });
});
