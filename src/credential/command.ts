import { spawn } from 'node:child_process';
import { CnabError } from '../errors.js';
import { SourceProblem } from './read-limited.js';

/**
 * Splits a command into words as a shell does: blanks separate, `'…'` is literal, in `"…"` a backslash protects `"` and
 * `\`, elsewhere it protects any character. Nothing is expanded. Throws SourceProblem for an open quote or no words.
 */
export function splitCommand(command: string): readonly string[] {
  const words: string[] = [];
  let word: string | undefined;
  let quote: string | undefined;
  for (let at = 0; at < command.length; at += 1) {
    const char = command.charAt(at);
    const next = command.charAt(at + 1);
    if (quote === undefined && /[ \t\n\r]/u.test(char)) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else if (char === quote) {
      quote = undefined;
    } else if (quote === undefined && (char === "'" || char === '"')) {
      quote = char;
      word ??= '';
    } else if (
      char === '\\' &&
      quote !== "'" &&
      next !== '' &&
      (quote === undefined || next === '"' || next === '\\')
    ) {
      word = (word ?? '') + next;
      at += 1;
    } else {
      word = (word ?? '') + char;
    }
  }
  if (quote !== undefined) throw new SourceProblem(`the command has an open ${quote}`);
  if (word !== undefined) words.push(word);
  if (words.length === 0) throw new SourceProblem('the command is empty');
  if (command.includes('\0')) throw new SourceProblem('the command holds a NUL byte');
  return words;
}

export interface CommandOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** Milliseconds until it is killed. */
  readonly timeoutMs: number;
  /** Bytes of standard output beyond which it is killed. */
  readonly limit: number;
  readonly onStderr: (chunk: Uint8Array) => void;
  readonly signal?: AbortSignal;
}

/**
 * Runs a command without a shell, with nothing on its standard input, and gives its standard output byte for byte,
 * a final newline too. Rejects with SourceProblem, which has none of the output, for every end but exit code 0,
 * and with CnabError `interrupted` when the signal says so.
 */
export async function runCommand(command: string, options: CommandOptions): Promise<Buffer> {
  const words = splitCommand(command);
  const [program = '', ...args] = words;
  const problem = (what: string): SourceProblem => new SourceProblem(`command "${program}" ${what}${shellHint(words)}`);
  // Not in a process group of its own: a program that asks for a pass phrase needs the terminal.
  const child = start(() =>
    spawn(program, args, { env: options.env, cwd: options.cwd, stdio: ['ignore', 'pipe', 'pipe'] }),
  );
  if (child instanceof Error) throw problem(startTrouble(child));
  return await new Promise<Buffer>((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const giveUp = (why: Error): void => {
      child.kill('SIGKILL');
      // A grandchild may still hold the pipes open.
      child.stdout.destroy();
      child.stderr.destroy();
      finish(() => reject(why));
    };
    const timer = setTimeout(
      () => giveUp(problem(`did not end within ${options.timeoutMs / 1000} s`)),
      options.timeoutMs,
    );
    const onAbort = (): void =>
      giveUp(new CnabError('interrupted', `command "${program}" was interrupted, nothing was run`));
    const finish = (settle: () => void): void => {
      clearTimeout(timer);
      options.signal?.removeEventListener('abort', onAbort);
      settle();
    };
    options.signal?.addEventListener('abort', onAbort, { once: true });
    if (options.signal?.aborted === true) onAbort();
    child.stdout.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size > options.limit) giveUp(problem(`wrote more than ${options.limit} bytes`));
      else chunks.push(chunk);
    });
    child.stderr.on('data', options.onStderr);
    child.on('error', (error: NodeJS.ErrnoException) => finish(() => reject(problem(startTrouble(error)))));
    child.on('close', (code, signal) =>
      finish(() => {
        if (code === 0) resolve(Buffer.concat(chunks));
        else reject(problem(signal === null ? `ended with exit code ${code}` : `was killed by ${signal}`));
      }),
    );
  });
}

/** Some refusals (E2BIG) are thrown, others come as an event. */
function start<T>(spawnChild: () => T): T | Error {
  try {
    return spawnChild();
  } catch (error) {
    return error as Error;
  }
}

function startTrouble({ code = 'unknown error' }: NodeJS.ErrnoException): string {
  if (code === 'ENOENT') return 'is not found';
  return code === 'EACCES' ? 'may not be executed' : `cannot be started (${code})`;
}

function shellHint(words: readonly string[]): string {
  const shellish = words.some((word) => /^(?:\||\|\||&&|;|<|>|>>|2>.*|\$\(.*|`.*)$/u.test(word) || /;$/u.test(word));
  return shellish ? ` (it is run without a shell: sh -c '…' gives it one)` : '';
}
