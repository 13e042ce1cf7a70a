import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { environment, removeHome, ROOT, runCnab, temporaryHome } from '../helpers/run-cnab.js';

const RUN_TOOL = `#!/bin/sh
echo begun
sleep 10
printf late > /cnab/app/outputs/out
`;

describe('a terminal that is closed while a bundle runs', () => {
  let home: string;
  beforeEach(() => (home = temporaryHome()));
  afterEach(() => removeHome(home));

  function writeBundle(): string {
    const folder = join(home, 'bundle');
    mkdirSync(join(folder, 'cnab/app'), { recursive: true });
    writeFileSync(join(folder, 'cnab/app/run'), RUN_TOOL);
    chmodSync(join(folder, 'cnab/app/run'), 0o755);
    const bundle = {
      schemaVersion: 'v1.2.0',
      name: 'late',
      version: '1.0.0',
      invocationImages: [{ imageType: 'docker', image: 'registry.example/late:1' }],
      definitions: { text: { type: 'string' } },
      outputs: { out: { definition: 'text', path: '/cnab/app/outputs/out' } },
    };
    writeFileSync(join(folder, 'bundle.json'), JSON.stringify(bundle));
    return folder;
  }

  async function eventually(what: string, holds: () => boolean): Promise<void> {
    for (let left = 600; !holds(); left--) {
      assert.ok(left > 0, `${what} has not come`);
      await delay(50);
    }
  }

  it('leaves the run to itself: the command ends in order (exit 8), and the run is waited for later', async () => {
    const folder = writeBundle();
    const code = join(home, 'code');
    // The kernel signals the leader of the session; a shell passes it on to its jobs. This one tells how the job ended.
    const command = `${process.execPath} ${ROOT}/bin/run.js install app ${folder} --driver sandbox`;
    const line = `exec 3<&0; ${command} <&3 & job=$!; trap 'kill -HUP $job' HUP; wait $job; wait $job; echo $? > ${code}`;
    const terminal = spawn('script', ['-qec', line, '/dev/null'], { cwd: home, env: environment({ home }) });
    let shown = '';
    terminal.stdout.on('data', (chunk: Buffer) => (shown += chunk.toString()));
    await eventually('the log of the bundle', () => shown.includes('begun'));
    terminal.kill('SIGKILL');
    await eventually('the end of the command', () => existsSync(code) && readFileSync(code, 'utf8') !== '');
    assert.equal(readFileSync(code, 'utf8'), '8\n', shown);
    const waited = await runCnab(['wait', 'app', '--driver', 'sandbox'], { home });
    assert.equal(waited.code, 0, waited.stderr);
    assert.equal((await runCnab(['outputs', 'show', 'app', 'out'], { home })).stdout, 'late');
  }).timeout(60_000);
});
