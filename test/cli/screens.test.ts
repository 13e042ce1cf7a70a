import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import { runScreen, type RunScreen } from '../../src/cli/run-screen.js';
import type { Progress } from '../../src/driver/driver.js';
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
      'install app: waiting to start, pulling image a\nhalf a li\ninstall app: collecting outputs, 1 KiB of 2 KiB (50%)\n',
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

  const MIB = 1024 ** 2;
  const collecting = (mib: number, more: Partial<Progress> = {}): Progress => {
    return { phase: 'collecting', receivedBytes: mib * MIB, totalBytes: 100 * MIB, output: 'state.tar', ...more };
  };

  it('says a line every ten seconds while outputs arrive, and after a minute where none does', async () => {
    const { screen, clock, text } = plain({ CI: 'true' });
    const passes = async (seconds: number): Promise<void> => {
      void clock.sleep(seconds * 1000);
      await clock.elapse(seconds * 1000);
    };
    for (let mib = 0; mib <= 24; mib++) {
      screen.progress(collecting(mib));
      await passes(1);
    }
    const lines = text().split('\n');
    assert.deepEqual(lines, [
      'install app: collecting outputs, 0 B of 100 MiB (0%), "state.tar"',
      'install app: collecting outputs, 10 MiB of 100 MiB (10%), 1 MiB/s, 90s left, "state.tar"',
      'install app: collecting outputs, 20 MiB of 100 MiB (20%), 1 MiB/s, 80s left, "state.tar"',
      '',
    ]);
    await passes(30);
    assert.equal(text(), '');
    await clock.elapse(60_000);
    await turn();
    assert.match(text(), /^install app: collecting outputs, 24 MiB of 100 MiB \(24%\), nothing for \d+[sm], "state/);
    await screen.end();
  });

  it('says until when outputs can be fetched, once', async () => {
    const { screen, clock, text } = plain({});
    const heldUntil = clock.now() + 600_000;
    screen.progress(collecting(1));
    screen.progress(collecting(2, { heldUntil }));
    screen.progress(collecting(3, { heldUntil }));
    await screen.end();
    assert.match(text(), /^install app: [^\n]*\noutputs can be fetched until \d\d:\d\d:00 \(10m\)\n$/);
  });

  it('lets a line of progress wait for the end of a line of the log, at most ten seconds', async () => {
    const { screen, clock, text } = plain({});
    await screen.log(Buffer.from('one\ntw'));
    screen.progress({ phase: 'running' });
    assert.equal(text(), 'one\ntw');
    await screen.log(Buffer.from('o\nth'));
    assert.equal(text(), 'o\ninstall app: running\nth');
    screen.progress(collecting(0, { heldUntil: clock.now() + 600_000 }));
    screen.progress({ phase: 'cleaning-up' });
    assert.equal(text(), '');
    await clock.elapse(10_000);
    await turn();
    assert.match(text(), /^\ninstall app: collecting.*\noutputs can be .*\ninstall app: cleaning up\n$/);
    await screen.log(Buffer.from('ree'));
    screen.say('warning: at once');
    screen.progress({ phase: 'running' });
    await screen.end();
    assert.equal(text(), 'ree\nwarning: at once\ninstall app: running\n');
  });

  for (const [env, marker, shown] of [
    [{ CI: 'true' }, '##teamcity[x', ' ##teamcity[x'],
    [{ CI: 'true' }, '::error::x', ' ::error::x'],
    [{ TF_BUILD: 'True' }, '::error::x', ': :error::x'],
  ] as const) {
    it(`guards ${marker} where a line of ours has ended the log's line before it (${Object.keys(env).join()})`, async () => {
      for (let cut = 0; cut <= 3; cut++) {
        const { screen, text } = plain(env);
        await screen.log(Buffer.from(`open${marker.slice(0, cut)}`));
        screen.say('ours');
        await screen.log(Buffer.from(`${marker.slice(cut)}\n`));
        await screen.end();
        const after = text().split('ours\n')[1] ?? '';
        assert.ok(after === `${shown}\n` || !/^\s*(?:::|##)/.test(after), JSON.stringify([cut, after]));
      }
    });
  }

  it('keeps its moving line on one line, and shows no byte of a name that would move it', async () => {
    const stderr = new Terminal(60);
    const surroundings = { env: {}, cwd: '/', stdin: new PassThrough(), stdout: new PassThrough(), stderr };
    const screen = runScreen({ surroundings, clock: new ManualClock(0), quiet: false, title: 'install app' });
    await screen.log(Buffer.from('\n'));
    screen.progress(collecting(1, { output: `\u001b[2J\r\n${'x'.repeat(500)}`, heldUntil: 0 }));
    let text = stderr.text;
    while (!text.includes('collecting')) {
      await new Promise((resolve) => setTimeout(resolve, 20));
      text += stderr.text;
    }
    await screen.end();
    text += stderr.text;
    assert.match(text, /outputs can be fetched until/);
    assert.doesNotMatch(text, /\u001b\[2J|\r/);
    const drawn = text.match(/install app: collecting[^\u001b]*/g) ?? [];
    assert.ok(drawn.length > 0, text);
    for (const line of drawn) assert.ok(line.length <= 58 && /… \(0s\)$/.test(line), line);
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

  it('moves where its surroundings let it, whatever the variables of the process say', async () => {
    const { CI, TERM } = process.env;
    const restored = Object.entries({ CI, TERM });
    Object.assign(process.env, { CI: 'false', TERM: 'dumb' });
    try {
      const stderr = new Terminal();
      const surroundings = {
        env: { CI: 'false' },
        cwd: '/',
        stdin: new PassThrough(),
        stdout: new PassThrough(),
        stderr,
      };
      const screen = runScreen({ surroundings, clock: new ManualClock(0), quiet: false, title: 'install app' });
      screen.progress({ phase: 'running' });
      let { text } = stderr;
      while (!text.includes('running')) {
        await new Promise((resolve) => setTimeout(resolve, 20));
        text += stderr.text;
      }
      await screen.end();
      assert.doesNotMatch(text, /\n/, 'a line that ends moves no more');
    } finally {
      for (const [name, value] of restored) {
        if (value === undefined) delete process.env[name];
        else process.env[name] = value;
      }
    }
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
