import assert from 'node:assert/strict';
import { checkOperation } from '../../../src/driver/kubernetes/check.js';
import {
  asksForExec,
  chooseWay,
  expectedWay,
  outputLimits,
  type ExecRight,
} from '../../../src/driver/kubernetes/way.js';
import type { Way } from '../../../src/frame/delivery.js';
import type { WantedOutput } from '../../../src/driver/driver.js';
import { DEFAULT_SETTINGS, type DriverSettings } from '../../../src/driver/settings.js';
import { CnabError } from '../../../src/errors.js';
import { operation } from '../../helpers/operation.js';

const PLAIN: WantedOutput = { name: 'greeting', path: '/cnab/app/outputs/greeting', sensitive: false };
const SENSITIVE: WantedOutput = { name: 'key', path: '/cnab/app/outputs/key', sensitive: true };
const ALLOWED: ExecRight = { mayExec: true, namespace: 'apps', user: 'alice' };
const DENIED: ExecRight = { ...ALLOWED, mayExec: false };

function way(given: Partial<DriverSettings>, right: ExecRight, outputs: readonly WantedOutput[] = [PLAIN]): Way {
  return chooseWay({ outputs }, { ...DEFAULT_SETTINGS, ...given }, right);
}

function refusal(run: () => unknown): CnabError {
  let thrown: unknown;
  try {
    run();
  } catch (error) {
    thrown = error;
  }
  assert.ok(thrown instanceof CnabError, 'it was not refused');
  return thrown;
}

describe('the way of outputs', () => {
  it('is exec where it may be, else the log, and says how much the log may carry', () => {
    const maxLogBytes = DEFAULT_SETTINGS.maxLogOutputsBytes;
    assert.deepEqual(way({}, ALLOWED), { via: 'exec', maxLogBytes, inLog: 'not-sensitive' });
    assert.deepEqual(way({}, DENIED), { via: 'log', maxLogBytes, inLog: 'not-sensitive' });
    assert.deepEqual(way({ maxLogOutputsBytes: 7 }, DENIED).maxLogBytes, 7);
  });

  it('is never exec with --outputs-via log, and the cluster is not asked', () => {
    const settings = { ...DEFAULT_SETTINGS, outputsVia: 'log' as const };
    assert.equal(way(settings, ALLOWED).via, 'log');
    assert.equal(asksForExec({ outputs: [PLAIN] }, settings), false);
    assert.equal(asksForExec({ outputs: [PLAIN] }, DEFAULT_SETTINGS), true);
    assert.equal(asksForExec({ outputs: [] }, DEFAULT_SETTINGS), false);
  });

  it('with --outputs-via exec and without the right the run is refused, with what to do', () => {
    const error = refusal(() => way({ outputsVia: 'exec' }, DENIED));
    assert.equal(error.code, 'unavailable');
    assert.equal(
      error.message,
      'user "alice" may not get and create pods/exec in namespace apps, and --outputs-via exec needs it, so nothing was run',
    );
    assert.match(error.suggestions.join('\n'), /Role in namespace apps must allow: get and create on pods\/exec/);
    assert.match(error.suggestions.join('\n'), /--outputs-via auto/);
    assert.equal(way({ outputsVia: 'exec' }, DENIED, []).via, 'log');
  });

  it('a sensitive output without the right is refused by its name, with the Role and the flag', () => {
    const error = refusal(() => way({}, DENIED, [PLAIN, SENSITIVE]));
    assert.equal(error.code, 'unavailable');
    assert.match(error.message, /^the sensitive output "key" cannot be collected: user "alice" may not get and create/);
    assert.match(error.message, /nothing was run$/);
    assert.match(error.suggestions.join('\n'), /get and create on pods\/exec[\s\S]*--sensitive-outputs log/);
    assert.ok(!error.message.includes('greeting'));
  });

  it('a sensitive output with --outputs-via log is refused before the cluster is asked', () => {
    const settings = { ...DEFAULT_SETTINGS, outputsVia: 'log' as const };
    for (const run of [
      () => expectedWay({ outputs: [SENSITIVE] }, settings),
      () => checkOperation(operation({ outputs: [SENSITIVE] }), settings),
    ]) {
      const error = refusal(run);
      assert.equal(error.code, 'invalid');
      assert.match(error.message, /^the sensitive output "key" cannot be collected: --outputs-via log /);
      assert.match(error.suggestions.join('\n'), /--sensitive-outputs log/);
    }
    checkOperation(operation({ outputs: [SENSITIVE] }), DEFAULT_SETTINGS);
  });

  it('a sensitive output goes by the log where the user said so', () => {
    const settings = { sensitiveOutputs: 'log' as const };
    assert.deepEqual(
      [way(settings, DENIED, [SENSITIVE])].map(({ via, inLog }) => [via, inLog]),
      [['log', 'all']],
    );
    assert.equal(way({ ...settings, outputsVia: 'log' }, DENIED, [SENSITIVE]).inLog, 'all');
  });
});

describe('limits of outputs', () => {
  const settings = { maxOutputBytes: 100, maxOutputsTotalBytes: 300 };

  it('by the log they are those of the log, and the advice names the flag that counts', () => {
    const limits = outputLimits(settings, { via: 'log', maxLogBytes: 200, inLog: 'all' });
    assert.deepEqual([limits.maxOutputBytes, limits.maxTotalBytes], [100, 200]);
    assert.match(limits.advice?.output ?? '', /--max-output-size/);
    assert.match(limits.advice?.total ?? '', /--max-log-outputs.*pods\/exec/);
    const wide = outputLimits(settings, { via: 'log', maxLogBytes: 400, inLog: 'all' });
    assert.equal(wide.maxTotalBytes, 300);
    assert.match(wide.advice?.total ?? '', /--max-outputs-total/);
  });

  it('by exec the log does not count', () => {
    const limits = outputLimits(settings, { via: 'exec', maxLogBytes: 200, inLog: 'all' });
    assert.equal(limits.maxTotalBytes, 300);
    assert.match(limits.advice?.total ?? '', /--max-outputs-total/);
  });
});
