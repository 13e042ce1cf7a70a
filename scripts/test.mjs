// Runs the rings of tests that work on one machine. A ring that cannot run is said loudly, never left out in silence.
//
//   node scripts/test.mjs            unit ring and sandbox ring
//   node scripts/test.mjs unit       test/**/*.test.ts: loopback only
//   node scripts/test.mjs sandbox    test/**/*.sandbox.ts: needs Linux namespaces
//   node scripts/test.mjs unit FILE…  these files of the ring alone
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const ring = process.argv[2] ?? 'all';
const endings = { unit: ['.test.ts'], sandbox: ['.sandbox.ts'], all: ['.test.ts', '.sandbox.ts'] }[ring];
if (!endings) {
  console.error(`there is no ring ${JSON.stringify(ring)}: unit, sandbox`);
  process.exit(2);
}

function namespacesProblem() {
  const { status, stderr, error } = spawnSync('unshare', [
    '--user',
    '--map-root-user',
    '--mount',
    '--pid',
    '--fork',
    'true',
  ]);
  if (error) return `unshare (util-linux) cannot be started: ${error.message}`;
  return status === 0 ? undefined : `no namespaces here: ${String(stderr).trim()}`;
}

const problem = endings.includes('.sandbox.ts') ? namespacesProblem() : undefined;
const wanted = endings.filter((ending) => ending !== '.sandbox.ts' || problem === undefined);
const files = readdirSync(`${root}/test`, { recursive: true })
  .map((file) => `test/${file}`)
  .filter((file) => wanted.some((ending) => file.endsWith(ending)))
  .sort();
const only = process.argv.slice(3);

let status = 0;
if (files.length > 0) {
  const mocha = fileURLToPath(new URL('bin/mocha.js', import.meta.resolve('mocha/package.json')));
  status =
    spawnSync(process.execPath, [mocha, ...(only.length > 0 ? only : files)], { cwd: root, stdio: 'inherit' }).status ??
    1;
}
if (problem !== undefined) {
  const line = '!'.repeat(100);
  console.error(`${line}\nSKIPPED: the sandbox ring (test/**/*.sandbox.ts). ${problem}\n${line}`);
  // Asked for by name, a ring that cannot run is a failure.
  if (ring === 'sandbox') status = 1;
}
process.exitCode = status;
