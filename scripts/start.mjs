// The first minute: installs what is missing, builds, installs the example bundle hello in the sandbox and shows what it
// left. May be repeated: it works in a home of its own and begins anew each time.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const home = join(root, 'node_modules/.cache/cnab-start');
const [major, minor] = process.versions.node.split('.').map(Number);

function say(line = '') {
  console.log(line);
}

function run(command, args, options = {}) {
  const { status, error } = spawnSync(command, args, { cwd: root, stdio: 'inherit', ...options });
  if (error) fail(`${command} cannot be started: ${error.message}`);
  return status ?? 1;
}

function fail(sentence, code = 1) {
  console.error(`\n${sentence}`);
  process.exit(code);
}

function cnab(...args) {
  say(`\n$ cnab ${args.join(' ')}`);
  return run(process.execPath, ['bin/run.js', ...args], { env: { ...process.env, CNAB_HOME: home } });
}

if (major < 20 || (major === 20 && minor < 12)) {
  fail(`This is Node ${process.versions.node}; cnab needs 20.12 or later.`);
}
if (!existsSync(join(root, 'node_modules/.package-lock.json'))) {
  say('Installing the dependencies …');
  if (run('npm', ['ci', '--no-audit', '--no-fund']) !== 0) fail('The dependencies could not be installed: see above.');
}
say('Building …');
if (run(process.execPath, ['scripts/build.mjs']) !== 0) fail('The build failed: see above.');

mkdirSync(home, { recursive: true });
// The sandbox's server may still be there from the last time, and looks after its own folder.
for (const name of readdirSync(home).filter((entry) => entry !== 'sandbox')) {
  rmSync(join(home, name), { recursive: true, force: true });
}
say('Installing the example bundle hello in the sandbox: in namespaces of this machine, no cluster is touched.');
const code = cnab('install', 'hello', 'bundles/hello', '--driver', 'sandbox', '--param', 'who=newcomer');
if (code !== 0)
  fail('The sandbox could not run the bundle: see above. A cluster can: cnab install hello bundles/hello', code);
cnab('outputs', 'list', 'hello');
cnab('outputs', 'show', 'hello', 'message');

say(`

That was one action: a claim on disk, a Job, its outputs brought back and proven. To go on:

  export CNAB_HOME=${home}
  node bin/run.js upgrade hello --driver sandbox --param greeting=Welcome
  node bin/run.js history hello
  node bin/run.js --help`);
