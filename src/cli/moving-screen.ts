import type { Ora } from 'ora';
import type { Progress } from '../driver/driver.js';
import { durationText } from './durations.js';
import { logGuard, safeText } from './log-guard.js';
import { progressText } from './progress-text.js';
import type { RunScreen, ScreenOptions } from './run-screen.js';
import { write } from './write.js';

/** A line longer than this is broken, so that a log without newlines cannot fill the memory. */
const LONGEST_LINE = 16 * 1024;

/** One line that moves, and the bundle's log above it, line by line. */
export class MovingScreen implements RunScreen {
  private readonly started: number;
  private readonly guard = logGuard('terminal');
  private readonly ready: Promise<void>;
  private spinner: Ora | undefined;
  private timer: NodeJS.Timeout | undefined;
  private current: Progress | undefined;
  private line = '';
  private over = false;

  constructor(private readonly options: ScreenOptions) {
    this.started = options.clock.now();
    this.ready = this.start();
  }

  say(line: string): void {
    void this.write(`${safeText(line, 'terminal')}\n`);
  }

  async log(chunk: Uint8Array): Promise<void> {
    this.line += this.guard.push(chunk);
    const end = this.line.lastIndexOf('\n') + 1;
    let whole = this.line.slice(0, end);
    this.line = this.line.slice(end);
    if (this.line.length > LONGEST_LINE) {
      whole += `${this.line}\n`;
      this.line = '';
    }
    await this.write(whole);
  }

  progress(progress: Progress): void {
    this.current = progress;
    this.draw();
  }

  async aside<T>(talk: () => Promise<T>): Promise<T> {
    await this.ready;
    this.spinner?.stop();
    try {
      return await talk();
    } finally {
      if (!this.over) this.spinner?.start();
    }
  }

  async end(): Promise<void> {
    if (this.over) return;
    this.over = true;
    await this.ready;
    clearInterval(this.timer);
    this.spinner?.stop();
    const rest = this.line + this.guard.end();
    this.line = '';
    await this.write(rest === '' || rest.endsWith('\n') ? rest : `${rest}\n`);
  }

  private async start(): Promise<void> {
    const { default: ora } = await import('ora');
    if (this.over) return;
    const stream = this.options.surroundings.stderr as NodeJS.WriteStream;
    // discardStdin would put the terminal in raw mode and send SIGINT to ourselves alone, not to the process group.
    this.spinner = ora({ stream, discardStdin: false, ...(this.options.colors === false ? { color: false } : {}) });
    this.draw();
    this.spinner.start();
    this.timer = setInterval(() => this.draw(), 1000);
    this.timer.unref();
  }

  private draw(): void {
    if (this.spinner === undefined) return;
    const what = this.current === undefined ? '' : `: ${progressText(this.current)}`;
    const elapsed = durationText(this.options.clock.now() - this.started).replace(/\.\d(?=s$)/, '');
    this.spinner.text = `${this.options.title}${what} (${elapsed})`;
  }

  private async write(text: string): Promise<void> {
    // ora watches the stream: it takes its line away for a write and draws it again below.
    if (text !== '') await write(this.options.surroundings.stderr, text).catch(() => {});
  }
}
