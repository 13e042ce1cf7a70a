import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const BIN = join(ROOT, 'bin/run.js');

export interface Ran {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly bytes: Buffer;
}

export interface RunOptions {
  readonly home: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: string | Uint8Array;
  readonly cwd?: string;
}

/** The built command as a process of its own, with nothing of the tester's environment that could matter. */
export function runCnab(args: readonly string[], options: RunOptions): Promise<Ran> {
  needsBuild();
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [BIN, ...args], {
      cwd: options.cwd ?? options.home,
      env: environment(options),
    });
    const stdout: Buffer[] = [];
    const stderr: Buffer[] = [];
    child.stdout.on('data', (chunk: Buffer) => stdout.push(chunk));
    child.stderr.on('data', (chunk: Buffer) => stderr.push(chunk));
    child.stdin.on('error', () => {});
    child.stdin.end(options.input ?? '');
    child.on('error', reject);
    child.on('close', (code) => {
      const bytes = Buffer.concat(stdout);
      resolve({ code, stdout: bytes.toString(), stderr: Buffer.concat(stderr).toString(), bytes });
    });
  });
}

export function environment({ home, env }: Pick<RunOptions, 'home' | 'env'>): NodeJS.ProcessEnv {
  return {
    PATH: process.env['PATH'],
    HOME: home,
    CNAB_HOME: join(home, 'cnab'),
    KUBECONFIG: join(home, 'none'),
    // Nothing in the home but what is tested.
    NODE_DISABLE_COMPILE_CACHE: '1',
    ...env,
  };
}

/** A folder of one test; `cnab/` in it is the home that `runCnab` gives. */
export function temporaryHome(): string {
  return mkdtempSync(join(tmpdir(), 'cnab-cli-test-'));
}

export function removeHome(home: string): void {
  rmSync(home, { recursive: true, force: true });
}

let built = false;

/** `npm test` builds first; a single file run by hand builds what is missing. */
function needsBuild(): void {
  if (built) return;
  built = true;
  if (existsSync(join(ROOT, 'lib/main.cjs'))) return;
  const { status, stderr } = spawnSync(process.execPath, [join(ROOT, 'scripts/build.mjs')]);
  if (status !== 0) throw new Error(`the build failed: ${String(stderr)}`);
}
