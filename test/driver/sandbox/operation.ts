import { chmodSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Operation } from '../../../src/driver/driver.js';

/** A bundle's folder below `parent` whose run tool is this shell script. */
export function makeBundle(parent: string, script: string): string {
  const folder = mkdtempSync(join(parent, 'bundle-'));
  mkdirSync(join(folder, 'cnab', 'app'), { recursive: true });
  writeFileSync(join(folder, 'cnab', 'app', 'run'), `#!/bin/sh\n${script}\n`);
  chmodSync(join(folder, 'cnab', 'app', 'run'), 0o755);
  return folder;
}

let drawn = 0;

export function operationOf(bundleFolder: string, parts: Partial<Operation> = {}): Operation {
  drawn += 1;
  return {
    runId: `01JTEST${String(drawn).padStart(19, '0')}`,
    installation: 'app',
    action: 'install',
    revision: '01JREV00000000000000000000',
    bundleName: 'hello',
    image: { image: 'example/hello:1.0.0' },
    bundleFolder,
    environment: [],
    files: [],
    outputs: [],
    record: Buffer.from('{}'),
    ...parts,
  };
}
