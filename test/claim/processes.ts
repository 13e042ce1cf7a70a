import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const WRITER = fileURLToPath(new URL('writer.ts', import.meta.url));

/** A running `writer.ts`. */
export interface Writer {
  readonly child: ChildProcess;
  /** What it has said so far, line by line. */
  readonly lines: readonly string[];
  /** Resolves with the next line, or undefined when it ends. */
  line(): Promise<string | undefined>;
  /** Kills it with SIGKILL and waits until it is gone. */
  kill(): Promise<void>;
  ended(): Promise<number | null>;
}

export function startWriter(home: string, mode: string, ...more: readonly string[]): Writer {
  const argv = ['--import', 'tsx', WRITER, home, mode, ...more];
  const child = spawn(process.execPath, argv, { stdio: ['ignore', 'pipe', 'inherit'] });
  const exited = once(child, 'exit');
  const closed = once(child, 'close');
  const lines: string[] = [];
  const reader = createInterface({ input: child.stdout });
  reader.on('line', (line) => lines.push(line));
  return {
    child,
    lines,
    line: async () => {
      const before = lines.length;
      await Promise.race([once(reader, 'line'), closed]);
      return lines[before];
    },
    kill: async () => {
      child.kill('SIGKILL');
      await exited;
      await closed;
    },
    ended: async () => {
      await closed;
      return child.exitCode;
    },
  };
}
