import assert from 'node:assert/strict';
import type { FoundRun } from '../../src/driver/driver.js';
import { FakeDriver } from '../helpers/fake-driver.js';
import { APP, elsewhere, loaded, refuses, Stage, saying } from './stage.js';

describe('a run of another machine that goes on', () => {
  let stage: Stage;
  let driver: FakeDriver;
  let found: FoundRun;
  beforeEach(async () => {
    stage = await Stage.create();
    await stage.run('install', saying('one\n'));
    driver = new FakeDriver(saying('two\n'));
    await elsewhere(driver);
    [found] = driver.found as [FoundRun];
  });
  afterEach(async () => stage.remove());

  for (const action of ['install', 'uninstall', 'rotate', 'status']) {
    it(`is not run into, it being ${action} that leaves a record`, async () => {
      driver.found = [{ ...found, action }];
      for (const mine of ['upgrade', 'rotate', 'status']) {
        const message = new RegExp(`the ${action} of "app" .* \\(run ${found.runId}\\) is not recorded here`);
        const { suggestions } = await refuses(stage.run(mine, driver), 'contact-lost', message);
        // There may be several, and each command is about the one that was told.
        const commands = suggestions.filter((line) => line.includes('cnab '));
        assert.deepEqual(
          commands.map((line) => /: cnab (.*) app --run (\S+)( --cancel)? --context/.exec(line)?.slice(1)),
          [
            ['resume', found.runId, undefined],
            ['wait', found.runId, undefined],
            ['logs -f', found.runId, undefined],
            ['resume', found.runId, ' --cancel'],
          ],
        );
      }
      assert.deepEqual(driver.operations, []);
    });
  }

  it('is in nobody’s way where its action leaves no record', async () => {
    driver.found = [{ ...found, action: 'status', stateless: true }];
    assert.equal((await stage.run('rotate', driver)).status, 'succeeded');
    assert.deepEqual(stage.warnings, []);
  });

  it('tells its target which it is, from its bundle', async () => {
    driver.found = [];
    const both = loaded({ ...APP, actions: { ...APP.actions, both: { stateless: true, modifies: true } } });
    for (const action of ['io.cnab.help', 'status', 'rotate', 'both'])
      await stage.run(action, driver, { bundle: both });
    assert.deepEqual(
      driver.operations.map(({ action, stateless }) => [action, stateless]),
      [
        ['io.cnab.help', true],
        ['status', undefined],
        ['rotate', undefined],
        ['both', undefined],
      ],
    );
  });
});
