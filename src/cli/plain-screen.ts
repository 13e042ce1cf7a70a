import { randomBytes } from 'node:crypto';
import type { Progress } from '../driver/driver.js';
import { durationText } from './durations.js';
import { audienceOf, logGuard, safeText, type LogGuard } from './log-guard.js';
import { progressText } from './progress-text.js';
import type { RunScreen, ScreenOptions } from './run-screen.js';
import { isGithubActions } from './surroundings.js';
import { write } from './write.js';

const SILENCE_MS = 60_000;

/**
 * Plain lines for CI and pipes: no spinner, no control characters, and a sign of life after each minute of silence
 * (CI systems end a job that says nothing).
 *
 * In GitHub Actions the bundle's log stands between `::stop-commands::<random>` and its end, so that no line of it is
 * obeyed; begin, log and end go to one stream, because the runner reads stdout and stderr apart.
 */
export class PlainScreen implements RunScreen {
  private readonly started: number;
  private readonly guard: LogGuard;
  private readonly ended = new AbortController();
  private readonly token: string | undefined;
  private lastOutput: number;
  private phase: Progress | undefined;
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
    const text = safeText(line, audienceOf(this.options.surroundings.env));
    void this.write(`${this.midLine ? '\n' : ''}${text}\n`);
  }

  async log(chunk: Uint8Array): Promise<void> {
    const text = this.guard.push(chunk);
    if (text === '') return;
    const begin = this.token !== undefined && !this.wrapping ? `::stop-commands::${this.token}\n` : '';
    this.wrapping = this.token !== undefined;
    await this.write(begin + text);
  }

  progress(progress: Progress): void {
    const { phase, detail } = progress;
    // How much has come is for a line that moves; a detail that is over is no news.
    const changed = this.phase?.phase !== phase || (detail !== undefined && this.phase.detail !== detail);
    this.phase = progress;
    if (changed) this.say(`${this.options.title}: ${progressText(progress)}`);
  }

  aside<T>(talk: () => Promise<T>): Promise<T> {
    return talk();
  }

  async end(): Promise<void> {
    if (this.ended.signal.aborted) return;
    this.ended.abort();
    const rest = this.guard.end();
    const open = rest === '' ? this.midLine : !rest.endsWith('\n');
    await this.write(`${rest}${open ? '\n' : ''}${this.wrapping ? `::${this.token}::\n` : ''}`);
  }

  private async breakSilence(): Promise<void> {
    const { clock, title } = this.options;
    try {
      while (!this.ended.signal.aborted) {
        await clock.sleep(Math.max(1, this.lastOutput + SILENCE_MS - clock.now()), this.ended.signal);
        if (clock.now() - this.lastOutput < SILENCE_MS) continue;
        const what = this.phase === undefined ? 'still going on' : progressText(this.phase);
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
