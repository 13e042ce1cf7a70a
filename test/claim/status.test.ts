import assert from 'node:assert/strict';
import {
  CUSTOM_KEY,
  type ClaimRecord,
  type Installation,
  type OutputMetadata,
  type Result,
  type Status,
} from '../../src/claim/claim.js';
import {
  exitCodeOf,
  history,
  isAbsent,
  isInstalled,
  isModifying,
  isUninstalled,
  lastEffective,
  lastModifying,
  lastOutputs,
  outputHistory,
  outputsOf,
  statusOf,
  unsettled,
} from '../../src/claim/status.js';
import { BUNDLE, claim, idOf, result } from './samples.js';

let next = 0;
beforeEach(() => (next = 0));

function run(action: string, ...ends: readonly (Status | Partial<Result>)[]): ClaimRecord {
  const id = idOf((next += 1));
  const results = ends.map((end) => {
    const more = typeof end === 'string' ? { status: end } : end;
    return { ...result(idOf((next += 1)), id, 'unknown'), ...more };
  });
  return { claim: claim(id, action), results };
}

function app(...records: readonly ClaimRecord[]): Installation {
  return { name: 'app', records };
}

const exit = (status: Status, exitCode: number): Partial<Result> => ({
  status,
  custom: { [CUSTOM_KEY]: { exitCode } },
});

describe('the state of an installation', () => {
  it('is the last result of the last modifying run', () => {
    const installation = app(run('install', 'running', 'succeeded'), run('logs', 'failed'));
    assert.equal(lastModifying(installation)?.claim.action, 'install');
    assert.equal(statusOf(lastModifying(installation) ?? run('x')), 'succeeded');
    assert.equal(isInstalled(installation), true);
  });

  it('counts the custom actions that the bundle of the claim calls modifying, and no others', () => {
    assert.deepEqual(
      ['install', 'upgrade', 'uninstall', 'migrate', 'logs', 'unknown', 'constructor'].filter((action) =>
        isModifying(claim(idOf(1), action)),
      ),
      ['install', 'upgrade', 'uninstall', 'migrate'],
    );
    assert.equal(isModifying(claim(idOf(1), 'migrate', { bundle: { ...BUNDLE, actions: {} } })), false);
  });

  it('comes from the last run whose run tool was started, and from the last one while none was', () => {
    const never: Partial<Result> = { status: 'failed', custom: { [CUSTOM_KEY]: { ran: 'no' } } };
    const [install, upgrade] = [run('install', 'succeeded'), run('upgrade', never)];
    assert.equal(lastEffective(app(install, upgrade)), install);
    assert.equal(lastEffective(app(upgrade)), upgrade);
  });

  it('is not changed by a claim of ours that was never marked as running; one of another tool may have run', () => {
    const install = run('install', 'succeeded');
    const killed = run('upgrade');
    const ours = { ...killed, claim: { ...killed.claim, custom: { [CUSTOM_KEY]: {} } } };
    assert.equal(isInstalled(app(install, ours)), true);
    assert.equal(isInstalled(app(install, killed)), false);
  });

  it('is absent until a run ends with 0, and after an uninstall that does', () => {
    const absent: readonly (readonly [boolean, ...ClaimRecord[]])[] = [
      [true],
      [true, run('install', 'failed')],
      [true, run('install', 'failed'), run('logs', 'succeeded')],
      [false, run('install', exit('failed', 0)), run('upgrade', 'failed')],
      [false, run('install', 'succeeded'), run('uninstall', 'failed')],
      [true, run('install', 'succeeded'), run('uninstall', 'succeeded'), run('install', 'failed')],
    ];
    for (const [expected, ...records] of absent) assert.equal(isAbsent(app(...records)), expected);
  });

  it('is unknown without results', () => {
    assert.equal(statusOf(run('install')), 'unknown');
    assert.equal(isInstalled(app(run('install'))), false);
  });

  const table: readonly [string, readonly ClaimRecord[] | (() => readonly ClaimRecord[]), boolean, boolean][] = [
    ['nothing', () => [], false, false],
    ['only a non-modifying run', () => [run('logs', 'succeeded')], false, false],
    ['install succeeded', () => [run('install', 'succeeded')], true, false],
    ['install failed', () => [run('install', 'failed')], false, false],
    ['install going on', () => [run('install', 'running')], false, false],
    ['install ended with 0, outputs missing', () => [run('install', exit('failed', 0))], true, false],
    ['install ended with 0, then canceled', () => [run('install', exit('canceled', 0))], true, false],
    ['install ended with 3', () => [run('install', exit('failed', 3))], false, false],
    ['succeeded, yet with an exit code of 1', () => [run('install', exit('succeeded', 1))], false, false],
    ['failed upgrade after install', () => [run('install', 'succeeded'), run('upgrade', 'failed')], false, false],
    ['custom modifying action', () => [run('install', 'failed'), run('migrate', 'succeeded')], true, false],
    ['uninstall succeeded', () => [run('install', 'succeeded'), run('uninstall', 'succeeded')], false, true],
    ['uninstall failed', () => [run('install', 'succeeded'), run('uninstall', 'failed')], false, false],
    ['uninstall ended with 0, outputs missing', () => [run('uninstall', exit('failed', 0))], false, true],
    ['install failed after uninstall', () => [run('uninstall', 'succeeded'), run('install', 'failed')], false, false],
    ['logs after uninstall', () => [run('uninstall', 'succeeded'), run('logs', 'succeeded')], false, true],
  ];
  for (const [title, records, installed, uninstalled] of table) {
    it(`with ${title}: ${installed ? '' : 'not '}installed, ${uninstalled ? '' : 'not '}uninstalled`, () => {
      const installation = app(...(typeof records === 'function' ? records() : records));
      assert.deepEqual([isInstalled(installation), isUninstalled(installation)], [installed, uninstalled]);
    });
  }

  it('has an exit code only where ours is a number', () => {
    for (const custom of [undefined, null, [], 'x', {}, { [CUSTOM_KEY]: null }, { [CUSTOM_KEY]: { exitCode: '0' } }]) {
      assert.equal(
        exitCodeOf({ ...result(idOf(1), idOf(0), 'failed'), ...(custom === undefined ? {} : { custom }) }),
        undefined,
      );
    }
  });
});

