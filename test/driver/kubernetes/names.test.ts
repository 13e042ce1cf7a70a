import assert from 'node:assert/strict';
import fc from 'fast-check';
import { jobName, labelProblem, labelValue, secretName } from '../../../src/driver/kubernetes/names.js';

const runId = '01JD0Z4KX2Y3M5N7P9QRSTVWXY';

describe('names of a run', () => {
  it('a Job is named after action, installation and run id', () => {
    assert.equal(
      jobName({ runId, action: 'install', installation: 'My App' }),
      'cnab-install-my-app-01jd0z4kx2y3m5n7p9qrstvwxy',
    );
  });

  it('a name without a single letter leaves no empty part', () => {
    assert.equal(jobName({ runId, action: '日本', installation: '✨' }), 'cnab-01jd0z4kx2y3m5n7p9qrstvwxy');
  });

  it('every action and installation gives a DNS label of at most 63 characters that ends in the run id', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'grapheme', maxLength: 300 }),
        fc.string({ unit: 'grapheme', maxLength: 300 }),
        (action, installation) => {
          const name = jobName({ runId, action, installation });
          assert.match(name, /^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/);
          assert.ok(name.length <= 63, name);
          assert.ok(name.endsWith(`-${runId.toLowerCase()}`));
        },
      ),
    );
  });

  it('further Secrets are numbered from 2', () => {
    assert.deepEqual([secretName('job', 0), secretName('job', 1)], ['job', 'job-2']);
  });

  it('a label holds the installation itself where it can and else a hash of it', () => {
    assert.equal(labelValue('app-1'), 'app-1');
    assert.match(labelValue('My App'), /^sha256-[0-9a-f]{40}$/);
    assert.match(labelValue('a'.repeat(64)), /^sha256-[0-9a-f]{40}$/);
    assert.notEqual(labelValue('My App'), labelValue('my app'));
  });

  it('labels that would hide a run, that are reserved or malformed are refused', () => {
    assert.equal(labelProblem('team', 'payments'), undefined);
    assert.equal(labelProblem('example.com/team', ''), undefined);
    for (const [key, value] of [
      ['cnab.io/run', 'x'],
      ['batch.kubernetes.io/job-name', 'x'],
      ['a b', 'x'],
      ['', 'x'],
      ['Example.com/x', 'x'],
      ['team', 'a b'],
      ['team', 'x'.repeat(64)],
    ] as const) {
      assert.notEqual(labelProblem(key, value), undefined, `${key}=${value}`);
    }
  });
});
