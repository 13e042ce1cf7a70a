import assert from 'node:assert/strict';
import { runCommand, splitCommand, type CommandOptions } from '../../src/credential/command.js';
import { SourceProblem } from '../../src/credential/read-limited.js';
import { readablePath } from '../helpers/readable-path.js';

describe('a command', () => {
  const stderr: Buffer[] = [];
  const options: CommandOptions = {
    env: { PATH: readablePath(), SECRET: 'hunter2' },
    cwd: '/',
    timeoutMs: 10_000,
    limit: 100,
    onStderr: (chunk) => stderr.push(Buffer.from(chunk)),
  };
  beforeEach(() => stderr.splice(0));

  async function problem(command: string, more: Partial<CommandOptions> = {}): Promise<string> {
    try {
      await runCommand(command, { ...options, ...more });
    } catch (error) {
      assert.ok(error instanceof SourceProblem, String(error));
      assert.doesNotMatch(error.message, /hunter2/);
      return error.message;
    }
    throw new Error('it succeeded');
  }

  it('is split into words by quotes and backslashes, and nothing is expanded', () => {
    const table: readonly [string, readonly string[]][] = [
      ['echo wildebeest', ['echo', 'wildebeest']],
      ['  a   b\tc\n', ['a', 'b', 'c']],
      [`a 'b  c' "d e"`, ['a', 'b  c', 'd e']],
      [`a '' ""`, ['a', '', '']],
      [`a b'c'"d"e`, ['a', 'bcde']],
      [`a "x\\"y\\\\z\\n" 'p\\q'`, ['a', 'x"y\\z\\n', 'p\\q']],
      ['a b\\ c \\"', ['a', 'b c', '"']],
      ['a $HOME `b` * ~ | c', ['a', '$HOME', '`b`', '*', '~', '|', 'c']],
      ['a \\', ['a', '\\']],
      ['a é😀', ['a', 'é😀']],
    ];
    for (const [command, words] of table) assert.deepEqual(splitCommand(command), words, command);
    for (const command of ['', '  ', `a 'b`, 'a "b', 'a\0b']) assert.throws(() => splitCommand(command), SourceProblem);
  });

  it('gives its standard output byte for byte, and its standard error to the user', async () => {
    const bytes = await runCommand(String.raw`sh -c 'printf "\000\377a\n\n"; echo note >&2'`, options);
    assert.deepEqual([...bytes], [0, 255, 97, 10, 10]);
    assert.equal(Buffer.concat(stderr).toString(), 'note\n');
    assert.deepEqual(await runCommand('true', options), Buffer.alloc(0));
    // What the README says against the last newline.
    for (const command of [`sh -c "printf 'a\nb\n' | tr -d '\n'"`, `printf %s ab`])
      assert.equal((await runCommand(command, options)).toString(), 'ab');
  });

  it('has the environment and the folder that it is given, and an empty standard input', async () => {
    const bytes = await runCommand(`sh -c 'printf "%s" "$SECRET"; cat; pwd'`, options);
    assert.equal(bytes.toString(), 'hunter2/\n');
  });

  it('that fails is told by its program and how it ended, not by what it wrote', async () => {
    assert.equal(await problem(`sh -c 'echo hunter2; exit 3'`), 'command "sh" ended with exit code 3');
    assert.equal(await problem(`sh -c 'kill -9 $$'`), 'command "sh" was killed by SIGKILL');
    assert.equal(await problem('no-such-program hunter2'), 'command "no-such-program" is not found');
    assert.equal(await problem('/ hunter2'), 'command "/" may not be executed');
    assert.match(await problem(`echo ${'x'.repeat(200_000)}`), /^command "echo" cannot be started \(E2BIG\)$/);
    assert.match(await problem('ls /nowhere | tee hunter2'), /run without a shell: sh -c '…' gives it one/);
  });

  it('is killed when it takes too long or writes too much', async () => {
    assert.equal(await problem('sleep 60', { timeoutMs: 100 }), 'command "sleep" did not end within 0.1 s');
    assert.equal(await problem(`sh -c 'sleep 60 & wait'`, { timeoutMs: 100 }), 'command "sh" did not end within 0.1 s');
    assert.equal(await problem('yes hunter2'), 'command "yes" wrote more than 100 bytes');
  });

  it('is killed when the run is interrupted, which is no problem of the credential', async () => {
    const stop = new AbortController();
    const { signal } = stop;
    const interrupted = { code: 'interrupted', message: 'command "sleep" was interrupted, nothing was run' };
    const running = assert.rejects(runCommand('sleep 60', { ...options, signal }), interrupted);
    stop.abort();
    await running;
    await assert.rejects(runCommand('sleep 60', { ...options, signal }), interrupted);
  });
});
