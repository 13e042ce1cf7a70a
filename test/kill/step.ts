import { spawn, type ChildProcess } from 'node:child_process';
import { ROOT } from '../helpers/run-cnab.js';

export const BIN = process.env['CNAB_TEST_BIN'] ?? `${ROOT}/bin/run.js`;

export interface StepEnd {
  /** Absent: it was killed. */
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * One command, in a process group of its own: as a child of this process, or as a CI system's step, whose shell is this
 * process's child and the command's parent.
 */
export class Step {
  readonly #child: ChildProcess;
  /** When the process that was spawned, the shell or the command, has ended. */
  readonly ended: Promise<StepEnd>;
  readonly begun = performance.now();
  isOver = false;

  constructor(args: readonly string[], environment: NodeJS.ProcessEnv, inShell = false) {
    const line = [process.execPath, BIN, ...args];
    const [program = '', ...rest] = inShell ? ['/bin/sh', '-ec', '"$@"; echo the step goes on', 'step', ...line] : line;
    const child = spawn(program, rest, { env: environment, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
    this.#child = child;
    const text = { stdout: '', stderr: '' };
    child.stdout.on('data', (chunk: Buffer) => (text.stdout += chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => (text.stderr += chunk.toString()));
    this.ended = new Promise((resolve, reject) => {
      child.on('error', reject);
      child.on('exit', (code) => {
        this.isOver = true;
        // A command whose shell was killed holds the pipes; a CI system closes its ends of them.
        const give = (): void => resolve({ code, ...text });
        const timer = setTimeout(() => {
          child.stdout.destroy();
          child.stderr.destroy();
          give();
        }, 1000);
        child.on('close', () => {
          clearTimeout(timer);
          give();
        });
      });
    });
  }

  /** Some process of the step is there, its shell or not. */
  groupLives(): boolean {
    const { pid } = this.#child;
    if (pid === undefined) return false;
    try {
      return process.kill(-pid, 0);
    } catch {
      return false;
    }
  }

  /** `group`: to every process of the step; else only to the process that was spawned. */
  kill(signal: NodeJS.Signals, group = true): void {
    const { pid } = this.#child;
    if (pid === undefined) return;
    try {
      process.kill(group ? -pid : pid, signal);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
  }
}
