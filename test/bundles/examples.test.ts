import assert from 'node:assert/strict';
import { readFile, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { appliesTo, type Bundle } from '../../src/bundle/bundle.js';
import { checkOutput, typedOutput } from '../../src/bundle/outputs.js';
import { validateBundle } from '../../src/bundle/validate.js';
import { runTool, type RunToolEnd } from '../helpers/run-tool.js';
import { SHELLS, appletFolder, type Shell } from '../helpers/run-sidecar.js';
import { withFolder } from '../helpers/staging.js';

const BUNDLES = fileURLToPath(new URL('../../bundles/', import.meta.url));
const names = await readdir(BUNDLES);
/** The applets that the run tools use; an image of busybox has them. */
const TOOLS = ['base64', 'cat', 'cut', 'head', 'mkdir', 'od', 'sed', 'sha256sum', 'tr'];

const bundleOf = async (name: string): Promise<Bundle> =>
  JSON.parse(await readFile(join(BUNDLES, name, 'bundle.json'), 'utf8')) as Bundle;

interface Run extends RunToolEnd {
  /** Bytes of the declared outputs that apply and were written. */
  readonly outputs: ReadonlyMap<string, Buffer>;
  readonly missing: readonly string[];
}

interface Given {
  readonly environment?: Readonly<Record<string, string>>;
  readonly files?: Readonly<Record<string, string>>;
}

/** Runs an action in a container's root of its own; every output that was written must fit its definition. */
async function run(shell: Shell, name: string, action: string, given: Given = {}): Promise<Run> {
  const bundle = await bundleOf(name);
  return withFolder(async (root) => {
    const path = shell.tools ? await appletFolder(root, TOOLS) : '/usr/bin:/bin';
    const end = await runTool({ root, bundle: join(BUNDLES, name), shell: shell.command, path, action, ...given });
    const outputs = new Map<string, Buffer>();
    const missing: string[] = [];
    for (const [output, { path: at, definition, ...scope }] of Object.entries(bundle.outputs ?? {})) {
      const bytes = await readFile(join(root, at)).catch(() => undefined);
      if (!appliesTo(scope, action)) assert.equal(bytes, undefined, `${output} does not apply to ${action}`);
      else if (bytes === undefined) missing.push(output);
      else outputs.set(output, bytes);
      if (bytes) assert.equal(await checkOutput(bundle.definitions?.[definition] ?? true, bytes), undefined, output);
    }
    return { ...end, outputs, missing };
  });
}

const text = (run: Run, output: string): string | undefined => run.outputs.get(output)?.toString('utf8');
const json = (run: Run, output: string): unknown =>
  typedOutput({ type: 'object' }, run.outputs.get(output) ?? Buffer.alloc(0));

describe('The example bundles', () => {
  for (const name of names) {
    it(`${name} is valid, and its run tool can be executed`, async () => {
      const verdict = await validateBundle(await readFile(join(BUNDLES, name, 'bundle.json')), `${name}/bundle.json`);
      assert.deepEqual(verdict.problems, []);
      assert.ok((await stat(join(BUNDLES, name, 'cnab/app/run'))).mode & 0o111);
      for (const file of ['README.md', 'Dockerfile']) assert.ok((await stat(join(BUNDLES, name, file))).isFile());
    });

    it(`${name} ends with an error for an action that it does not have`, async () => {
      const { exitCode, stderr } = await run(SHELLS[0] ?? assert.fail(), name, 'fly');
      assert.equal(exitCode, 1);
      assert.match(stderr, /no action "fly"/);
    });
  }
});

for (const shell of SHELLS) {
  describe(`The bundle hello under ${shell.name}`, () => {
    const environment = { GREETING: 'Salut "toi" \\', WHO: "l'été $(id) `id`" };

    it('greets in text and JSON, whatever characters the greeting has', async () => {
      const installed = await run(shell, 'hello', 'install', { environment });
      assert.deepEqual([installed.exitCode, installed.stderr, installed.missing], [0, '', []]);
      const message = `${environment.GREETING}, ${environment.WHO}!`;
      assert.equal(text(installed, 'message'), message);
      const { GREETING: greeting, WHO: who } = environment;
      assert.deepEqual(json(installed, 'report'), { action: 'install', installation: 'app', greeting, who, message });
      assert.equal(installed.stdout, `Installing app\n${message}\n`);
    });

    it('greets again on upgrade, says goodbye on uninstall, and helps', async () => {
      const upgraded = await run(shell, 'hello', 'upgrade', { environment: { GREETING: 'Hello', WHO: 'world' } });
      assert.equal(text(upgraded, 'message'), 'Hello again, world!');
      const uninstalled = await run(shell, 'hello', 'uninstall', { environment: { WHO: 'world' } });
      assert.equal(text(uninstalled, 'message'), 'Goodbye, world!');
      const helped = await run(shell, 'hello', 'io.cnab.help', { environment: { WHO: 'world' } });
      for (const end of [upgraded, uninstalled, helped])
        assert.deepEqual([end.exitCode, end.stderr, end.missing], [0, '', []]);
    });
  });

  describe(`The bundle certs under ${shell.name}`, () => {
    const environment = { DOMAIN: 'www.example.test', SIGNING_KEY: 'k $(id)\nsecond line' };
    const files = { '/etc/certs/signing-key': environment.SIGNING_KEY };

    it('issues text, binary and nested outputs, anew each time', async () => {
      const runs = [];
      for (const action of ['install', 'upgrade', 'renew'])
        runs.push(await run(shell, 'certs', action, { environment, files }));
      for (const end of runs) {
        assert.deepEqual([end.exitCode, end.stderr, end.missing], [0, '', []]);
        assert.match(text(end, 'serial') ?? '', /^[1-9][0-9]*\n$/);
        assert.equal(end.outputs.get('keystore')?.length, 4100);
        assert.match(text(end, 'certificate') ?? '', /^-----BEGIN EXAMPLE CERTIFICATE-----\n[A-Za-z0-9+/=\n]+-----END/);
        assert.ok(!end.stdout.includes('second line'));
      }
      for (const output of ['private-key', 'keystore', 'certificate']) {
        assert.equal(new Set(runs.map((end) => end.outputs.get(output)?.toString('latin1'))).size, 3, output);
      }
    });

    it('fails when the credential’s file and variable differ, and needs none for uninstall', async () => {
      const differ = await run(shell, 'certs', 'install', {
        environment,
        files: { '/etc/certs/signing-key': 'other' },
      });
      assert.deepEqual([differ.exitCode, differ.missing.length], [1, 4]);
      assert.equal((await run(shell, 'certs', 'uninstall')).exitCode, 0);
    });
  });

  describe(`The bundle flaky under ${shell.name}`, () => {
    it('leaves an output and then fails, with the exit code that it is given', async () => {
      const failed = await run(shell, 'flaky', 'install', { environment: { EXIT_CODE: '3' } });
      assert.deepEqual([failed.exitCode, failed.missing], [3, ['endpoint']]);
      assert.deepEqual(json(failed, 'progress'), { action: 'install', stepsDone: 2, steps: 3 });
      assert.equal((await run(shell, 'flaky', 'upgrade', { environment: { EXIT_CODE: '255' } })).exitCode, 255);
    });

    it('succeeds when it is told to, and when it is repaired', async () => {
      for (const [action, environment] of [
        ['install', { EXIT_CODE: '0' }],
        ['repair', {}],
      ] as const) {
        const succeeded = await run(shell, 'flaky', action, { environment });
        assert.deepEqual([succeeded.exitCode, succeeded.missing], [0, []]);
        assert.equal(text(succeeded, 'endpoint'), 'http://app.example.test');
        assert.deepEqual(json(succeeded, 'progress'), { action, stepsDone: 3, steps: 3 });
      }
      assert.equal((await run(shell, 'flaky', 'uninstall')).exitCode, 0);
    });
  });
}