describe('an unsettled run', () => {
  it('was begun and has no end', () => {
    assert.equal(unsettled(app(run('install', 'running')))?.claim.action, 'install');
    assert.equal(unsettled(app(run('install', 'pending', 'running')))?.claim.action, 'install');
    assert.equal(unsettled(app(run('logs', 'running')))?.claim.action, 'logs');
  });

  it('is none that ended, nor one that was never begun', () => {
    assert.equal(unsettled(app(run('install', 'running', 'failed'), run('upgrade', 'running', 'unknown'))), undefined);
    assert.equal(unsettled(app(run('install'))), undefined);
    assert.equal(unsettled(app(run('install', 'failed', 'running'))), undefined);
  });

  it('is found behind later runs, the newest first', () => {
    const open = app(run('install', 'running'), run('upgrade', 'running'), run('upgrade', 'succeeded'));
    assert.equal(unsettled(open)?.claim.action, 'upgrade');
    assert.equal(unsettled(app(run('install', 'running'), run('logs', 'succeeded')))?.claim.action, 'install');
  });
});

describe('the outputs of an installation', () => {
  const greeting = { outputs: { greeting: {} } };

  it('are for each name those of the newest result that has it, whatever its status', () => {
    const first = run('install', {
      status: 'succeeded',
      outputs: { greeting: { contentDigest: 'sha256:1' }, key: {} },
    });
    const second = run('upgrade', { status: 'failed', outputs: { greeting: { contentDigest: 'sha256:2' } } });
    const outputs = lastOutputs(app(first, second, run('upgrade', 'failed')));
    assert.deepEqual(
      outputs.map(({ name, claim: { action }, metadata, sensitive }) => [
        name,
        action,
        metadata.contentDigest,
        sensitive,
      ]),
      [
        ['greeting', 'upgrade', 'sha256:2', false],
        ['key', 'install', undefined, true],
      ],
    );
  });

  it('go by result id across claims', () => {
    const late = { ...run('install'), results: [{ ...result(idOf(99), idOf(1), 'succeeded'), ...greeting }] };
    const early = { ...run('upgrade'), results: [{ ...result(idOf(50), idOf(2), 'succeeded'), ...greeting }] };
    assert.equal(lastOutputs(app(late, early))[0]?.result.id, idOf(99));
    assert.deepEqual(
      outputHistory(app(early, late), 'greeting').map((output) => output.result.id),
      [idOf(99), idOf(50)],
    );
  });

  it('are sensitive by the bundle that produced them, though a newer one has dropped them', () => {
    const old = run('install', { status: 'succeeded', outputs: { key: {} } });
    const now: ClaimRecord = { claim: claim(idOf(50), 'upgrade', { bundle: { ...BUNDLE, outputs: {} } }), results: [] };
    assert.equal(lastOutputs(app(old, now))[0]?.sensitive, true);
  });

  it('are not sensitive where no bundle declares them, whatever their name', () => {
    const odd = run('install', {
      status: 'succeeded',
      outputs: JSON.parse('{"__proto__":{},"constructor":{}}') as Record<string, OutputMetadata>,
    });
    assert.deepEqual(
      lastOutputs(app(odd)).map(({ name, sensitive }) => [name, sensitive]),
      [
        ['__proto__', false],
        ['constructor', false],
      ],
    );
  });

  it('of one run are those of that run', () => {
    const record = run('install', { status: 'running' }, { status: 'succeeded', ...greeting });
    assert.deepEqual(
      outputsOf(record).map(({ name }) => name),
      ['greeting'],
    );
  });
});

describe('the history of an installation', () => {
  it('lists every run, oldest first, with how and when it ended', () => {
    const installation = app(
      run('install', 'running', { ...exit('failed', 3), message: 'no', created: '2026-01-01T00:00:00Z' }),
      run('logs', 'running'),
      run('upgrade'),
    );
    assert.deepEqual(
      history(installation).map(({ claim: { action }, ...entry }) => ({ action, ...entry })),
      [
        {
          action: 'install',
          status: 'failed',
          modifying: true,
          exitCode: 3,
          message: 'no',
          ended: '2026-01-01T00:00:00Z',
        },
        { action: 'logs', status: 'running', modifying: false },
        { action: 'upgrade', status: 'unknown', modifying: true },
      ],
    );
  });
});
