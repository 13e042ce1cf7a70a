import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
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

  /** What the containers have logged so far, straight from the server's folder. */
  function readLogs(): Buffer[] {
    const files = readdirSync(join(home, 'sandbox'), { recursive: true, withFileTypes: true });
    const logs = files.filter((entry) => entry.isFile() && /^\d+\.log/.test(entry.name));
    return logs.map(({ parentPath, name }) => readFileSync(join(parentPath, name)));
  }

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

  it('brings what is large and what is sensitive past every log', async () => {
    const folder = makeBundle(
      home,
      'head -c 12582912 /dev/urandom > /cnab/app/outputs/large; echo a-secret-word > /cnab/app/outputs/key',
    );
    let logs: Buffer[] = [];
    const output = (name: string, sensitive: boolean) => ({ name, path: `/cnab/app/outputs/${name}`, sensitive });
    const operation = operationOf(folder, { outputs: [output('large', false), output('key', true)] });
    const result = await run(operation, {
      onProgress: ({ phase }) => void (phase === 'collecting' && (logs = readLogs())),
    });
    const text = Buffer.concat(logs).toString('latin1');
    assert.deepEqual([result.status, result.problems], ['succeeded', []]);
    assert.deepEqual(
      result.outputs.map(({ name, size }) => [name, size]),
      [
        ['large', 12_582_912],
        ['key', 14],
      ],
    );
    const frames = text.split('\n').filter((line) => line.includes(operation.runId));
    assert.ok(frames.some((line) => / manifest 2 /.test(line)));
    assert.ok(
      !text.includes('a-secret-word') && !text.includes(Buffer.from('a-secret-word').toString('base64').slice(0, 12)),
    );
    assert.deepEqual(
      frames.filter((line) => / data /.test(line)),
      [],
    );
  });

  it('lets a run go on by itself, finds it by the name of its installation, and takes it up', async () => {
    const folder = makeBundle(home, 'echo begun; sleep 1; echo over; cat /cnab/bundle.json > /cnab/app/outputs/o');
    const outputs = [{ name: 'o', path: '/cnab/app/outputs/o', sensitive: false }];
    const content = Buffer.from('{"a": 1}\n');
    const operation = operationOf(folder, {
      installation: 'left',
      outputs,
      environment: [{ name: 'WORD', value: Buffer.from('secret'), source: 'credential "word"' }],
      files: [{ path: '/cnab/bundle.json', content, access: 'public', source: 'bundle.json' }],
      record: Buffer.from('{"id":"the claim"}'),
    });
    const begun = await run(operation, { detach: true });
    assert.deepEqual([begun.status, begun.keep], ['running', true]);
    const { signal } = new AbortController();
    const [found, ...more] = await driver.find('left', signal);
    assert.deepEqual([found?.runId, found?.action, more], [operation.runId, 'install', []]);
    const state = found?.state ?? {};
    const inputs = await driver.inputs({ runId: operation.runId, state }, signal);
    assert.equal(Buffer.from(inputs.record).toString(), '{"id":"the claim"}');
    assert.equal(Buffer.from(inputs.environment.get('WORD') ?? []).toString(), 'secret');
    assert.ok(content.equals(inputs.files.get('/cnab/bundle.json') ?? Buffer.alloc(0)));
    assert.match((await driver.look({ runId: operation.runId, state }, signal)).phase, /^(?:waiting|running)$/);

    const staging = mkdtempSync(join(home, 'staging-'));
    let log = '';
    const run2 = { runId: operation.runId, installation: 'left', action: 'install', outputs, state };
    const result = await driver.resume(run2, {
      signal,
      staging,
      onLog: (chunk) => void (log += Buffer.from(chunk).toString()),
      onProgress: () => undefined,
      onState: () => Promise.resolve(),
    });
    assert.deepEqual([result.status, result.exitCode, result.problems, log], ['succeeded', 0, [], 'begun\nover\n']);
    assert.deepEqual(readFileSync(result.outputs[0]?.file ?? ''), content);
    assert.deepEqual(await driver.release({ runId: operation.runId, state }), []);
    assert.deepEqual(await driver.find('left', signal), []);
    const phase = async (): Promise<string> => (await driver.look({ runId: operation.runId, state }, signal)).phase;
    for (let wait = 0; wait < 200 && (await phase()) !== 'absent'; wait += 1)
      await new Promise((resolve) => setTimeout(resolve, 20));
    assert.equal(await phase(), 'absent');
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
