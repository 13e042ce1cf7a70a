import assert from 'node:assert/strict';
import { createDriver, type DriverSurroundings } from '../../src/driver/registry.js';
import { systemClock } from '../../src/driver/clock.js';
import { DEFAULT_SETTINGS } from '../../src/driver/settings.js';
import { CnabError } from '../../src/errors.js';
import { withApiServer } from '../helpers/api-server.js';
import { withFolder } from '../helpers/staging.js';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

const surroundings = (folder: string): DriverSurroundings => ({
  env: {},
  cwd: folder,
  home: folder,
  userHome: folder,
  clock: systemClock,
  version: '0.0.0',
  platform: process.platform,
  uid: 0,
  execPath: process.execPath,
  pid: 1,
  host: 'here',
});

describe('drivers by name', () => {
  it('a name that no driver has is refused with those that there are', async () => {
    for (const name of ['docker', '__proto__', '']) {
      await assert.rejects(createDriver(name, DEFAULT_SETTINGS, surroundings('/')), (error) => {
        assert.ok(error instanceof CnabError && error.code === 'invalid');
        assert.match(error.suggestions.join(), /kubernetes, k8s, sandbox/);
        return true;
      });
    }
  });

  for (const name of ['kubernetes', 'k8s']) {
    it(`${name} speaks to the cluster of the kubeconfig`, () =>
      withApiServer({}, (server) =>
        withFolder(async (folder) => {
          await writeFile(join(folder, 'config'), server.kubeconfig());
          const settings = { ...DEFAULT_SETTINGS, kubeconfig: 'config' };
          const driver = await createDriver(name, settings, surroundings(folder));
          const target = await driver.target(new AbortController().signal);
          await driver.close();
          assert.deepEqual([target.driver, target.server, target.label], ['kubernetes', server.url, 'test/default']);
        }),
      ));
  }

  it('without a kubeconfig there is no cluster, and the sandbox is pointed to', async () => {
    await withFolder(async (folder) => {
      const driver = await createDriver('kubernetes', DEFAULT_SETTINGS, surroundings(folder));
      await assert.rejects(driver.target(new AbortController().signal), (error) => {
        assert.ok(error instanceof CnabError && error.code === 'unavailable');
        return true;
      });
      await driver.close();
    });
  });
});
