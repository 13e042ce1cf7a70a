import assert from 'node:assert/strict';
import { planAction } from '../../src/action/plan-action.js';
import { resumeAction } from '../../src/action/resume-action.js';
import { parameterSecrets } from '../../src/action/secrets.js';
import type { Bundle, Json } from '../../src/bundle/bundle.js';
import { CUSTOM_KEY } from '../../src/claim/claim.js';
import { isSensitiveParameter } from '../../src/claim/status.js';
import { FakeDriver, type FakeRun } from '../helpers/fake-driver.js';
import { APP, elsewhere, loaded, never, Stage, text } from './stage.js';

const SECRET = 's3cr3t-value';

/** One parameter that is a secret by `definition`, in the forms that a later version may give it. */
function bundle(definition: Record<string, Json>, scope: readonly string[] = []): Bundle {
  return {
    ...APP,
    ...{ credentials: {}, outputs: {} },
    definitions: { token: { type: 'string', ...definition } },
    parameters: { api_token: { definition: 'token', destination: { env: 'TOKEN' }, applyTo: scope } },
  };
}

const WRITE_ONLY = loaded(bundle({ writeOnly: true }));
const PUBLIC = loaded({ ...bundle({}), version: '2.0.0' });
const PUBLIC_FIXED = loaded({ ...bundle({ readOnly: true }), version: '2.0.0' });
const given = [text('api_token', SECRET)];

describe('a secret parameter that a later bundle version no longer calls a secret', () => {
  let stage: Stage;
  beforeEach(async () => (stage = await Stage.create()));
  afterEach(async () => stage.remove());

  const printing = async (run: FakeRun): Promise<void> => {
    const token = run.operation.environment.find(({ name }) => name === 'TOKEN');
    await run.log(`token ${Buffer.from(token?.value ?? '').toString()}\n`);
  };

  /** What the next run's claim holds as sensitive, what its log shows, and what `--dry-run` says before. */
  async function upgraded(changes: Parameters<Stage['run']>[2] = {}): Promise<{ sensitive: boolean; log: string }> {
    const request = {
      ...{ action: 'upgrade', installation: 'app', parameters: [], choices: { credentialSets: [] }, reset: false },
      ...{ force: false, installIfAbsent: false, deleteRecord: false, ignoreRequiredExtensions: false },
      credentials: () => () => Promise.resolve(new Map<string, Uint8Array>()),
      ...changes,
    };
    const planned = await planAction(request, stage.context(never));
    const [applied] = planned.parameters.applied;
    stage.log = '';
    await stage.run('upgrade', printing, changes);
    const { claim } = await stage.last();
    const sensitive = isSensitiveParameter(claim, 'api_token');
    assert.equal(applied?.sensitive, sensitive, 'the preview differs from the run');
    assert.equal(parameterSecrets(claim).length > 0, sensitive);
    return { sensitive, log: stage.log };
  }

  const masked = { sensitive: true, log: 'token ******\n' };
  const shown = (value: string) => ({ sensitive: false, log: `token ${value}\n` });

  it('stays one while its value is kept, along a chain of such versions', async () => {
    await stage.run('install', printing, { bundle: WRITE_ONLY, parameters: given });
    for (const next of [PUBLIC, PUBLIC, loaded({ ...PUBLIC.bundle, version: '3.0.0' })])
      assert.deepEqual(await upgraded({ bundle: next }), masked);
    assert.deepEqual(await upgraded(), masked);
  });

  it('stays one as the installed value of a parameter that is readOnly now, given anew or not, and after --reset', async () => {
    await stage.run('install', printing, { bundle: WRITE_ONLY, parameters: given });
    assert.deepEqual(await upgraded({ bundle: PUBLIC_FIXED }), masked);
    assert.deepEqual(await upgraded({ bundle: PUBLIC_FIXED, parameters: [text('api_token', 'other')] }), masked);
    assert.deepEqual(await upgraded({ bundle: PUBLIC_FIXED, reset: true }), masked);
  });

  it('stays one over runs that it does not apply to', async () => {
    await stage.run('install', printing, { bundle: WRITE_ONLY, parameters: given });
    const between = loaded({ ...bundle({}, ['install']), version: '2.0.0' });
    await stage.run('upgrade', printing, { bundle: between });
    assert.equal((await stage.last()).claim.parameters?.['api_token'], undefined);
    assert.deepEqual(await upgraded({ bundle: PUBLIC }), masked);
  });

  it('stays one when the same value is given again', async () => {
    await stage.run('install', printing, { bundle: WRITE_ONLY, parameters: given });
    assert.deepEqual(await upgraded({ bundle: PUBLIC, parameters: given }), masked);
    const typed = [{ name: 'api_token', value: { kind: 'typed', json: SECRET }, from: 'params.yaml' }] as const;
    assert.deepEqual(await upgraded({ bundle: PUBLIC, parameters: typed }), masked);
  });

  it('is what the new version calls it once another value is given, or nothing is kept', async () => {
    await stage.run('install', printing, { bundle: WRITE_ONLY, parameters: given });
    const other = [text('api_token', 'nobody-minds')];
    assert.deepEqual(await upgraded({ bundle: PUBLIC, parameters: other }), shown('nobody-minds'));
    assert.deepEqual(await upgraded(), shown('nobody-minds'));
    assert.deepEqual(await upgraded({ bundle: PUBLIC, parameters: given, reset: true }), shown(SECRET));
  });

  it('stays one of a run that was begun elsewhere under such a version and is recorded here', async () => {
    const driver = new FakeDriver(never);
    driver.resumes = () => Promise.resolve();
    const values = { api_token: SECRET };
    await elsewhere(driver, 'install', (claim) => ({
      ...claim,
      ...{ bundle: PUBLIC.bundle, parameters: values },
      custom: { [CUSTOM_KEY]: { overrides: values, sensitiveParameters: ['api_token'] } },
    }));
    await resumeAction({ installation: 'app', cancel: false }, stage.context(driver));
    assert.deepEqual(await upgraded(), masked);
    assert.deepEqual(await upgraded({ bundle: PUBLIC }), masked);
  });
});
