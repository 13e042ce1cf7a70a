import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../../src/driver/clock.js';
import type { Operation } from '../../../src/driver/driver.js';
import { SandboxDriver } from '../../../src/driver/sandbox/driver.js';
import { DEFAULT_SETTINGS } from '../../../src/driver/settings.js';
import { makeBundle, operationOf } from './operation.js';

describe('what the sandbox driver says before anything runs', () => {
  let home: string;
  let driver: SandboxDriver;
  const options = { clock: systemClock, version: '1.0.0', platform: 'linux', uid: 1000, execPath: '/bin/false' };
  const refused = (operation: Operation, message: RegExp): void =>
    assert.throws(
      () => driver.check(operation),
      (error: Error & { code?: string }) => error.code === 'invalid' && message.test(error.message),
    );
  beforeEach(() => {
    home = mkdtempSync(join(tmpdir(), 'cnab-home-'));
    driver = new SandboxDriver(DEFAULT_SETTINGS, { home, ...options });
  });
  afterEach(() => rmSync(home, { recursive: true }));

  it('is one target, which needs no server', async () => {
    assert.deepEqual(await driver.target(), { id: 'sandbox', driver: 'sandbox', label: 'sandbox' });
  });

  it('runs the images that a cluster runs', () => {
    assert.deepEqual(
      ['oci', 'docker', 'wasm'].map((type) => driver.handles(type)),
      [true, true, false],
    );
  });

  it('takes a bundle with its folder, sensitive outputs as well', () => {
    driver.check(
      operationOf(makeBundle(home, 'true'), {
        outputs: [{ name: 'key', path: '/cnab/app/outputs/key', sensitive: true }],
      }),
    );
  });

  it('refuses a bundle without a folder', () => {
    const { bundleFolder: _folder, ...operation } = operationOf('/x');
    refused(operation, /the sandbox runs the folder of a bundle, and hello came without one/);
  });

  it('refuses a folder that is gone, and one without a run tool', () => {
    refused(
      operationOf(join(home, 'gone')),
      /the sandbox cannot run hello: the bundle's folder .*gone is not there any more/,
    );
    refused(operationOf(home), /the sandbox cannot run hello: .* holds no cnab\/app\/run/);
  });

  it('refuses a service account', () => {
    refused(operationOf(makeBundle(home, 'true'), { serviceAccount: 'deployer' }), /no service account "deployer"/);
  });

  it('refuses what a cluster refuses, with the same words', () => {
    const environment = [{ name: 'A=B', value: Buffer.from('x'), source: 'parameter "a"' }];
    refused(operationOf(makeBundle(home, 'true'), { environment }), /has a "=" in its name/);
  });

  it('resolves, also where it refuses to run', async () => {
    const io = {
      signal: new AbortController().signal,
      staging: home,
      onLog: () => undefined,
      onProgress: () => undefined,
      onState: () => Promise.resolve(),
    };
    const { status, ran, error } = await driver.run(operationOf(home), io);
    assert.deepEqual([status, ran, error?.code], ['failed', 'no', 'invalid']);
  });
});
