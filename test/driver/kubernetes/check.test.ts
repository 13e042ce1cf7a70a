import assert from 'node:assert/strict';
import { checkOperation } from '../../../src/driver/kubernetes/check.js';
import type { Operation } from '../../../src/driver/driver.js';
import { DEFAULT_SETTINGS, type DriverSettings } from '../../../src/driver/settings.js';
import { CnabError } from '../../../src/errors.js';
import { inputFile, operation } from '../../helpers/operation.js';

function refusal(given: Partial<Operation>, settings: Partial<DriverSettings> = {}): CnabError {
  try {
    checkOperation(operation(given), { ...DEFAULT_SETTINGS, ...settings });
  } catch (error) {
    assert.ok(error instanceof CnabError, String(error));
    assert.equal(error.code, 'invalid');
    return error;
  }
  return assert.fail('was not refused');
}

describe('what a Job cannot carry', () => {
  it('an ordinary operation can be carried', () => {
    checkOperation(operation(), DEFAULT_SETTINGS);
  });

  it('all problems are told at once', () => {
    const error = refusal({
      files: [inputFile('/proc/a', ''), inputFile('relative', '')],
      environment: [{ name: 'A=B', value: Buffer.from(''), source: 'parameter "a"' }],
    });
    assert.equal(error.details.length, 3);
    assert.match(error.message, /for 3 reasons/);
  });

  it('one problem is one sentence', () => {
    const error = refusal({ files: [inputFile('/proc/a', '')] });
    assert.deepEqual(error.details, []);
    assert.match(error.message, /parameter "\/proc\/a": the path "\/proc\/a" belongs to the kernel/);
  });

  for (const [what, settings] of [
    ['a label that hides the run', { labels: { 'cnab.io/run': 'x' } }],
    ['a shell image that is none', { shellImage: 'busy box' }],
    ['a pull secret that is none', { imagePullSecrets: ['A_B'] }],
    ['a user id that is none', { runAsUser: -1 }],
  ] as const) {
    it(`settings with ${what} are refused`, () => {
      assert.match(refusal({}, settings).message, /settings/);
    });
  }

  it('a service account that cannot be one is refused', () => {
    assert.match(refusal({ serviceAccount: 'a b' }).message, /service account/);
  });
});
