import type { Clock } from '../driver/clock.js';
import type { Progress } from '../driver/driver.js';
import { MovingScreen } from './moving-screen.js';
import { PlainScreen } from './plain-screen.js';
import { isInteractive, type Surroundings } from './surroundings.js';

/**
 * What is shown while an action runs, all of it on stderr: stdout is for the result, with `--json` as without.
 * Nothing here decides anything, and a reader that goes away stops nothing.
 */
export interface RunScreen {
  /** A line of ours. */
  say(line: string): void;
  /** The bundle's log: raw bytes, cut anywhere. Resolves when the screen has taken them. */
  log(chunk: Uint8Array): Promise<void>;
  progress(progress: Progress): void;
  /** Leaves the terminal to a talk with its user. */
  aside<T>(talk: () => Promise<T>): Promise<T>;
  /** Ends the moving line and whatever holds the log; idempotent. Nothing is shown through it afterwards. */
  end(): Promise<void>;
}

export interface ScreenOptions {
  readonly surroundings: Surroundings;
  readonly clock: Clock;
  readonly quiet: boolean;
  /** False for `--no-color`. */
  readonly colors?: boolean;
  /** What goes on, for the moving line and the lines in between: `install app`. */
  readonly title: string;
}

export function runScreen(options: ScreenOptions): RunScreen {
  const { stderr, env } = options.surroundings;
  if (options.quiet) return SILENT;
  return isInteractive(stderr, env) ? new MovingScreen(options) : new PlainScreen(options);
}

const SILENT: RunScreen = {
  say: () => {},
  log: () => Promise.resolve(),
  progress: () => {},
  aside: (talk) => talk(),
  end: () => Promise.resolve(),
};
