import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import process from 'node:process';
import { systemClock } from '../../../src/driver/clock.js';
import type { Driver, DriverIo, Operation, OperationResult } from '../../../src/driver/driver.js';
import { createSandboxDriver } from '../../../src/driver/sandbox/driver.js';
import { readRecord } from '../../../src/driver/sandbox/server-record.js';
import { DEFAULT_SETTINGS } from '../../../src/driver/settings.js';
import { processesWith, skipWithoutNamespaces } from './namespaces/machine.js';
import { makeBundle, operationOf } from './operation.js';

describe('the sandbox driver', () => {
  let home: string;
  let driver: Driver;
  let staged = 0;

  before(async function () {
    await skipWithoutNamespaces(this, process.getuid?.() ?? -1);
    home = mkdtempSync(join(tmpdir(), 'cnab-home-'));
    const { execPath, platform } = process;
    const uid = process.getuid?.() ?? -1;
    driver = await createSandboxDriver(
      { ...DEFAULT_SETTINGS, gracePeriodMs: 1_000 },
      { home: relative(process.cwd(), home), clock: systemClock, version: '1.0.0', platform, uid, execPath },
    );
  });
  after(async () => {
    await driver?.close();
    const record = home === undefined ? undefined : await readRecord(join(home, 'sandbox'));
    if (record !== undefined) process.kill(record.pid, 'SIGTERM');
    if (home !== undefined) rmSync(home, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
  });

  async function run(
    operation: Operation,
    io: Partial<DriverIo> = {},
  ): Promise<OperationResult & { readonly log: string }> {
    staged += 1;
    const staging = join(home, `staging-${staged}`);
    mkdirSync(staging);
    let log = '';
    const result = await driver.run(operation, {
      signal: new AbortController().signal,
      staging,
      onLog: (chunk) => void (log += Buffer.from(chunk).toString()),
      onProgress: () => undefined,
      onState: () => Promise.resolve(),
      ...io,
    });
    return { ...result, log };
  }

  it('runs a bundle and brings its log and its outputs back, whatever their bytes', async () => {
    const folder = makeBundle(
      home,
      `
      echo "$CNAB_ACTION $NAME"; cat /cnab/bundle.json /root/.kube/config
      mkdir -p /cnab/app/outputs/deep; : > /cnab/app/outputs/empty; umask 077
      head -c 1048576 /dev/urandom > /cnab/app/outputs/deep/random
      cp /cnab/app/outputs/deep/random "/cnab/app/outputs/new
line"`,
    );
    const output = (name: string, sensitive = false) => ({ name, path: `/cnab/app/outputs/${name}`, sensitive });
    const result = await run(
      operationOf(folder, {
        environment: [
          { name: 'CNAB_ACTION', value: Buffer.from('install'), source: 'action' },
          { name: 'NAME', value: Buffer.from("it's $(HOME)"), source: 'parameter "name"' },
        ],
        files: [
          { path: '/cnab/bundle.json', content: Buffer.from('{}\n'), access: 'public', source: 'bundle.json' },
          {
            path: '/root/.kube/config',
            content: Buffer.from('kubeconfig\n'),
            access: 'private',
            source: 'credential "kubeconfig"',
          },
        ],
        outputs: [output('empty'), output('deep/random', true), output('new\nline')],
      }),
    );
    assert.equal(result.error, undefined);
    assert.deepEqual([result.status, result.ran, result.exitCode, result.logComplete], ['succeeded', 'yes', 0, true]);
    assert.equal(result.log, "install it's $(HOME)\n{}\nkubeconfig\n");
    const files = Object.fromEntries(result.outputs.map(({ name, file }) => [name, readFileSync(file)]));
    assert.deepEqual(Object.keys(files).sort(), ['deep/random', 'empty', 'new\nline']);
    assert.equal(files['empty']?.length, 0);
    assert.equal(files['deep/random']?.length, 1_048_576);
    assert.ok(files['new\nline']?.equals(files['deep/random'] ?? Buffer.alloc(0)));
  });

  it('keeps what a failing bundle has written', async () => {
    const folder = makeBundle(home, 'echo half > /cnab/app/outputs/o; exit 3');
    const result = await run(
      operationOf(folder, { outputs: [{ name: 'o', path: '/cnab/app/outputs/o', sensitive: false }] }),
    );
    assert.deepEqual([result.status, result.exitCode, result.error?.code], ['failed', 3, 'bundle-failed']);
    assert.deepEqual(
      result.outputs.map(({ file }) => readFileSync(file, 'utf8')),
      ['half\n'],
    );
  });

  it('runs the folder that its caller names, whatever image the bundle names', async () => {
    const other = makeBundle(home, 'echo other');
    // Relative: the server has another working directory.
    const folder = relative(process.cwd(), makeBundle(home, 'echo own'));
    const result = await run(
      operationOf(folder, {
        image: { image: 'sandbox.cnab.io/bundle-folder' },
        bundleName: other,
        installation: other,
      }),
    );
    assert.equal(result.log, 'own\n');
  });

  it('does not mix runs at the same time', async () => {
    const results = await Promise.all(
      ['a', 'b', 'c'].map((name) =>
        run(
          operationOf(makeBundle(home, `echo ${name}; sleep 0.2; echo ${name} > /cnab/app/outputs/o`), {
            installation: name,
            outputs: [{ name: 'o', path: '/cnab/app/outputs/o', sensitive: false }],
          }),
        ),
      ),
    );
    assert.deepEqual(
      results.map(({ log }) => log),
      ['a\n', 'b\n', 'c\n'],
    );
    assert.deepEqual(
      results.map(({ outputs }) => readFileSync(outputs[0]?.file ?? '', 'utf8')),
      ['a\n', 'b\n', 'c\n'],
    );
  });

  it('stops a run that is interrupted, and leaves no process', async () => {
    const marker = `6${Math.floor(Math.random() * 1e9)}`;
    const stop = new AbortController();
    const onLog = (): void => stop.abort({ kind: 'signal', signal: 'SIGINT' });
    const folder = makeBundle(
      home,
      `trap "" TERM; setsid sleep ${marker} & echo running; while :; do sleep ${marker}; done`,
    );
    const result = await run(operationOf(folder), { signal: stop.signal, onLog });
    assert.deepEqual([result.status, result.error?.code], ['canceled', 'interrupted']);
    for (let wait = 0; wait < 200 && (await processesWith(`sleep ${marker}`)).length > 0; wait += 1)
      await new Promise((resolve) => setTimeout(resolve, 20));
    assert.deepEqual(await processesWith(`sleep ${marker}`), []);
  });

  it('says at once why a bundle cannot start', async () => {
    const folder = makeBundle(home, 'true');
    const files = [
      {
        path: '/usr/local/etc/app.conf',
        content: Buffer.from('x'),
        access: 'private',
        source: 'parameter "conf"',
      } as const,
    ];
    const result = await run(operationOf(folder, { files }));
    assert.deepEqual([result.status, result.ran], ['failed', 'no']);
    assert.match(result.error?.message ?? '', /in the sandbox \/usr is this machine's and read-only/);
  });
});
