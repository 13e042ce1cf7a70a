import type { Ora } from 'ora';
import type { Progress } from '../driver/driver.js';
import { durationText } from './durations.js';
import { logGuard, safeLine, safeStatement } from './log-guard.js';
import { ProgressText } from './progress-text.js';
import type { RunScreen, ScreenOptions } from './run-screen.js';
import { write } from './write.js';

/** A line longer than this is broken, so that a log without newlines cannot fill the memory. */
const LONGEST_LINE = 16 * 1024;
/** How often the line moves at most: bytes are told of many times a second. */
const MOVE_MS = 100;
/** What the spinner takes of a line, and a column that stays free: a full line wraps on some terminals. */
const SPINNER_COLUMNS = 3;

/** One line that moves, and the bundle's log above it, line by line. */
export class MovingScreen implements RunScreen {
  private readonly started: number;
  private readonly guard = logGuard('terminal');
  private readonly ready: Promise<void>;
  private spinner: Ora | undefined;
  private timer: NodeJS.Timeout | undefined;
  private readonly text = new ProgressText();
  private current: Progress | undefined;
  private lastDrawn = 0;
  private line = '';
  private over = false;

  constructor(private readonly options: ScreenOptions) {
    this.started = options.clock.now();
    this.ready = this.start();
  }

  say(line: string): void {
    void this.write(`${safeStatement(line, 'terminal')}\n`);
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
    const now = this.options.clock.now();
    const { phase, detail } = this.current ?? {};
    this.current = progress;
    this.text.note(progress, now);
    const held = this.text.held(now);
    if (held !== undefined) this.say(held);
    const isNews = progress.phase !== phase || progress.detail !== detail;
    if (isNews || Math.abs(now - this.lastDrawn) >= MOVE_MS) this.draw();
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
    const color = this.options.colors === false ? { color: false as const } : {};
    // Whether a line may move is decided (isInteractive). Left alone, ora asks the process's own environment, takes `CI=false` for a
    // CI system, and writes one line that never moves, without its end. discardStdin would put the terminal in raw mode and send
    // SIGINT to ourselves alone, not to the process group.
    this.spinner = ora({ stream, isEnabled: true, discardStdin: false, ...color });
    this.draw();
    this.spinner.start();
    this.timer = setInterval(() => this.draw(), 1000);
    this.timer.unref();
  }

  private draw(): void {
    if (this.spinner === undefined) return;
    const { clock, title, surroundings } = this.options;
    this.lastDrawn = clock.now();
    const what = this.text.text(this.lastDrawn);
    const elapsed = durationText(this.lastDrawn - this.started).replace(/\.\d(?=s$)/, '');
    const room = (surroundings.stderr.columns ?? 80) - SPINNER_COLUMNS - ` (${elapsed})`.length;
    this.spinner.text = `${shortened(`${safeLine(title)}${what === undefined ? '' : `: ${what}`}`, room)} (${elapsed})`;
  }

  private async write(text: string): Promise<void> {
    // ora watches the stream: it takes its line away for a write and draws it again below.
    if (text !== '') await write(this.options.surroundings.stderr, text).catch(() => {});
  }
}

/** One line, whatever it says: a name that wraps would move the log above it. Wide characters count as one column. */
function shortened(text: string, columns: number): string {
  const characters = [...text];
  return characters.length <= columns ? text : `${characters.slice(0, Math.max(0, columns - 1)).join('')}…`;
}
