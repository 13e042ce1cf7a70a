import assert from 'node:assert/strict';
import type { ActionFlags } from '../../src/cli/action-flags.js';
import { settingsOf } from '../../src/cli/settings.js';
import { DEFAULT_SETTINGS } from '../../src/driver/settings.js';
import { CnabError } from '../../src/errors.js';

function refusal(flags: ActionFlags): string {
  try {
    settingsOf(flags);
  } catch (error) {
    assert.ok(error instanceof CnabError, String(error));
    assert.equal(error.code, 'invalid');
    return [error.message, ...error.suggestions].join('\n');
  }
  throw new Error('it was accepted');
}

const MINUTE = 60_000;

describe('the settings of a run', () => {
  it('are the defaults where no flag says anything', () => {
    const { holdTimeMs, outputsVia, sensitiveOutputs } = DEFAULT_SETTINGS;
    assert.deepEqual([holdTimeMs, outputsVia, sensitiveOutputs], [10 * MINUTE, 'auto', 'exec']);
    assert.deepEqual({ ...DEFAULT_SETTINGS, ...settingsOf({}) }, DEFAULT_SETTINGS);
  });

  it('hold outputs for 10 minutes, for an hour where nobody waits, and as long as the flag says in any case', () => {
    assert.equal(settingsOf({ detach: true }).holdTimeMs, 60 * MINUTE);
    assert.equal(settingsOf({ detach: true, 'hold-time': '2m' }).holdTimeMs, 2 * MINUTE);
    assert.equal(settingsOf({ 'hold-time': '3h' }).holdTimeMs, 180 * MINUTE);
  });

  it('tell a grace period that was asked for, even the default one, from one that was not', () => {
    assert.equal(settingsOf({ 'grace-period': '30s' }).gracePeriodGiven, true);
    assert.equal(settingsOf({}).gracePeriodGiven, undefined);
  });

  it('never hold for less than the grace period: a drain gives the run tool no more than the hold time', () => {
    assert.equal(settingsOf({ 'grace-period': '20m' }).holdTimeMs, 20 * MINUTE);
    assert.match(
      refusal({ 'hold-time': '10s' }),
      /^--hold-time 10s is shorter than the grace period of 30s, which .*\nwrite --hold-time 10m/,
    );
    assert.equal(settingsOf({ 'hold-time': '10s', 'grace-period': '10s' }).holdTimeMs, 10_000);
    assert.match(refusal({ 'hold-time': '0', 'grace-period': '0' }), /^--hold-time 0 leaves no time/);
  });

  it('take sizes as people write them', () => {
    const { maxOutputBytes, maxOutputsTotalBytes, maxLogOutputsBytes } = settingsOf({
      'max-output-size': '2GiB',
      'max-outputs-total': '3G',
      'max-log-outputs': '5Mi',
    });
    assert.deepEqual([maxOutputBytes, maxOutputsTotalBytes, maxLogOutputsBytes], [2 * 1024 ** 3, 3e9, 5 * 1024 ** 2]);
  });

  it('have no limit that lets nothing through, and none that another one takes back', () => {
    assert.match(refusal({ 'max-output-size': '0' }), /^--max-output-size 0 would let no output through/);
    assert.match(refusal({ 'max-outputs-total': '0KiB' }), /^--max-outputs-total 0 would let no output through/);
    assert.match(refusal({ 'max-output-size': '5GiB' }), /of 5 GiB is over --max-outputs-total of 4 GiB: raise that/);
    assert.equal(settingsOf({ 'max-outputs-total': '1MiB' }).maxOutputsTotalBytes, 1024 ** 2);
    assert.match(refusal({ 'max-log-outputs': '0', 'outputs-via': 'log' }), /would let no output through/);
    assert.equal(settingsOf({ 'max-log-outputs': '0' }).maxLogOutputsBytes, 0, 'all by exec');
  });

  it('let sensitive outputs travel by exec or by the log, and refuse flags that leave them no way', () => {
    assert.equal(settingsOf({ 'outputs-via': 'log' }).sensitiveOutputs, 'exec');
    assert.equal(settingsOf({ 'outputs-via': 'log', 'sensitive-outputs': 'log' }).sensitiveOutputs, 'log');
    assert.equal(settingsOf({ 'outputs-via': 'exec', 'sensitive-outputs': 'exec' }).outputsVia, 'exec');
    assert.match(refusal({ 'outputs-via': 'log', 'sensitive-outputs': 'exec' }), /contradict each other\n.*leave out/);
  });
});
