import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ScriptedRuntime, ProcessRuntime, withApiServer } from '../helpers/api-server.js';
import { environment, removeHome, ROOT, runCnab, temporaryHome } from '../helpers/run-cnab.js';

const BUNDLE = {
  schemaVersion: 'v1.2.0',
  name: 'app',
  version: '1.0.0',
  invocationImages: [{ image: 'registry.example/app:1.0.0', contentDigest: `sha256:${'a'.repeat(64)}` }],
};

describe('a command that is told of', () => {
  let home: string;
  beforeEach(() => (home = temporaryHome()));
  afterEach(() => removeHome(home));

  /** What a shell makes of a line, in a folder where nobody was before. */
  function paste(line: string): Promise<{ readonly code: number | null; readonly output: string }> {
    const elsewhere = join(home, 'elsewhere');
    mkdirSync(elsewhere, { recursive: true });
    const env = environment({ home, env: { PATH: `${join(home, 'bin')}:${process.env['PATH']}` } });
    return new Promise((resolve, reject) => {
      const child = spawn('sh', ['-c', `exec 2>&1; ${line}`], { cwd: elsewhere, env });
      let output = '';
      child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
      child.on('error', reject);
      child.on('close', (code) => resolve({ code, output }));
    });
  }

  it('works when it is pasted elsewhere, whatever kubeconfig and context were named', async () => {
    mkdirSync(join(home, 'bin'));
    const node = JSON.stringify(process.execPath);
    writeFileSync(join(home, 'bin/cnab'), `#!/bin/sh\nexec ${node} ${JSON.stringify(join(ROOT, 'bin/run.js'))} "$@"\n`);
    writeFileSync(
      join(home, 'bin/kubectl'),
      `#!/bin/sh\nprintf '%s\\n' "$@" > ${JSON.stringify(join(home, 'asked'))}\n`,
    );
    for (const name of ['cnab', 'kubectl']) chmodSync(join(home, 'bin', name), 0o755);
    writeFileSync(join(home, 'bundle.json'), JSON.stringify(BUNDLE));
    const invocation = async ({ log }: { log: (text: string) => Promise<void> }): Promise<number> => {
      await log('what it says');
      return 3;
    };
    const runtime = new ScriptedRuntime({ scripts: { invocation }, otherwise: new ProcessRuntime() });
    await withApiServer({ runtime }, async (server) => {
      const context = "the $HOME of it's";
      const config = {
        clusters: [{ name: 'c', cluster: { server: server.url } }],
        users: [{ name: 'u', user: { token: server.token } }],
        contexts: [{ name: context, context: { cluster: 'c', user: 'u' } }],
      };
      writeFileSync(join(home, 'kube config'), JSON.stringify(config));
      const target = ['--kubeconfig', 'kube config', '--context', context];
      const begun = await runCnab(['install', 'app', 'bundle.json', '--keep-job', ...target], { home });
      assert.equal(begun.code, 1, begun.stderr);
      const told = (what: RegExp): string => {
        const line = what.exec(begun.stderr)?.[1];
        assert.ok(line !== undefined, `${what} is not in ${begun.stderr}`);
        return line;
      };
      const log = await paste(told(/^ *(?:error: )?.*its log: (cnab .*)$/m));
      assert.deepEqual(log, { code: 0, output: 'what it says\n' });
      const resumed = await paste(told(/^should this command be killed: (cnab .*)$/m));
      assert.match(resumed.output, /^nothing is to be taken up: the install of "app"/m);
      assert.equal(resumed.code, 0);
      const look = await paste(told(/look at it with: (kubectl .*)$/m));
      assert.equal(look.code, 0, look.output);
      const job = server.cluster.store.list('jobs')[0]?.metadata.name ?? '';
      const asked = [
        'describe',
        'job',
        job,
        '-n',
        'default',
        '--kubeconfig',
        join(home, 'kube config'),
        '--context',
        context,
      ];
      assert.deepEqual(readFileSync(join(home, 'asked'), 'utf8').trimEnd().split('\n'), asked);
    });
  });
});
