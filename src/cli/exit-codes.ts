import type { ErrorCode } from '../errors.js';

/**
 * The one table of exit codes. Help texts are made from it, scripts rely on it: a number never changes its meaning.
 * 130 and 143 are what shells expect after SIGINT and SIGTERM (128 + signal number).
 */
export const EXIT_CODES = [
  { code: 0, meaning: 'succeeded' },
  { code: 1, meaning: 'the bundle ran and failed' },
  { code: 2, meaning: 'wrong usage, or an invalid bundle, parameter, credential or configuration' },
  { code: 3, meaning: 'cluster, engine, registry or disk trouble; nothing ran: safe to try again' },
  { code: 4, meaning: 'timed out; the run was stopped' },
  { code: 5, meaning: 'the bundle ended with 0, but its outputs are missing, invalid or incomplete' },
  { code: 6, meaning: 'no installation, run, output or set of that name on that target' },
  { code: 7, meaning: 'another run of this installation is going on' },
  { code: 8, meaning: 'contact lost: it may have run, the outcome is unknown: resume' },
  { code: 9, meaning: "the installation's state forbids it (already installed, already uninstalled)" },
  { code: 10, meaning: 'the time to wait is over; the run goes on' },
  { code: 70, meaning: 'a bug in cnab' },
  { code: 130, meaning: 'interrupted by SIGINT; a run that it stopped is recorded as canceled' },
  { code: 143, meaning: 'interrupted by SIGTERM; a run that it stopped is recorded as canceled' },
] as const;

export type ExitCode = (typeof EXIT_CODES)[number]['code'];

export const SUCCEEDED: ExitCode = 0;
export const OUR_BUG: ExitCode = 70;

const BY_ERROR: Readonly<Record<ErrorCode, ExitCode>> = {
  'bundle-failed': 1,
  invalid: 2,
  unavailable: 3,
  'timed-out': 4,
  'outputs-incomplete': 5,
  'not-found': 6,
  busy: 7,
  'contact-lost': 8,
  'wrong-state': 9,
  interrupted: 130,
  'still-running': 10,
};

/** The exit code of an error; an interruption tells its signal, because shells tell them apart. */
export function exitCodeOf(code: ErrorCode, signal?: 'SIGINT' | 'SIGTERM'): ExitCode {
  return code === 'interrupted' && signal === 'SIGTERM' ? 143 : BY_ERROR[code];
}

/** The table as lines for a help text. */
export function exitCodeLines(): string[] {
  return EXIT_CODES.map(({ code, meaning }) => `${String(code).padStart(3)}  ${meaning}`);
}
