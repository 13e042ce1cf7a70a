import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fc from 'fast-check';
import {
  environmentScript,
  NOT_STARTED,
  quoted,
} from '../../../../src/driver/sandbox/namespaces/environment-script.js';

const SHELLS = [['dash'], ['bash', '--posix'], ['busybox', 'sh']].filter(
  ([program = '', ...args]) => spawnSync(program, [...args, '-c', 'true']).status === 0,
);

/** Runs a command through the script; resolves with its environment, NUL-separated names and values. */
function environmentIn(
  shell: readonly string[],
  env: readonly { name: string; value: string }[],
  argv = ['env', '-0'],
) {
  const [program = '', ...args] = shell;
  const input = environmentScript({ env, argv, workingDir: '/', stderr: 2 }).replace(' 2>&2 2>&-', '');
  const { stdout, stderr, status } = spawnSync(program, [...args, '-s'], {
    input,
    env: { PATH: '/usr/bin:/bin', LC_ALL: 'C' },
  });
  const entries = stdout.toString('utf8').split('\0').filter(Boolean);
  return { entries, stderr: stderr.toString(), status };
}

for (const shell of SHELLS) {
  describe(`the environment of a container, through ${shell.join(' ')}`, () => {
    it('is what the pod says, with PATH and HOME where it says nothing', () => {
      const { entries } = environmentIn(shell, [{ name: 'A', value: 'it\'s $HOME `x` \\ "\n' }]);
      assert.deepEqual(
        entries.sort(),
        [
          'A=it\'s $HOME `x` \\ "\n',
          'HOME=/root',
          'PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
        ].sort(),
      );
    });

    it('carries any value under any name that an environment can hold', function () {
      this.timeout(60_000);
      const own = [
        'UID',
        'EUID',
        'PPID',
        'OPTIND',
        'RANDOM',
        'SHLVL',
        'PWD',
        'OLDPWD',
        '_',
        'LC_ALL',
        'IFS',
        'PS4',
        'ENV',
        'BASH_ENV',
        'SHELLOPTS',
        'LINENO',
        'HOME',
      ];
      const name = fc.oneof(fc.constantFrom(...own), fc.stringMatching(/^[A-Za-z_.-][A-Za-z0-9_.-]{0,8}$/));
      const variable = fc.record({
        name: name.filter((text) => !['PATH', '-'].includes(text) && !text.startsWith('LD_') && !text.startsWith('-')),
        value: fc.string({ unit: 'grapheme' }).map((text) => text.replaceAll('\0', '')),
      });
      fc.assert(
        fc.property(fc.uniqueArray(variable, { selector: (entry) => entry.name, maxLength: 12 }), (env) => {
          const { entries, stderr } = environmentIn(shell, env);
          assert.equal(stderr, 'started\n');
          const expected = new Map([
            ['HOME', '/root'],
            ...env.map((entry): [string, string] => [entry.name, entry.value]),
          ]);
          assert.deepEqual(
            entries.filter((entry) => !entry.startsWith('PATH=')).sort(),
            [...expected].map(([key, value]) => `${key}=${value}`).sort(),
          );
        }),
        { numRuns: 40 },
      );
    });

    it('says that a command is not there, and starts nothing', () => {
      const { status, stderr } = environmentIn(shell, [], ['/nowhere/run']);
      assert.equal(status, NOT_STARTED);
      assert.equal(stderr, 'there is no command /nowhere/run\n');
    });
  });
}

describe('the script that sets an environment', () => {
  it('names no value outside quotes and no variable of a program that still has rights', () => {
    const script = environmentScript({
      env: [{ name: 'LD_PRELOAD', value: '/x; rm -rf /' }],
      argv: ['run'],
      workingDir: '/',
      stderr: 3,
    });
    assert.match(script, /^export LD_PRELOAD='\/x; rm -rf \/'$/m);
  });

  it('refuses a NUL byte', () => {
    assert.throws(() => quoted('a\0b'), RangeError);
  });
});
