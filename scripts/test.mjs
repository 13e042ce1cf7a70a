// Runs the rings of tests that work on one machine. A ring that cannot run is said loudly, never left out in silence.
//
//   node scripts/test.mjs            unit ring and sandbox ring
//   node scripts/test.mjs unit       test/**/*.test.ts: loopback only
//   node scripts/test.mjs sandbox    test/**/*.sandbox.ts: needs Linux namespaces
//   node scripts/test.mjs unit FILE…  these files alone, in one process
//
// Many tests wait for processes of their own, so several mochas run side by side, each with a part of the files and each shown when it is
// over. CNAB_TEST_JOBS: how many; default: one more than there are processors.
import { spawn, spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const mocha = fileURLToPath(new URL('bin/mocha.js', import.meta.resolve('mocha/package.json')));
const [ring = 'all', ...only] = process.argv.slice(2);
const endings = { unit: ['.test.ts'], sandbox: ['.sandbox.ts'], all: ['.sandbox.ts', '.test.ts'] }[ring];
if (!endings) {
  console.error(`there is no ring ${JSON.stringify(ring)}: unit, sandbox`);
  process.exit(2);
}
const JOBS = Number(process.env['CNAB_TEST_JOBS'] ?? availableParallelism() + 1);
/** Parts of a job: what is left at the end is then short, and each part costs the start of a process. */
const PARTS = 3;

const problem = endings.includes('.sandbox.ts') ? namespacesProblem() : undefined;
const wanted = endings.filter((ending) => ending !== '.sandbox.ts' || problem === undefined);
const failed = only.length > 0 ? await runTogether(only) : await runSideBySide(filesOf(wanted));
if (problem !== undefined) {
  const line = '!'.repeat(100);
  console.error(`${line}\nSKIPPED: the sandbox ring (test/**/*.sandbox.ts). ${problem}\n${line}`);
}
// Asked for by name, a ring that cannot run is a failure.
process.exitCode = failed || (problem !== undefined && ring === 'sandbox') ? 1 : 0;

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

/** Those that wait longest come first: an ending after the other. */
function filesOf(endings) {
  const files = readdirSync(`${root}/test`, { recursive: true }).map((file) => `test/${file}`);
  return endings.flatMap((ending) => files.filter((file) => file.endsWith(ending)).sort());
}

async function runTogether(files) {
  const { status } = spawnSync(process.execPath, [mocha, ...files], { cwd: root, stdio: 'inherit' });
  return status !== 0;
}

async function runSideBySide(files) {
  const began = Date.now();
  // Every nth file: neighbours are alike, in what they wait for as in what they compute.
  const count = Math.min(files.length, JOBS * PARTS);
  const parts = Array.from({ length: count }, (_, part) => files.filter((_, index) => index % count === part));
  const ends = [];
  const work = async () => {
    for (let part = parts.shift(); part !== undefined; part = parts.shift()) {
      const end = await runPart(part);
      process.stdout.write(end.text);
      ends.push(end);
    }
  };
  await Promise.all(Array.from({ length: JOBS }, work));

  const bad = ends.filter(({ status }) => status !== 0);
  for (const { text, status } of bad) console.log(`\nFAILED (exit ${status}):${failuresOf(text)}`);
  const sum = (word) => ends.reduce((all, { text }) => all + countOf(text, word), 0);
  const seconds = ((Date.now() - began) / 1000).toFixed(0);
  // Not in the words of a part: whoever adds those up must not count twice.
  console.log(
    `all ${files.length} files in ${seconds} s: ${sum('passing')} passed, ${sum('failing')} failed, ${sum('pending')} pending`,
  );
  return bad.length > 0;
}

/** @returns {Promise<{ status: number, text: string }>} */
function runPart(files) {
  const color = process.stdout.isTTY ? ['--color'] : [];
  const child = spawn(process.execPath, [mocha, ...color, ...files], { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] });
  let text = '';
  const take = (chunk) => (text += chunk);
  child.stdout.setEncoding('utf8').on('data', take);
  child.stderr.setEncoding('utf8').on('data', take);
  const stop = () => child.kill('SIGTERM');
  process.once('SIGTERM', stop);
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code, signal) => {
      process.off('SIGTERM', stop);
      if (signal !== null) text += `\nended by ${signal}\n`;
      resolve({ status: code ?? 1, text });
    });
  });
}

/** What mocha lists at its end, and what strict.ts says after it. */
function failuresOf(text) {
  const [, failures] = / failing\n([^]*)$/.exec(text.replace(/\u001b\[[\d;]*m/g, '')) ?? [];
  return failures ?? `\n${text.slice(-2000)}`;
}

function countOf(text, word) {
  const plain = text.replace(/\u001b\[[\d;]*m/g, '');
  return Number(new RegExp(`^ +(\\d+) ${word}`, 'm').exec(plain)?.[1] ?? 0);
}
