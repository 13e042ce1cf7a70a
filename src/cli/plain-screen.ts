import { randomBytes } from 'node:crypto';
import type { Progress } from '../driver/driver.js';
import { durationText } from './durations.js';
import { audienceOf, logGuard, safeStatement, type LogGuard } from './log-guard.js';
import { ProgressText } from './progress-text.js';
import type { RunScreen, ScreenOptions } from './run-screen.js';
import { isGithubActions } from './surroundings.js';
import { write } from './write.js';

const SILENCE_MS = 60_000;
/** While outputs arrive. */
const TRANSFER_MS = 10_000;
/** How long a line of progress waits for the end of a line of the bundle's log. */
const LINE_END_MS = 10_000;

/**
 * Plain lines for CI and pipes: no spinner, no control characters, a line every ten seconds while outputs arrive, and a
 * sign of life after each minute of silence (CI systems end a job that says nothing).
 *
 * A line of ours always begins on a line of its own, and one that can wait does not break a line of the bundle's log.
 *
 * In GitHub Actions the bundle's log stands between `::stop-commands::<random>` and its end, so that no line of it is
 * obeyed; begin, log and end go to one stream, because the runner reads stdout and stderr apart.
 */
export class PlainScreen implements RunScreen {
  private readonly started: number;
  private readonly guard: LogGuard;
  private readonly ended = new AbortController();
  private readonly token: string | undefined;
  private readonly text = new ProgressText();
  private lastOutput: number;
  private last: Progress | undefined;
  private lastTransferLine = 0;
  /** Lines of progress that wait for the end of the bundle's line. */
  private waiting: string[] = [];
  private midLine = false;
  private wrapping = false;

  constructor(private readonly options: ScreenOptions) {
    const { env } = options.surroundings;
    this.started = this.lastOutput = options.clock.now();
    this.token = isGithubActions(env) ? randomBytes(16).toString('hex') : undefined;
    this.guard = logGuard(this.token === undefined ? audienceOf(env) : 'wrapped');
    void this.breakSilence();
  }

  say(line: string): void {
    const waiting = this.waiting.splice(0);
    const lines = [...waiting, line].map((one) => `${safeStatement(one, audienceOf(this.options.surroundings.env))}\n`);
    const broken = this.midLine ? '\n' : '';
    if (broken !== '') this.guard.brokeLine();
    void this.write(broken + lines.join(''));
  }

  async log(chunk: Uint8Array): Promise<void> {
    const text = this.guard.push(chunk);
    if (text === '') return;
    const begin = this.token !== undefined && !this.wrapping ? `::stop-commands::${this.token}\n` : '';
    this.wrapping = this.token !== undefined;
    const lineEnd = text.lastIndexOf('\n') + 1;
    if (this.waiting.length === 0 || lineEnd === 0) return await this.write(begin + text);
    await this.write(begin + text.slice(0, lineEnd));
    this.flush();
    await this.write(text.slice(lineEnd));
  }

  progress(progress: Progress): void {
    const now = this.options.clock.now();
    const { last } = this;
    const { phase, detail, receivedBytes } = progress;
    this.last = progress;
    this.text.note(progress, now);
    // A detail that is over is no news.
    const changed = last?.phase !== phase || (detail !== undefined && last.detail !== detail);
    const arriving = receivedBytes !== last?.receivedBytes && now - this.lastTransferLine >= TRANSFER_MS;
    if (changed || arriving) {
      this.lastTransferLine = now;
      this.sayBetweenLines(`${this.options.title}: ${this.text.text(now)}`);
    }
    const held = this.text.held(now);
    if (held !== undefined) this.sayBetweenLines(held);
  }

  aside<T>(talk: () => Promise<T>): Promise<T> {
    return talk();
  }

  async end(): Promise<void> {
    if (this.ended.signal.aborted) return;
    this.ended.abort();
    const rest = this.guard.end();
    const open = rest === '' ? this.midLine : !rest.endsWith('\n');
    await this.write(`${rest}${open ? '\n' : ''}`);
    this.flush();
    if (this.wrapping) await this.write(`::${this.token}::\n`);
  }

  private sayBetweenLines(line: string): void {
    this.waiting.push(line);
    if (!this.midLine) return this.flush();
    if (this.waiting.length > 1) return;
    void this.options.clock.sleep(LINE_END_MS, this.ended.signal).then(
      () => this.flush(),
      () => undefined,
    );
  }

  private flush(): void {
    const line = this.waiting.pop();
    if (line !== undefined) this.say(line);
  }

  private async breakSilence(): Promise<void> {
    const { clock, title } = this.options;
    try {
      while (!this.ended.signal.aborted) {
        await clock.sleep(Math.max(1, this.lastOutput + SILENCE_MS - clock.now()), this.ended.signal);
        if (clock.now() - this.lastOutput < SILENCE_MS) continue;
        const what = this.text.text(clock.now()) ?? 'still going on';
        this.say(`${title}: ${what} (${durationText(clock.now() - this.started)})`);
      }
    } catch {
      // The sleep ends with the screen.
    }
  }

  private async write(text: string): Promise<void> {
    if (text === '') return;
    this.lastOutput = this.options.clock.now();
    this.midLine = !text.endsWith('\n');
    // What is shown decides nothing: a full disk behind 2> must not end a run.
    await write(this.options.surroundings.stderr, text).catch(() => {});
  }
}
