import { spawn } from 'node:child_process';
import { SYSTEM_PATH } from './launch-line.js';

/** The environment that programs of the machine are run with: nothing of the caller's. */
export const CLEAN_ENVIRONMENT: Readonly<Record<string, string>> = { PATH: SYSTEM_PATH, LC_ALL: 'C' };

export interface ProgramEnd {
  /** Absent when a signal ended it. */
  readonly code?: number;
  readonly stderr: string;
}

/** Runs a program of the machine to its end. Rejects only when it cannot be started at all. */
export function runProgram(argv: readonly string[]): Promise<ProgramEnd> {
  const [program = '', ...args] = argv;
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { env: CLEAN_ENVIRONMENT, stdio: ['ignore', 'ignore', 'pipe'], cwd: '/' });
    const pieces: Buffer[] = [];
    child.stderr.on('data', (piece: Buffer) => pieces.push(piece));
    child.on('error', reject);
    child.on('close', (code) =>
      resolve({ ...(code === null ? {} : { code }), stderr: Buffer.concat(pieces).toString('utf8').trim() }),
    );
  });
}

/** Runs a program that must succeed. Rejects with its own words. */
export async function mustRun(argv: readonly string[]): Promise<void> {
  const { code, stderr } = await runProgram(argv);
  if (code !== 0) throw new Error(`${argv[0] ?? ''} failed: ${stderr || `exit code ${code ?? 'none'}`}`);
}
