import assert from 'node:assert/strict';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { CnabError } from '../../../src/errors.js';
import { readExecPlugin, runExecPlugin } from '../../../src/driver/kubernetes/exec-plugin.js';
import type { PluginRun } from '../../../src/driver/kubernetes/exec-plugin.js';
import { pluginProvider } from '../../../src/driver/kubernetes/user-credentials.js';
import { ManualClock } from '../../helpers/manual-clock.js';
import { readablePath } from '../../helpers/readable-path.js';

const credential = (status: object): string => JSON.stringify({ kind: 'ExecCredential', status });

describe('a credential plugin', () => {
  let folder: string;

  before(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'cnab-plugin-'));
    mkdirSync(path.join(folder, 'bin'));
  });

  after(() => rmSync(folder, { recursive: true, force: true }));

  /** Writes a shell script and gives its path relative to the folder. */
  function script(name: string, body: string): string {
    const file = path.join(folder, 'bin', name);
    writeFileSync(file, `#!/bin/sh\n${body}\n`);
    chmodSync(file, 0o755);
    return `bin/${name}`;
  }

  function says(name: string, answer: string): string {
    return script(name, `cat <<'END'\n${answer}\nEND`);
  }

  function run(exec: object, more: Partial<PluginRun> = {}) {
    const plugin = readExecPlugin(exec, 'alice', folder);
    return runExecPlugin(plugin, {
      env: { PATH: readablePath() },
      cluster: { server: 'https://c' },
      user: 'alice',
      interactive: false,
      timeoutMs: 10_000,
      signal: new AbortController().signal,
      ...more,
    });
  }

  async function refused(exec: object, message: RegExp, more: Partial<PluginRun> = {}): Promise<CnabError> {
    let refusal: unknown;
    await assert.rejects(run(exec, more), (error) => Boolean((refusal = error)));
    assert.ok(refusal instanceof CnabError, String(refusal));
    assert.equal(refusal.code, 'unavailable');
    assert.match(refusal.message, message);
    return refusal;
  }

  it('is found beside the kubeconfig when its path is relative, and in PATH when it is a bare name', async () => {
    const command = says('token', credential({ token: 'abc', expirationTimestamp: '2026-11-30T23:00:00Z' }));
    assert.deepEqual(await run({ command }), { token: 'abc', expiresAt: Date.UTC(2026, 10, 30, 23) });
    const env = { PATH: `${path.join(folder, 'bin')}:${process.env['PATH']}` };
    assert.equal((await run({ command: 'token' }, { env })).token, 'abc');
  });

  it('is told arguments, environment and the cluster, the last only if it wants to know', async () => {
    const command = script(
      'env',
      `printf '{"kind":"ExecCredential","status":{"token":"%s"}}' "$1-$A-$(printf %s "$KUBERNETES_EXEC_INFO" | base64 -w 0)"`,
    );
    const exec = {
      command,
      args: ['x'],
      env: [{ name: 'A', value: 'y' }],
      apiVersion: 'client.authentication.k8s.io/v1beta1',
    };
    for (const provideClusterInfo of [true, false]) {
      const [x, y, info = ''] = ((await run({ ...exec, provideClusterInfo })).token ?? '').split('-');
      assert.deepEqual([x, y], ['x', 'y']);
      assert.deepEqual(JSON.parse(Buffer.from(info, 'base64').toString()), {
        apiVersion: 'client.authentication.k8s.io/v1beta1',
        kind: 'ExecCredential',
        spec: { interactive: false, ...(provideClusterInfo ? { cluster: { server: 'https://c' } } : {}) },
      });
    }
  });

  it('may give a client certificate instead of a token', async () => {
    const command = says('cert', credential({ clientCertificateData: 'C', clientKeyData: 'K' }));
    assert.deepEqual(await run({ command }), { clientCertificate: 'C', clientKey: 'K' });
  });

  it('that is missing is reported with the hint of the kubeconfig how to install it', async () => {
    const error = await refused(
      { command: 'no-such-plugin', installHint: 'Get it:\n  brew install it' },
      /^no credentials for user "alice": no-such-plugin is not installed$/,
    );
    assert.deepEqual(error.suggestions, ['Get it:', '  brew install it']);
  });

  it('that fails is reported with what it said on stderr, and never with its stdout', async () => {
    const output: string[] = [];
    const onOutput = (chunk: Uint8Array): number => output.push(Buffer.from(chunk).toString());
    const command = script('fail', 'echo s3cret; printf "session \\033[31mexpired\\nlog in again\\n" >&2; exit 3');
    const error = await refused({ command }, /bin\/fail failed with exit code 3$/, { onOutput });
    assert.deepEqual(error.details, ['session  [31mexpired', 'log in again']);
    assert.match(output.join(''), /expired/);
    assert.ok(!JSON.stringify([error.message, error.details, error.suggestions]).includes('s3cret'));
  });

  it('that says nothing usable is reported', async () => {
    await refused({ command: says('text', 'token: s3cret') }, /did not write JSON$/);
    await refused(
      { command: says('other', '{"kind":"Pod","status":{}}') },
      /did not write an ExecCredential with a status$/,
    );
    await refused(
      { command: says('void', credential({})) },
      /gave neither a token nor a client certificate with its key$/,
    );
    await refused({ command: says('half', credential({ clientCertificateData: 'C' })) }, /gave neither/);
    await refused({ command: script('kill', 'kill -9 $$') }, /was ended by SIGKILL$/);
    await refused({ command: script('flood', 'head -c 5000000 /dev/zero; sleep 60') }, /wrote more than 4 MiB$/);
  });

  it('that does not end is ended', async () => {
    const command = script('hang', 'exec sleep 60');
    await refused({ command }, /did not end within 0.1 s$/, { timeoutMs: 100 });
    const stop = new AbortController();
    const stopped = refused({ command }, /was stopped$/, { signal: stop.signal });
    setImmediate(() => stop.abort());
    await stopped;
  });

  it('may leave a process behind that holds its output open', async () => {
    const command = script('daemon', `sleep 5 & echo '${credential({ token: 'abc' })}'`);
    assert.equal((await run({ command })).token, 'abc');
  });

  it('that insists on a terminal is not started without one', async () => {
    await refused(
      { command: script('ask', `touch '${folder}/asked'`), interactiveMode: 'Always' },
      /wants a terminal to ask on, and there is none$/,
    );
    assert.equal(existsSync(path.join(folder, 'asked')), false);
  });

  it('is described wrongly in a kubeconfig: one sentence', () => {
    for (const exec of ['x', {}, { command: 'x', args: [1] }, { command: 'x', env: [{}] }]) {
      assert.throws(
        () => readExecPlugin(exec, 'alice', folder),
        /^CnabError: the credential plugin of user "alice" in the kubeconfig /,
      );
    }
  });

  it('runs once for all requests until its credential expires, is refused, or it failed', async () => {
    const runs = path.join(folder, 'runs');
    writeFileSync(runs, '');
    const answer = credential({ token: 'abc', expirationTimestamp: '2026-11-30T00:01:00Z' });
    const plugin = readExecPlugin(
      { command: script('count', `echo x >> '${runs}'; [ -e '${folder}/broken' ] && exit 1; echo '${answer}'`) },
      'alice',
      folder,
    );
    const clock = new ManualClock(0);
    const provider = pluginProvider(
      plugin,
      {
        env: {},
        cluster: {},
        user: 'alice',
        interactive: false,
        timeoutMs: 10_000,
        signal: new AbortController().signal,
      },
      clock,
    );
    const count = (): number => readFileSync(runs, 'utf8').length / 2;
    await Promise.all([provider.proof(), provider.proof(), provider.proof()]);
    assert.equal(count(), 1);
    provider.forget();
    const login = provider.proof();
    // The other requests that were refused with the same credential.
    await new Promise((resolve) => setTimeout(resolve, 1));
    provider.forget();
    await Promise.all([provider.proof(), login]);
    assert.equal(count(), 2);
    void clock.sleep(55_000);
    await clock.elapse(55_000);
    await Promise.all([provider.proof(), provider.proof()]);
    assert.equal(count(), 3);
    writeFileSync(path.join(folder, 'broken'), '');
    await assert.rejects(provider.proof(), CnabError);
    await assert.rejects(provider.proof(), CnabError);
    assert.equal(count(), 5);
  });
});
