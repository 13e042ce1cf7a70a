import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Resume from '../../src/commands/resume.js';
import Wait from '../../src/commands/wait.js';
import type { CnabError } from '../../src/errors.js';
import type { FakeLife } from '../helpers/fake-driver.js';
import { LeftRun } from './left-run.js';

type Document = Readonly<Record<string, unknown>>;

const OUTPUTS = { url: 'https://example.org\n', count: '3', password: 'hunter2', blob: 'a blob' };

async function everything(run: FakeLife): Promise<void> {
  await run.posted();
  for (const [name, text] of Object.entries(OUTPUTS)) await run.output(name, text);
}

for (const command of [Wait, Resume]) {
  describe(`the outputs that cnab ${command.name.toLowerCase()} is to leave in a folder`, () => {
    let stage: LeftRun;
    beforeEach(async () => {
      stage = new LeftRun();
      stage.driver.resumes = everything;
      await stage.detach();
    });
    afterEach(() => stage.remove());

    const run = (...argv: string[]) => stage.run(command, ['app', ...argv]);
    const left = (folder: string): Document => {
      const path = join(stage.home, folder);
      const names = existsSync(path) ? readdirSync(path) : [];
      for (const name of names) assert.equal(statSync(join(path, name)).mode & 0o777, 0o600);
      return Object.fromEntries(names.map((name) => [name, readFileSync(join(path, name), 'utf8')]));
    };
    /** The file of an output in the record. */
    const stored = (name: string): string => {
      const home = join(stage.home, 'cnab/targets');
      const file = (readdirSync(home, { recursive: true }) as string[]).find((path) => path.endsWith(`-${name}`));
      assert.ok(file !== undefined);
      return join(home, file);
    };

    it('are there also where another process was faster, by the same rules', async () => {
      const first = await run('--outputs-dir', 'first');
      const second = await run('--outputs-dir', 'second');
      const { password, ...open } = OUTPUTS;
      for (const [folder, { exitCode, stderr }] of [
        ['first', first],
        ['second', second],
      ] as const) {
        assert.deepEqual([exitCode, left(folder)], [0, open]);
        const note = `note: sensitive outputs are not copied to ${folder} unless --include-sensitive names them: password`;
        assert.equal(stderr.split('\n').filter((line) => line === note).length, 1, stderr);
      }
      const named = await run('--outputs-dir', 'third', '--include-sensitive', 'password');
      assert.deepEqual([named.exitCode, left('third')], [0, { ...open, password }]);
      assert.doesNotMatch(named.stderr, /sensitive outputs are not copied/);
      assert.equal((await run('--outputs-dir', 'fourth', '-q')).stderr, '');
    });

    it('that are damaged are told of a failed run too, beside its own error', async () => {
      stage.driver.resumes = async (life) => {
        await everything(life);
        return { status: 'failed', exitCode: 7 };
      };
      await run();
      writeFileSync(stored('blob'), 'damaged');
      const { stdout, stderr } = await run('--outputs-dir', 'out', '--json');
      assert.match(stderr, /not all outputs of install .* could be put into out/);
      assert.match(stdout, /not all outputs of install /);
    });

    it('are not all there where a stored one is gone or damaged: exit 5, and the others are', async () => {
      await run();
      rmSync(stored('url'));
      writeFileSync(stored('blob'), 'another');
      const { exitCode, stdout, stderr } = await run('--outputs-dir', 'out', '--json');
      assert.deepEqual([exitCode, left('out')], [5, { count: '3' }]);
      const error = (JSON.parse(stdout) as Document)['error'] as Document;
      assert.deepEqual([error['code'], error['exitCode']], ['outputs-incomplete', 5]);
      assert.match(stderr, /^error: not all outputs of install \(run \w+\) could be put into out/m);
      assert.match(stderr, /the stored output "blob" is damaged: [^]*the file of output "url" is gone/);
      assert.equal((await run()).exitCode, 0);
    });

    it('are not all there where the run itself lost some, or nobody knows how it ended', async () => {
      stage.driver.resumes = async (life) => {
        await life.posted();
        await life.output('url', OUTPUTS.url);
      };
      await run();
      const some = await run('--outputs-dir', 'some');
      assert.deepEqual([some.exitCode, left('some')], [5, { url: OUTPUTS.url }]);
      await stage.detach('--force');
      stage.driver.resumes = () => Promise.resolve({ status: 'unknown', ran: 'unknown' });
      await run();
      const unknown = await run('--outputs-dir', 'none');
      assert.deepEqual([unknown.exitCode, left('none')], [8, {}]);
    });

    it('are not there where the folder cannot be written: exit 5', async () => {
      await run();
      mkdirSync(join(stage.home, 'out/count'), { recursive: true });
      const { exitCode, stderr } = await run('--outputs-dir', 'out');
      assert.equal(exitCode, 5);
      assert.match(stderr, /^error: the outputs are in the record, but cannot be copied to out: /m);
    });

    it('are refused by a name that the bundle does not have, before anything is done and after', async () => {
      const refused = async (): Promise<void> => {
        const argv = ['--outputs-dir', 'out', '--include-sensitive', 'pasword'];
        const { code, message, suggestions } = (await run(...argv)).thrown as CnabError;
        assert.deepEqual([code, message], ['invalid', 'bundle "demo" has no output "pasword"']);
        assert.equal(suggestions[0], 'did you mean "password"?');
      };
      await refused();
      const [operation] = stage.driver.operations;
      assert.deepEqual([stage.driver.begun, stage.driver.released], [[], []]);
      await run();
      await refused();
      rmSync(join(stage.home, 'cnab/targets'), { recursive: true });
      const state = { namespace: 'default', job: 'j', jobUid: 'u' };
      const { runId = '', record = Buffer.alloc(0) } = operation ?? {};
      stage.driver.found = [{ runId, action: 'install', created: Date.now(), state }];
      stage.driver.inputsOf = () => Promise.resolve({ record, environment: new Map(), files: new Map() });
      // Of a run of another machine wait knows no bundle, and leaves nothing of it.
      if (command === Resume) await refused();
      assert.deepEqual([stage.driver.begun.length, existsSync(join(stage.home, 'out'))], [1, false]);
    });
  });
}
