import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import { confirmProtected, type Confirmation } from '../../../src/cli/wiring/protected.js';
import type { CnabError } from '../../../src/errors.js';
import { PROD, SANDBOX } from '../../helpers/recorded-installation.js';

class Terminal extends PassThrough {
  readonly isTTY = true;
  readonly columns = 80;
}

const config = { file: '/home/x/config.yaml', values: new Map(), protectedContexts: ['staging', 'prod'] };

describe('a protected context', () => {
  function confirm(changes: Partial<Confirmation> & { env?: Record<string, string>; piped?: boolean } = {}) {
    const { env = {}, piped = false, ...rest } = changes;
    const stdin = piped ? new PassThrough() : new Terminal();
    const stderr = new Terminal();
    const run = {
      action: 'upgrade',
      installation: 'app',
      target: PROD,
      config,
      surroundings: { env, cwd: '/', stdin, stdout: new Terminal(), stderr },
      signal: new AbortController().signal,
      ...rest,
    };
    const shown = (): string => (stderr.read() as Buffer | null)?.toString() ?? '';
    return { done: confirmProtected(run), stdin, shown };
  }

  it('asks what is about to run where, and goes on when the name is typed', async () => {
    const { done, stdin, shown } = confirm();
    stdin.write('app\n');
    await done;
    assert.equal(
      shown(),
      'upgrade app -> prod (https://10.0.0.1:6443), namespace payments\n' +
        `the context "prod" is protected by /home/x/config.yaml. Type the installation's name to go on: `,
    );
    assert.equal(stdin.isPaused(), true);
  });

  for (const answer of ['yes\n', '\n', 'App\n', undefined]) {
    it(`stops at ${answer === undefined ? 'the end of the input' : JSON.stringify(answer)}`, async () => {
      const { done, stdin } = confirm();
      stdin.end(answer ?? '');
      await assert.rejects(done, (error: CnabError) => {
        assert.deepEqual([error.code, error.message], ['invalid', 'the answer is not "app": upgrade was not begun']);
        return true;
      });
    });
  }

  for (const [title, changes] of [
    ['a pipe', { piped: true }],
    ['a CI system', { env: { CI: 'true' } }],
  ] as const) {
    it(`needs --yes with ${title}`, async () => {
      await assert.rejects(confirm(changes).done, (error: CnabError) => {
        assert.equal(error.code, 'invalid');
        assert.equal(
          error.message,
          'the context "prod" is protected by /home/x/config.yaml and nobody can be asked here: ' +
            'upgrade app -> prod (https://10.0.0.1:6443), namespace payments was not begun',
        );
        assert.deepEqual(error.suggestions, ['if it is meant, add --yes']);
        return true;
      });
    });
  }

  it('is not asked about on another target', async () => {
    await confirm({ piped: true, target: { ...PROD, context: 'dev' } }).done;
    await confirm({ piped: true, target: SANDBOX }).done;
  });

  it('leaves the question at a signal or when the time is over', async () => {
    const reasons = [
      [{ kind: 'signal', signal: 'SIGINT' }, 'interrupted'],
      [{ kind: 'timeout' }, 'timed-out'],
    ] as const;
    for (const [reason, code] of reasons) {
      const stop = new AbortController();
      const { done } = confirm({ signal: stop.signal });
      await turn();
      stop.abort(reason);
      await assert.rejects(done, { code, message: 'nobody has answered: upgrade was not begun' });
    }
  });
});
