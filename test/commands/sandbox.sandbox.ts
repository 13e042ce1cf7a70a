import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { environment, removeHome, ROOT, runCnab, temporaryHome, type RunOptions } from '../helpers/run-cnab.js';

const HELLO = join(ROOT, 'bundles/hello');
const FLAKY = join(ROOT, 'bundles/flaky');
const CERTS = join(ROOT, 'bundles/certs');

interface Document {
  readonly [key: string]: unknown;
  readonly outputs: readonly Readonly<Record<string, unknown>>[];
}

describe('the built command and the sandbox', function () {
  this.timeout(180_000);
  let home: string;
  beforeEach(() => (home = temporaryHome()));
  afterEach(async () => {
    await serverGone(home);
    removeHome(home);
  });

  const run = (args: readonly string[], more: Partial<RunOptions> = {}) =>
    runCnab(args, { home, ...more, env: { CNAB_DRIVER: 'sandbox', ...more.env } });
  const json = async (args: readonly string[], more: Partial<RunOptions> = {}) => {
    const { code, stdout, stderr } = await run([...args, '--json'], more);
    return { code, stderr, body: JSON.parse(stdout) as Document };
  };

  it('take an installation from its first to its last day', async () => {
    const installed = await json(['install', 'app', HELLO, '-p', 'who=you']);
    assert.deepEqual([installed.code, installed.body['status'], installed.body['target']], [0, 'succeeded', 'sandbox']);
    assert.match(installed.stderr, /in the sandbox; no cluster was touched\n$/);
    assert.equal((await run(['outputs', 'show', 'app', 'message'])).stdout, 'Hello, you!');

    const again = await json(['install', 'app', HELLO]);
    assert.deepEqual([again.code, again.body['ran']], [9, 'no']);

    const upgraded = await json(['upgrade', 'app']);
    assert.equal(upgraded.code, 0);
    assert.match(upgraded.stderr, /^Using from revision 0\w{25}: 1 parameter \(who\) \(--reset to drop\)$/m);
    assert.equal((await run(['outputs', 'show', 'app', 'message'])).stdout, 'Hello again, you!');

    assert.equal((await json(['uninstall', 'app'])).code, 0);
    assert.equal((await run(['list', '-q'])).stdout, '');
    assert.equal((await json(['upgrade', 'app'])).code, 9);
    assert.match((await run(['logs', 'app'])).stdout, /Goodbye, you!/);
    const dropped = await json(['uninstall', 'app', '--delete-record']);
    assert.deepEqual([dropped.code, dropped.body['ran']], [0, 'no']);
    assert.equal((await run(['show', 'app'])).code, 6);
    assert.equal((await json(['uninstall', 'app'])).code, 6);
    assert.equal((await json(['uninstall', 'app', 'other', '--ignore-not-found'])).code, 0);
  });

  it('keep what a failing bundle left, and exit 1', async () => {
    const { code, body } = await json(['install', 'app', FLAKY]);
    assert.deepEqual([code, body['status'], body['exitCode'], body['ran']], [1, 'failed', 3, 'yes']);
    assert.deepEqual(
      body.outputs.map(({ name }) => name),
      ['progress'],
    );
    assert.equal((await json(['invoke', 'app', 'repair'])).code, 0);
    assert.equal((await run(['outputs', 'show', 'app', 'endpoint'])).code, 0);
    const swapped = await run(['invoke', 'repair', 'app']);
    assert.equal(swapped.code, 6);
    assert.match(swapped.stderr, /did you mean: cnab invoke app repair/);
  });

  it('never show a credential or a sensitive output that was not named', async () => {
    const secret = 'a-signing-key-that-nobody-may-see';
    const { code, body, stderr } = await json(['install', 'app', CERTS, '--credential', 'signing-key=env:KEY'], {
      env: { KEY: secret },
    });
    assert.equal(code, 0, stderr);
    const key = (await run(['outputs', 'show', 'app', 'private-key'])).stdout;
    assert.ok(key.length > 0);
    const shown = [
      JSON.stringify(body),
      stderr,
      (await run(['outputs', 'list', 'app', '-o', 'yaml'])).stdout,
      (await run(['show', 'app', '--json'])).stdout,
    ].join('\n');
    assert.ok(!shown.includes(key.trim()) && !shown.includes(secret));
    assert.doesNotMatch(allText(join(home, 'cnab', 'targets')), new RegExp(secret));
  });

  it('list what is missing at once, ready to paste, before anything runs', async () => {
    const { code, stderr } = await run(['install', 'app', CERTS]);
    assert.equal(code, 2);
    assert.match(stderr, /--credential signing-key=env:SIGNING_KEY/);
    assert.equal((await run(['show', 'app'])).code, 6);
  });

  it('stop in order at SIGTERM, record it as canceled, and exit 143', async () => {
    const bundle = await slowBundle(home);
    const child = spawn(process.execPath, ['bin/run.js', 'install', 'app', bundle, '-d', 'sandbox', '--json'], {
      cwd: ROOT,
      env: environment({ home }),
    });
    let stdout = '';
    let stderr = '';
    let isStopping = false;
    child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => {
      stderr += chunk.toString();
      if (!isStopping && /^slowly$/m.test(stderr)) isStopping = child.kill('SIGTERM');
    });
    const code = await new Promise((resolve) => child.on('close', resolve));
    assert.equal(code, 143, stderr);
    assert.equal((JSON.parse(stdout) as Document)['status'], 'canceled');
    assert.match((await run(['history', 'app'])).stdout, /install +canceled/);
  });

  it('let only one run of an installation go on, and exit 7', async () => {
    const bundle = await slowBundle(home);
    const child = spawn(process.execPath, ['bin/run.js', 'install', 'app', bundle, '-d', 'sandbox'], {
      cwd: ROOT,
      env: environment({ home }),
    });
    await new Promise<void>((resolve) =>
      child.stderr.on('data', (chunk: Buffer) => chunk.includes('slowly') && resolve()),
    );
    const { code, body } = await json(['upgrade', 'app']);
    assert.deepEqual([code, body['ran']], [7, 'no']);
    assert.equal((await run(['forget', 'app'])).code, 7);
    child.kill('SIGINT');
    assert.equal(await new Promise((resolve) => child.on('close', resolve)), 130);
  });

  it('move one line on a terminal, and give an output there its final newline', function () {
    if (spawnSync('script', ['--version']).status !== 0) return this.skip();
    const command = `stty cols 90; node bin/run.js install app ${HELLO} -d sandbox && node bin/run.js outputs show app message; stty cols 0; node bin/run.js list`;
    const { stdout, status } = spawnSync('script', ['-qec', command, '/dev/null'], {
      cwd: ROOT,
      env: { ...environment({ home }), TERM: 'xterm' },
      encoding: 'utf8',
    });
    assert.equal(status, 0, stdout);
    assert.match(
      stdout,
      /\u001b\[\?25l[\s\S]*install app: running[\s\S]*Hello, world!\r\n[\s\S]*Hello, world!\r\nNAME/,
    );
  });
});

/** A copy of hello that says `slowly` and then waits to be stopped. */
async function slowBundle(home: string): Promise<string> {
  const folder = join(home, 'slow');
  await cp(HELLO, folder, { recursive: true });
  writeFileSync(
    join(folder, 'cnab/app/run'),
    '#!/bin/sh\ntrap "exit 9" TERM\necho slowly\nwhile :; do sleep 0.1; done\n',
  );
  return folder;
}

function allText(folder: string): string {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'latin1'))
    .join('\n');
}

/** The sandbox's server outlives the command; the test ends it before its folder goes. */
async function serverGone(home: string): Promise<void> {
  const record = join(home, 'cnab/sandbox/server.json');
  const pid = await Promise.resolve()
    .then(() => (JSON.parse(readFileSync(record, 'utf8')) as { pid: number }).pid)
    .catch(() => 0);
  if (pid > 0) process.kill(pid, 'SIGTERM');
}
