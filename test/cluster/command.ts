import { spawn, type ChildProcess } from 'node:child_process';
import { ROOT } from '../helpers/run-cnab.js';
import { eventually } from './eventually.js';

/** The program under test: `CNAB_TEST_BIN` names another copy of it, so that one can be tested while the tree is worked on. */
const BIN = process.env['CNAB_TEST_BIN'] ?? `${ROOT}/bin/run.js`;

export interface Ended {
  readonly code: number | null;
  readonly stdout: Buffer;
  readonly stderr: string;
  readonly ms: number;
}

/** One `cnab` that is going on. */
export class Command {
  readonly #child: ChildProcess;
  readonly #stdout: Buffer[] = [];
  readonly #started = performance.now();
  readonly ended: Promise<Ended>;
  stderr = '';
  isOver = false;

  constructor(args: readonly string[], options: { cwd: string; env: NodeJS.ProcessEnv; input?: string | Uint8Array }) {
    const { cwd, env, input } = options;
    const child = spawn(process.execPath, [BIN, ...args], { cwd, env });
    this.#child = child;
    child.stdout.on('data', (chunk: Buffer) => this.#stdout.push(chunk));
    child.stderr.on('data', (chunk: Buffer) => (this.stderr += chunk.toString()));
    child.stdin.on('error', () => {});
    child.stdin.end(input ?? '');
    this.ended = new Promise((resolve, reject) => {
      child.on('error', reject);
      child.on('close', (code) => {
        this.isOver = true;
        const ms = performance.now() - this.#started;
        resolve({ code, stdout: Buffer.concat(this.#stdout), stderr: this.stderr, ms });
      });
    });
  }

  get pid(): number {
    const { pid } = this.#child;
    if (pid === undefined) throw new Error('it could not be started');
    return pid;
  }

  kill(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  /** Resolves when stderr says it; rejects when the command ends first or the time is over. */
  says(what: RegExp, seconds = 60): Promise<true> {
    return eventually(`${String(what)} on stderr`, seconds, () => {
      if (what.test(this.stderr)) return true;
      if (this.isOver) throw new Error(`it has ended:\n${this.stderr}`);
      return false;
    });
  }
}
