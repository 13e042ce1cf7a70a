import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, writeFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { LOGS_OUTPUT } from '../../src/claim/claim.js';
import { PROD, recordRun, SANDBOX, storeAt } from '../helpers/recorded-installation.js';
import {
  environment,
  removeHome,
  ROOT,
  runCnab,
  temporaryHome,
  type Ran,
  type RunOptions,
} from '../helpers/run-cnab.js';

const OUTPUTS = { url: 'https://example.org\n', count: '3', password: 'hunter2', blob: Uint8Array.of(0, 1, 255) };

describe('commands that read the store', () => {
  let home: string;
  let cnab: string;
  beforeEach(() => {
    home = temporaryHome();
    cnab = join(home, 'cnab');
  });
  afterEach(() => removeHome(home));

  const run = (args: readonly string[], more: Partial<RunOptions> = {}): Promise<Ran> =>
    runCnab(args, { home, ...more });

  describe('cnab list', () => {
    it('is empty at first and writes nothing', async () => {
      const { code, stdout } = await run(['list', '--json']);
      assert.deepEqual([code, JSON.parse(stdout)], [0, { schemaVersion: 1, command: 'list', installations: [] }]);
      assert.equal(existsSync(cnab), false);
    });

    it('shows every target, hides what is uninstalled, and gives names alone with -q', async () => {
      await recordRun(cnab, { name: 'app' });
      await recordRun(cnab, { name: 'app', target: SANDBOX, status: 'failed', exitCode: 2 });
      await recordRun(cnab, { name: 'old' });
      await recordRun(cnab, { name: 'old', action: 'uninstall' });
      const table = await run(['ls']);
      assert.match(
        table.stdout,
        /^NAME {2}TARGET +BUNDLE +LAST ACTION {2}STATUS +UPDATED\napp +prod\/payments +demo 1\.0\.0 +install +succeeded +\d+s ago\napp +sandbox +demo 1\.0\.0 +install +failed/,
      );
      assert.doesNotMatch(table.stdout, /old/);
      assert.equal((await run(['list', '-q', '--all'])).stdout, 'app\napp\nold\n');
      assert.equal((await run(['list', '-q', '--driver', 'sandbox'])).stdout, 'app\n');
      assert.match(
        (await run(['list', '-o', 'yaml'])).stdout,
        /^installations:\n {2}- name: app\n {4}target: prod\/payments\n/m,
      );
    });

    it('names a damaged record and shows the others', async () => {
      await recordRun(cnab, { name: 'app' });
      await recordRun(cnab, { name: 'bad' });
      const { records } = (await storeAt(cnab).on(PROD).read('bad')) ?? { records: [] };
      const file = join(cnab, 'targets', PROD.id, 'claims', 'bad', `${records[0]?.claim.id}.json`);
      writeFileSync(file, '{"half":');
      const { code, stdout, stderr } = await run(['list']);
      assert.equal(code, 0);
      assert.match(stdout, /^app /m);
      assert.ok(stderr.includes(`warning: ${file} cannot be read`), stderr);
      assert.doesNotMatch(stderr, /\n {4}at /);
      assert.equal((await run(['list', '-q'])).stderr, '');
    });
  });

  describe('a name', () => {
    it('with a blank is quoted in every command to paste', async () => {
      await recordRun(cnab, { name: 'my app', outputs: OUTPUTS, log: 'first' });
      await recordRun(cnab, { name: 'my app', action: 'upgrade' });
      await recordRun(cnab, { name: 'my app', target: SANDBOX });
      assert.match(
        (await run(['outputs', 'show', 'my app', 'url'])).stderr,
        /cnab outputs show 'my app' url --context/,
      );
      const logs = await run(['logs', 'my app', '--context', 'prod']);
      assert.match(logs.stderr, /cnab logs 'my app' --run 0/);
      const none = await run(['logs', 'my app', '--context', 'prod', '--run', 'x']);
      assert.match(none.stderr, /cnab history 'my app'\n/);
    });

    it('that is recorded nowhere is exit 6 with a near one', async () => {
      await recordRun(cnab, { name: 'payments' });
      const { code, stderr } = await run(['show', 'paymnets']);
      assert.deepEqual(
        [code, stderr],
        [6, 'error: no installation "paymnets" is recorded\n       did you mean "payments"?\n'],
      );
    });

    it('on two targets is exit 2 with the flags that choose, and these choose', async () => {
      await recordRun(cnab, { name: 'app', outputs: { url: 'prod' } });
      await recordRun(cnab, { name: 'app', target: SANDBOX, outputs: { url: 'sandbox' } });
      const { code, stderr } = await run(['outputs', 'show', 'app', 'url']);
      assert.equal(code, 2);
      assert.match(stderr, /cnab outputs show app url --context prod --namespace payments/);
      assert.match(stderr, /cnab outputs show app url --driver sandbox/);
      assert.equal((await run(['outputs', 'show', 'app', 'url', '--driver', 'sandbox'])).stdout, 'sandbox');
      assert.equal((await run(['outputs', 'show', 'app', 'url'], { env: { CNAB_CONTEXT: 'prod' } })).stdout, 'prod');
    });

    it('that is on another target than the flags say is exit 6 and says where', async () => {
      await recordRun(cnab, { name: 'app' });
      const { code, stderr } = await run(['history', 'app', '--driver', 'sandbox']);
      assert.equal(code, 6);
      assert.match(
        stderr,
        /it is installed on prod \(https:\/\/10\.0\.0\.1:6443\), namespace payments: use --context prod --namespace payments/,
      );
    });
  });

  describe('cnab outputs', () => {
    it('show writes the bytes and nothing else, also of a sensitive one', async () => {
      await recordRun(cnab, { name: 'app', outputs: OUTPUTS });
      for (const [name, content] of Object.entries(OUTPUTS)) {
        const { code, bytes, stderr } = await run(['outputs', 'show', 'app', name]);
        assert.deepEqual([code, [...bytes], stderr], [0, [...Buffer.from(content as string)], '']);
      }
    });

    it('list shows no sensitive value, in no format', async () => {
      await recordRun(cnab, { name: 'app', outputs: OUTPUTS, log: 'a log' });
      for (const format of ['table', 'json', 'yaml']) {
        const { stdout } = await run(['outputs', 'list', 'app', '-o', format]);
        assert.match(stdout, /password/);
        assert.doesNotMatch(stdout, /hunter2|invocationImageLogs/);
      }
      const { outputs } = JSON.parse((await run(['outputs', 'list', 'app', '--json'])).stdout) as {
        outputs: Record<string, unknown>[];
      };
      assert.deepEqual(
        outputs.map(({ name, value }) => [name, value]),
        [
          ['blob', undefined],
          ['count', 3],
          ['password', undefined],
          ['url', 'https://example.org\n'],
        ],
      );
    });

    it('show takes the newest there is, says that it is old, and goes by --run', async () => {
      const first = await recordRun(cnab, { name: 'app', outputs: { url: 'one', count: '1' } });
      await recordRun(cnab, { name: 'app', action: 'upgrade', outputs: { url: 'two' } });
      assert.equal((await run(['outputs', 'show', 'app', 'url'])).stdout, 'two');
      assert.equal((await run(['outputs', 'show', 'app', 'url', '--run', first])).stdout, 'one');
      const old = await run(['outputs', 'show', 'app', 'count']);
      assert.deepEqual([old.stdout, old.code], ['1', 0]);
      assert.match(old.stderr, new RegExp(`^note: "count" is from revision ${first}`));
      const last = await run(['outputs', 'show', 'app', 'count', '--run', 'last']);
      assert.equal(last.code, 6);
      assert.match(last.stderr, /its outputs: url/);
      assert.equal((await run(['outputs', 'list', 'app', '--run', 'nonsense'])).code, 6);
    });

    it('show gives a near name for one that is not there', async () => {
      await recordRun(cnab, { name: 'app', outputs: OUTPUTS });
      const { code, stderr } = await run(['outputs', 'show', 'app', 'pasword']);
      assert.deepEqual([code, stderr], [6, 'error: "app" has no output "pasword"\n       did you mean "password"?\n']);
    });

    it('show fails when the stored bytes are not those of the record', async () => {
      const id = await recordRun(cnab, { name: 'app', outputs: { url: 'right' } });
      const record = (await storeAt(cnab).on(PROD).read('app'))?.records.find(({ claim }) => claim.id === id);
      const stored = await storeAt(cnab)
        .on(PROD)
        .output(record?.results[0]?.id ?? '', 'url');
      writeFileSync(stored?.file ?? '', 'wrong');
      const { code, stderr } = await run(['outputs', 'show', 'app', 'url']);
      assert.equal(code, 5);
      assert.match(stderr, /the stored output "url" is damaged/);
    });

    it('show ends quietly when its reader goes away', async () => {
      await recordRun(cnab, { name: 'app', outputs: { url: Buffer.alloc(4 * 1024 * 1024, 'x') } });
      const child = spawn('sh', ['-c', `"${process.execPath}" bin/run.js outputs show app url | head -c 1; exit $?`], {
        cwd: ROOT,
        env: environment({ home }),
      });
      let stderr = '';
      child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
      const code = await new Promise((resolve) => child.on('close', resolve));
      assert.deepEqual([code, stderr], [0, '']);
    });
  });

  describe('cnab show and history', () => {
    it('say how it stands without a secret', async () => {
      await recordRun(cnab, { name: 'app', outputs: OUTPUTS });
      await recordRun(cnab, {
        name: 'app',
        action: 'upgrade',
        status: 'failed',
        exitCode: 4,
        message: 'upgrade failed\nmore',
      });
      for (const format of ['table', 'json', 'yaml']) {
        const { stdout, code } = await run(['show', 'app', '-o', format]);
        assert.equal(code, 0);
        assert.match(stdout, /failed/);
        assert.doesNotMatch(stdout, /hunter2|the secret of a parameter/);
      }
      const { stdout } = await run(['history', 'app']);
      assert.match(
        stdout,
        /^RUN +ACTION +STATUS +EXIT +BUNDLE +STARTED +TOOK +MESSAGE\n0\w{25} {2}install +succeeded +0 .*\n0\w{25} {2}upgrade +failed +4 .*upgrade failed$/m,
      );
    });
  });

  describe('cnab logs', () => {
    it('shows control characters and puts CI commands out of work; the bytes are an output', async () => {
      const log = Buffer.from('ok\n\u001b]0;title\u0007\n::set-env name=A::b\n##vso[task.complete]\n');
      await recordRun(cnab, { name: 'app', log });
      assert.equal(
        (await run(['logs', 'app'])).stdout,
        'ok\n\\x1b]0;title\\x07\n::set-env name=A::b\n##vso[task.complete]\n',
      );
      const ci = await run(['logs', 'app'], { env: { CI: 'true' } });
      assert.match(ci.stdout, /^ ::set-env name=A::b\n ##vso\[task\.complete\]$/m);
      const github = await run(['logs', 'app'], { env: { CI: 'true', GITHUB_ACTIONS: 'true' } });
      assert.doesNotMatch(github.stdout, /^\s*::|##vso\[/m);
      assert.deepEqual((await run(['outputs', 'show', 'app', LOGS_OUTPUT])).bytes, log);
    });

    it('says which run has a log when the last one has none', async () => {
      const first = await recordRun(cnab, { name: 'app', log: 'first' });
      await recordRun(cnab, { name: 'app', action: 'upgrade', status: 'failed' });
      const { code, stderr } = await run(['logs', 'app']);
      assert.equal(code, 6);
      assert.ok(stderr.includes(`cnab logs app --run ${first}`), stderr);
    });
  });

  it('cnab forget deletes the record, says that nothing ran, and is exit 6 the second time', async () => {
    await recordRun(cnab, { name: 'app' });
    const { code, stdout } = await run(['forget', 'app']);
    assert.equal(code, 0);
    assert.match(stdout, /^forgot "app" on prod .*; nothing was run, what it installed is still there\n$/);
    assert.equal((await run(['forget', 'app'])).code, 6);
  });

  it('are exit 2 with one sentence for a store of a newer version', async () => {
    await recordRun(cnab, { name: 'app' });
    mkdirSync(cnab, { recursive: true });
    writeFileSync(join(cnab, 'schema.json'), JSON.stringify({ version: 99 }));
    const { code, stderr } = await run(['list']);
    assert.equal(code, 2, stderr);
    assert.doesNotMatch(stderr, /\n {4}at /);
  });
});
