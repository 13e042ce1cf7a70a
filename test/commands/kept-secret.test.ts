import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Install from '../../src/commands/install.js';
import Show from '../../src/commands/show.js';
import Upgrade from '../../src/commands/upgrade.js';
import { FakeDriver, type FakeRun } from '../helpers/fake-driver.js';
import { removeHome, temporaryHome } from '../helpers/run-cnab.js';
import { runInProcess } from '../helpers/run-command.js';

const SECRET = 's3cr3t-value';

function bundle(version: string, definition: object): string {
  return JSON.stringify({
    ...{ schemaVersion: 'v1.2.0', name: 'svc', version, invocationImages: [{ image: 'registry.example/svc:1' }] },
    definitions: { token: { type: 'string', ...definition } },
    parameters: { api_token: { definition: 'token', destination: { env: 'TOKEN' } } },
  });
}

async function printing(run: FakeRun): Promise<void> {
  const token = run.operation.environment.find(({ name }) => name === 'TOKEN');
  await run.log(`token ${Buffer.from(token?.value ?? '').toString()}\n`);
}

describe('a secret that was given under a bundle that called it one', () => {
  let home: string;
  beforeEach(() => {
    home = temporaryHome();
    writeFileSync(join(home, 'v1.json'), bundle('1.0.0', { writeOnly: true }));
    writeFileSync(join(home, 'v2.json'), bundle('2.0.0', {}));
  });
  afterEach(() => removeHome(home));

  it('is shown by no command and in no log under the next one, which does not', async () => {
    const run = async (command: Parameters<typeof runInProcess>[0], id: string, argv: string[]): Promise<string> => {
      const { stdout, stderr } = await runInProcess(command, id, argv, { home, driver: new FakeDriver(printing) });
      return stdout + stderr;
    };
    await run(Install, 'install', ['svc', 'v1.json', '-p', `api_token=${SECRET}`]);
    const shown = [await run(Upgrade, 'upgrade', ['svc', 'v2.json', '--dry-run'])];
    shown.push(await run(Upgrade, 'upgrade', ['svc', 'v2.json', '--dry-run', '--json']));
    shown.push(await run(Upgrade, 'upgrade', ['svc', 'v2.json']));
    shown.push(await run(Show, 'show', ['svc']), await run(Show, 'show', ['svc', '--json']));
    shown.push(await run(Upgrade, 'upgrade', ['svc', '--dry-run']), await run(Upgrade, 'upgrade', ['svc', '--json']));
    for (const text of shown) {
      assert.match(text, /api_token|token \*{6}/);
      assert.ok(!text.includes(SECRET), text);
    }
  });
});
