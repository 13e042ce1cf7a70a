import assert from 'node:assert/strict';
import { checkInstallationName, nameProblem } from '../../src/bundle/names.js';
import { CnabError } from '../../src/errors.js';

describe('names', () => {
  it('may be of any graphic characters: dots, slashes, spaces, any script', () => {
    for (const name of ['app', 'io.cnab.app', 'dev/app', '..', 'übung 2', '应用', '🚀', '-x', 'a'.repeat(255)]) {
      assert.equal(nameProblem(name), undefined, name);
      checkInstallationName(name);
    }
  });

  it('may not be empty, too long, or hold what cannot be seen', () => {
    const cases: [string, RegExp][] = [
      ['', /"" is empty: give it at least one character\.$/],
      ['a'.repeat(256), /has 256 characters: shorten it to at most 255\.$/],
      ['a\tb', /"a\\u0009b" holds U\+0009, which is no visible character or space/],
      ['a\nb', /holds U\+000A/],
      ['\u202Egnp.exe', /"\\u202egnp\.exe" holds U\+202E/],
      ['\u{E0041}', /holds U\+E0041/],
      ['\uD800', /"\\ud800" holds U\+D800/],
      ['\u2028', /holds U\+2028/],
    ];
    for (const [name, message] of cases) {
      assert.throws(
        () => checkInstallationName(name),
        (error) => error instanceof CnabError && error.code === 'invalid' && message.test(error.message),
        name,
      );
    }
  });
});
