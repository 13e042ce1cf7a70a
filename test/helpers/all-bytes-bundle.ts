import { createHash } from 'node:crypto';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export const LINES = 10_000;

/** Names and paths of the bundle's outputs. */
export const OUTPUTS: Readonly<Record<string, string>> = {
  empty: '/cnab/app/outputs/empty',
  one: '/cnab/app/outputs/one',
  random: '/cnab/app/outputs/deep/er/random.bin',
  newline: '/cnab/app/outputs/two\nlines',
  dash: '/cnab/app/outputs/-n $(id) "quoted" \\',
};

/**
 * The run tool: as many numbered lines as `LINES`, and outputs of 0 bytes, 1 byte, 1 MiB of random bytes, and of names that a
 * shell likes to take apart. The last two lines of its log are the digests of what it wrote.
 */
const RUN = `#!/bin/sh
set -eu
cd /cnab/app/outputs
i=0
while [ "$i" -lt ${LINES} ]; do i=$((i + 1)); echo "line $i of the log"; done
: > empty
printf x > one
mkdir -p deep/er
head -c 1048576 /dev/urandom > deep/er/random.bin
name='two
lines'
printf 'a file whose name has a newline' > "$name"
printf 'odd' > '-n $(id) "quoted" \\'
echo "random $(sha256sum < deep/er/random.bin)"
`;

/** Writes the bundle into a folder and gives that folder back. */
export function writeAllBytesBundle(folder: string, image = 'registry.example/all-bytes:0.1.0'): string {
  const definitions = { any: {} };
  const outputs = Object.fromEntries(
    Object.entries(OUTPUTS).map(([name, path]) => [name, { definition: 'any', path }]),
  );
  const bundle = {
    schemaVersion: 'v1.2.0',
    name: 'all-bytes',
    version: '0.1.0',
    invocationImages: [{ imageType: 'oci', image }],
    definitions,
    outputs,
  };
  mkdirSync(join(folder, 'cnab/app'), { recursive: true });
  writeFileSync(join(folder, 'bundle.json'), JSON.stringify(bundle, undefined, 2));
  writeFileSync(join(folder, 'cnab/app/run'), RUN);
  chmodSync(join(folder, 'cnab/app/run'), 0o755);
  return folder;
}

export function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** What the log must be up to its last line, and that line. */
export const expectedLog = (digest: string): string =>
  Array.from({ length: LINES }, (_, index) => `line ${index + 1} of the log\n`).join('') + `random ${digest}  -\n`;
