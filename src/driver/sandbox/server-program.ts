import type { Writable } from 'node:stream';
import { messageOf } from '../../errors.js';
import { systemClock } from '../clock.js';
import { closeInheritedDescriptors } from './close-descriptors.js';
import { runServer } from './server-process.js';

/** What the program needs of node's `process`. */
export interface ServerProcess {
  readonly pid: number;
  readonly stdout: Writable;
  exitCode?: number | string | null | undefined;
  getuid?(): number;
  umask(mask: number): number;
  on(signal: 'SIGTERM' | 'SIGINT' | 'SIGHUP', act: () => void): unknown;
}

/**
 * The program of the API server's process, called with FOLDER and VERSION. No command: the sandbox driver starts it.
 * On standard output it says one line: `published`, `taken`, or `failed` and why. Never rejects.
 */
export async function runServerProgram(program: ServerProcess, argv: readonly string[]): Promise<void> {
  const [folder = '', version = ''] = argv;
  closeInheritedDescriptors();
  program.umask(0o022);
  const stop = new AbortController();
  for (const signal of ['SIGTERM', 'SIGINT'] as const) program.on(signal, () => stop.abort());
  program.on('SIGHUP', () => undefined);
  // The CLI may be gone when the line is said.
  program.stdout.on('error', () => undefined);
  const say = (line: string): void => void program.stdout.end(`${line}\n`);
  try {
    const uid = program.getuid?.() ?? -1;
    await runServer({ folder, version, uid, pid: program.pid, clock: systemClock, signal: stop.signal, onReady: say });
  } catch (error) {
    say(`failed ${messageOf(error).split('\n').join(' ')}`);
    program.exitCode = 1;
  }
}
