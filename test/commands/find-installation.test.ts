import assert from 'node:assert/strict';
import { join } from 'node:path';
import { findInstallation } from '../../src/cli/wiring/find-installation.js';
import { PROD, recordRun, SANDBOX, storeAt } from '../helpers/recorded-installation.js';
import { removeHome, temporaryHome } from '../helpers/run-cnab.js';

describe('a name that is on several targets', () => {
  let home: string;
  before(async () => {
    home = join(temporaryHome(), 'cnab');
    await recordRun(home, { name: 'app' });
    await recordRun(home, { name: 'app', target: SANDBOX });
    await recordRun(home, { name: 'single' });
  });
  after(() => removeHome(join(home, '..')));

  const search = (current: () => Promise<typeof PROD | undefined>) => ({ choice: {}, command: 'show app', current });

  it('means the current target', async () => {
    const found = await findInstallation(
      storeAt(home),
      'app',
      search(() => Promise.resolve(PROD)),
    );
    assert.equal(found.target.id, PROD.id);
  });

  it('is a question where the current target is not one of them, or not known', async () => {
    for (const current of [undefined, { ...PROD, id: 'elsewhere' }]) {
      await assert.rejects(
        findInstallation(
          storeAt(home),
          'app',
          search(() => Promise.resolve(current)),
        ),
        {
          code: 'invalid',
          message: '"app" is installed on 2 targets: say which one you mean',
        },
      );
    }
  });

  it('never asks where one target is meant', async () => {
    const never = (): Promise<undefined> => Promise.reject(new Error('asked'));
    await findInstallation(storeAt(home), 'single', search(never));
    await findInstallation(storeAt(home), 'app', { ...search(never), choice: { driver: 'sandbox' } });
  });
});
