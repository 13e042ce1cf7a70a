// What it costs to start: `node -e 0`, `cnab --version` and `cnab outputs show`, measured in turns so that a machine
// that is busy for a while is so for all of them. Prints medians and the ratio to `node -e 0`; the limit is 2.5.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { recordRun } from '../test/helpers/recorded-installation.ts';

const ROUNDS = Number(process.env.ROUNDS ?? 21);
const LIMIT = 2.5;
const cnab = fileURLToPath(new URL('../bin/run.js', import.meta.url));
const home = mkdtempSync(join(tmpdir(), 'cnab-bench-'));
const env = { ...process.env, CNAB_HOME: home };
await recordRun(home, { name: 'app', outputs: { url: 'https://example.org\n' } });

const cases = [
  ['node -e 0', ['-e', '0']],
  ['cnab --version', [cnab, '--version']],
  ['cnab outputs show app url', [cnab, 'outputs', 'show', 'app', 'url']],
].map(([name, args]) => ({ name, args, times: [] }));

try {
  for (let round = -2; round < ROUNDS; round++) {
    for (const { name, args, times } of cases) {
      const started = process.hrtime.bigint();
      const { status, stderr } = spawnSync(process.execPath, args, { env, stdio: ['ignore', 'ignore', 'pipe'] });
      const took = Number(process.hrtime.bigint() - started) / 1e6;
      if (status !== 0) throw new Error(`${name} failed: ${stderr}`);
      // The first rounds fill the file system's cache.
      if (round >= 0) times.push(took);
    }
  }
} finally {
  rmSync(home, { recursive: true, force: true });
}

const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];
const floor = median(cases[0].times);
for (const { name, times } of cases) {
  const middle = median(times);
  console.log(`${name.padEnd(28)} median ${middle.toFixed(1).padStart(6)} ms   ratio ${(middle / floor).toFixed(2)}`);
}
console.log(`limit ${LIMIT.toFixed(2)}, ${ROUNDS} rounds`);
