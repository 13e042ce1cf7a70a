import assert from 'node:assert/strict';
import type { Bundle } from '../../src/bundle/bundle.js';
import type { OperationResult } from '../../src/driver/driver.js';
import type { FakeRun } from '../helpers/fake-driver.js';
import { APP, loaded, Stage, text } from './stage.js';

const NEVER_RAN: Partial<OperationResult> = { status: 'failed', ran: 'no', exitCode: undefined as never };

/** APP without what these runs would have to give, its region fixed at install. */
const REGION: Bundle = {
  ...APP,
  credentials: {},
  outputs: {},
  definitions: { ...APP.definitions, region: { type: 'string', readOnly: true, default: 'eu' } },
  parameters: { ...APP.parameters, region: { definition: 'region', destination: { env: 'REGION' }, applyTo: [] } },
};

describe('what a later run takes from earlier ones', () => {
  let stage: Stage;
  beforeEach(async () => (stage = await Stage.create()));
  afterEach(async () => stage.remove());

  /** The environment that the next run got. */
  async function environment(
    action: string,
    changes: Parameters<Stage['run']>[2] = {},
    end: Partial<OperationResult> = {},
  ): Promise<Record<string, string>> {
    let seen: FakeRun['operation'] | undefined;
    await stage.run(
      action,
      ({ operation }) => {
        seen = operation;
        return Promise.resolve(end);
      },
      changes,
    );
    return Object.fromEntries(
      (seen?.environment ?? []).map(({ name, value }) => [name, Buffer.from(value).toString()]),
    );
  }

  it('is what the user set, along a chain of runs that it did not concern, and never a default', async () => {
    const scoped: Bundle = {
      ...REGION,
      parameters: {
        ...REGION.parameters,
        greeting: { definition: 'text', destination: { env: 'GREETING' }, applyTo: ['install', 'upgrade'] },
      },
    };
    await environment('install', { bundle: loaded(scoped), parameters: [text('greeting', 'hi')] });
    assert.equal((await environment('rotate'))['GREETING'], undefined);
    const newer = { ...scoped, definitions: { ...scoped.definitions, port: { type: 'integer', default: 8080 } } };
    const seen = await environment('upgrade', { bundle: loaded(newer) });
    assert.deepEqual([seen['GREETING'], seen['PORT']], ['hi', '8080']);
    assert.deepEqual(stage.starts.at(-1)?.kept?.parameters, ['greeting']);
  });

  it('is told by name only as far as nothing given now is in its place', async () => {
    const mapping = (host: string) => ({ 'registry.example/app:1.0.0': `${host}.example/app:1` });
    const chosen = { credentialSets: ['prod'], serviceAccount: 'deployer', relocation: mapping('near') };
    await environment('install', { bundle: loaded(REGION), parameters: [text('greeting', 'hi')], choices: chosen });
    await environment('upgrade', { choices: { credentialSets: ['./other.yaml'] } });
    const { serviceAccount, relocation } = chosen;
    assert.deepEqual(stage.starts.at(-1)?.kept?.choices, { credentialSets: [], serviceAccount, relocation });
    const others = { credentialSets: ['x'], serviceAccount: 'y', relocation: mapping('far') };
    await environment('upgrade', { choices: others, parameters: [text('greeting', 'ho')] });
    assert.equal(stage.starts.at(-1)?.kept, undefined);
    await environment('upgrade');
    assert.deepEqual(stage.starts.at(-1)?.kept?.choices, others);
  });

  it('is for a readOnly parameter the default of the install, also when a run came between that it did not concern', async () => {
    const scoped: Bundle = {
      ...REGION,
      parameters: {
        region: { definition: 'region', destination: { env: 'REGION' }, applyTo: ['install', 'upgrade'] },
      },
    };
    await environment('install', { bundle: loaded(scoped) });
    await environment('rotate');
    const newer: Bundle = {
      ...scoped,
      definitions: { ...scoped.definitions, region: { type: 'string', readOnly: true, default: 'us' } },
    };
    assert.equal((await environment('upgrade', { bundle: loaded(newer) }))['REGION'], 'eu');
  });

  it('is set anew by a second install, readOnly or not', async () => {
    await environment('install', { bundle: loaded(REGION) });
    const again = { bundle: loaded(REGION), force: true, parameters: [text('region', 'us')] };
    assert.equal((await environment('install', again))['REGION'], 'us');
    assert.equal((await environment('upgrade', { parameters: [text('region', 'asia')] }))['REGION'], 'us');
  });

  it('is nothing of an upgrade that never started: the bundle that is installed is uninstalled', async () => {
    await environment('install', { bundle: loaded(REGION) });
    const newer: Bundle = { ...REGION, version: '2.0.0' };
    await environment('upgrade', { bundle: loaded(newer), parameters: [text('greeting', 'v2')] }, NEVER_RAN);
    const seen = await environment('uninstall');
    assert.deepEqual([seen['CNAB_BUNDLE_VERSION'], seen['GREETING']], ['1.0.0', '']);
  });

  it('is the bundle of a failed run that did start', async () => {
    await environment('install', { bundle: loaded(REGION) });
    await environment(
      'upgrade',
      { bundle: loaded({ ...REGION, version: '2.0.0' }) },
      { status: 'failed', exitCode: 1 },
    );
    assert.equal((await environment('uninstall'))['CNAB_BUNDLE_VERSION'], '2.0.0');
  });

  it('makes of upgrade --install an install until one has ended with 0', async () => {
    const either = { bundle: loaded(REGION), installIfAbsent: true };
    assert.equal((await environment('upgrade', either, NEVER_RAN))['CNAB_ACTION'], 'install');
    assert.equal((await environment('upgrade', either, { status: 'failed', exitCode: 1 }))['CNAB_ACTION'], 'install');
    assert.equal((await environment('upgrade', either))['CNAB_ACTION'], 'install');
    assert.equal((await environment('upgrade', either, { status: 'failed', exitCode: 1 }))['CNAB_ACTION'], 'upgrade');
    assert.equal((await environment('upgrade', either))['CNAB_ACTION'], 'upgrade');
  });
});
