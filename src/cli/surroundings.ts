import { resolve } from 'node:path';
import type { Readable, Writable } from 'node:stream';

/** A stream that may be a terminal. */
export type Screen = Writable & { readonly isTTY?: boolean; readonly columns?: number };

/** What a command sees of the process that runs it, passed in so that a test can put its own in place. */
export interface Surroundings {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly stdin: Readable & { readonly isTTY?: boolean };
  readonly stdout: Screen;
  readonly stderr: Screen;
}

export function processSurroundings(): Surroundings {
  return { env: process.env, cwd: process.cwd(), stdin: process.stdin, stdout: process.stdout, stderr: process.stderr };
}

/** True where a CI system runs us: `CI` set and not `false`, or a system that is known by its own variable. */
export function inCi(env: Surroundings['env']): boolean {
  if (env['CI'] !== undefined && env['CI'] !== '') return env['CI'].toLowerCase() !== 'false';
  return isGithubActions(env) || env['TF_BUILD'] !== undefined;
}

/** GitHub Actions and the runners that copy its workflow commands (Gitea, Forgejo, act) set this variable. */
export function isGithubActions(env: Surroundings['env']): boolean {
  return env['GITHUB_ACTIONS'] === 'true';
}

/**
 * True where a line may move. A terminal that reports 0 columns (`script`, some containers) is none:
 * ora 9.4.1 loops for ever on it.
 */
export function isInteractive(screen: Screen, env: Surroundings['env']): boolean {
  return screen.isTTY === true && (screen.columns ?? 0) > 0 && !inCi(env) && env['TERM'] !== 'dumb';
}

/** Absolute path of the data a user keeps: `$CNAB_HOME`, else the framework's data folder. */
export function homeFolder({ env, cwd }: Pick<Surroundings, 'env' | 'cwd'>, dataFolder: string): string {
  return resolve(cwd, env['CNAB_HOME'] || dataFolder);
}
