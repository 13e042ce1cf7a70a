import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import { runScreen, type RunScreen } from '../../src/cli/run-screen.js';
import { isInteractive, type Screen } from '../../src/cli/surroundings.js';
import { ManualClock } from '../helpers/manual-clock.js';

class Terminal extends PassThrough {
  readonly isTTY = true;
  constructor(readonly columns = 80) {
    super();
  }
  cursorTo = (): boolean => true;
  clearLine = (): boolean => true;
  moveCursor = (): boolean => true;
  get text(): string {
    return (this.read() as Buffer | null)?.toString() ?? '';
  }
}

describe('the screen of a run', () => {
  function plain(env: Record<string, string>): { screen: RunScreen; clock: ManualClock; text: () => string } {
    const stderr = new PassThrough();
    const clock = new ManualClock(0);
    const surroundings = { env, cwd: '/', stdin: new PassThrough(), stdout: new PassThrough(), stderr };
    const screen = runScreen({ surroundings, clock, quiet: false, title: 'install app' });
    return { screen, clock, text: () => (stderr.read() as Buffer | null)?.toString() ?? '' };
  }

  it('is plain lines where there is no terminal, one for each change', async () => {
    const { screen, text } = plain({});
    screen.progress({ phase: 'waiting', detail: 'pulling image a' });
    screen.progress({ phase: 'waiting', detail: 'pulling image a', receivedBytes: 1 });
    await screen.log(Buffer.from('half a li'));
    screen.progress({ phase: 'collecting', receivedBytes: 1024, totalBytes: 2048 });
    await screen.end();
    await screen.end();
    assert.equal(
      text(),
      'install app: waiting to start, pulling image a\nhalf a li\ninstall app: collecting outputs, 1 KiB of 2 KiB received\n',
    );
  });

  it('says one line after each minute of silence', async () => {
    const { screen, clock, text } = plain({ CI: 'true' });
    screen.progress({ phase: 'running' });
    await turn();
    await clock.elapse(60_000);
    await turn();
    await clock.elapse(60_000);
    await turn();
    await screen.end();
    assert.equal(text(), 'install app: running\ninstall app: running (1m00s)\ninstall app: running (2m00s)\n');
  });

  it('ends an open line and the wrapping of the log in GitHub Actions', async () => {
    const { screen, text } = plain({ GITHUB_ACTIONS: 'true' });
    screen.say('before ::x');
    await screen.log(Buffer.from('::add-mask::x'));
    await screen.end();
    assert.match(text(), /^before ::x\n::stop-commands::([0-9a-f]{32})\n::add-mask::x\n::\1::\n$/);
  });

  it('moves on a terminal, with whole lines of the log above', async () => {
    const stderr = new Terminal();
    const surroundings = { env: {}, cwd: '/', stdin: new PassThrough(), stdout: new PassThrough(), stderr };
    const screen = runScreen({ surroundings, clock: new ManualClock(0), quiet: false, title: 'install app' });
    screen.progress({ phase: 'running' });
    await screen.log(Buffer.from('one\ntw'));
    await screen.log(Buffer.from('o\u001b[2J\nrest'));
    await screen.end();
    const { text } = stderr;
    assert.match(text, /one\n[\s\S]*two\\x1b\[2J\n[\s\S]*rest\n/);
    assert.doesNotMatch(text, /\u001b\[2J/);
  });

  it('holds its moving line back while somebody talks to the user', async () => {
    const stderr = new Terminal();
    const surroundings = { env: {}, cwd: '/', stdin: new PassThrough(), stdout: new PassThrough(), stderr };
    const screen = runScreen({ surroundings, clock: new ManualClock(0), quiet: false, title: 'install app' });
    const meanwhile = await screen.aside(async () => {
      void stderr.text;
      screen.progress({ phase: 'waiting' });
      await new Promise((resolve) => setTimeout(resolve, 200));
      return stderr.text;
    });
    assert.equal(meanwhile, '');
    await screen.end();
    assert.match(stderr.text, /waiting to start/);
  });

  it('never moves on a terminal of 0 columns, in CI, or on a dumb one', () => {
    const screen = (columns: number): Screen => new Terminal(columns);
    assert.equal(isInteractive(screen(80), {}), true);
    assert.equal(isInteractive(screen(80), { CI: 'false' }), true);
    assert.equal(isInteractive(screen(0), {}), false);
    assert.equal(isInteractive(screen(80), { CI: '1' }), false);
    assert.equal(isInteractive(screen(80), { TERM: 'dumb' }), false);
    assert.equal(isInteractive(new PassThrough(), {}), false);
  });
});
