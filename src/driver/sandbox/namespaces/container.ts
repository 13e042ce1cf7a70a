import { spawn, type ChildProcess } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { constants } from 'node:os';
import type { Readable, Writable } from 'node:stream';
import { StartError, type ContainerExit, type ContainerOutput } from '../api-server/container-runtime.js';
import { STARTED } from './environment-script.js';
import { openPipes } from './output-pipe.js';
import { CLEAN_ENVIRONMENT } from './run-program.js';

/** Descriptor of the container's standard error while the stages of `enter.sh` keep 2 for their complaints. */
export const STDERR_DESCRIPTOR = 3;

/** What may still be in a pipe after the last process is gone is read within this time. */
const DRAIN_MS = 5_000;

export interface Contained {
  readonly process: ChildProcess;
  /** The command runs; or it never did, and why. */
  readonly started: Promise<void>;
  /** All processes are gone and their output was handed over. */
  readonly ended: Promise<ContainerExit>;
}

export interface ContainedOptions {
  readonly argv: readonly string[];
  /** Of `environmentScript`, with STDERR_DESCRIPTOR. */
  readonly script: string;
  readonly output: ContainerOutput;
  /** Paths for the two pipes, in a folder of the runtime; gone when this resolves. */
  readonly pipes: readonly [string, string];
  readonly owner: number | undefined;
  /**
   * From then on what is left in the pipes must be read within a moment. Absent: when the command itself has ended. A
   * command beside others has its own time: what it left running may go on writing, and its reader may be slow.
   */
  readonly over?: Promise<unknown>;
}

/** Starts a line of `launch-line.ts`. `started` rejects with StartError. */
export async function startContained(options: ContainedOptions): Promise<Contained> {
  const { argv, script, output, pipes, owner, over } = options;
  const opened = await openPipes(pipes, owner);
  const [stdout, stderr] = opened;
  if (stdout === undefined || stderr === undefined) throw new Error('two pipes were asked for');
  const [program = '', ...args] = argv;
  // Its own session: no controlling terminal whose input it could fake (TIOCSTI).
  const child = spawn(program, args, {
    env: CLEAN_ENVIRONMENT,
    cwd: '/',
    detached: true,
    stdio: ['pipe', stdout.writer, 'pipe', stderr.writer],
  });
  const exit = new Promise<ContainerExit>((resolve) => {
    child.on('error', () => resolve({ exitCode: 128 }));
    child.on('exit', (code, signal) => resolve(exitOf(code, signal)));
  });
  const failure = new Promise<Error>((resolve) => child.on('error', resolve));
  await Promise.all([stdout.closeWriter(), stderr.closeWriter()]);
  const handed = Promise.all([
    hand(stdout.reader, (chunk) => output.stdout(chunk)),
    hand(stderr.reader, (chunk) => output.stderr(chunk)),
  ]);
  feed(child.stdin, script);
  const { started, complaint } = watchStatus(child.stderr);
  const outcome = Promise.race([started.then(() => 'started' as const), exit, failure]).then(async (first) => {
    if (first === 'started') return;
    if (first instanceof Error) throw new StartError(`cannot start a container: ${first.message}`);
    throw new StartError(`cannot start the container: ${(await complaint) || `exit code ${first.exitCode}`}`);
  });
  const ended = exit.then(async (end) => {
    const late = (over ?? Promise.resolve()).then(() => drained(opened.map(({ reader }) => reader)));
    await Promise.race([handed, late]);
    return end;
  });
  return { process: child, started: outcome, ended };
}

/** The status pipe: lines of complaint, then STARTED. After that only the outer shell could write to it. */
function watchStatus(status: Readable | null): { started: Promise<void>; complaint: Promise<string> } {
  let text = '';
  let done = false;
  let say: () => void = () => undefined;
  const started = new Promise<void>((resolve) => (say = resolve));
  const complaint = new Promise<string>((resolve) =>
    status?.on('close', () => resolve(text.trim().split('\n').join('; '))),
  );
  status?.on('data', (chunk: Buffer) => {
    if (done) return;
    text = (text + chunk.toString('utf8')).slice(-4096);
    if (!text.split('\n').slice(0, -1).includes(STARTED)) return;
    done = true;
    say();
  });
  return { started, complaint };
}

/** A container that cannot start does not read its script to the end: no error of ours. */
function feed(stdin: Writable | null, script: string): void {
  stdin?.on('error', () => undefined);
  stdin?.end(script);
}

/** Each piece is awaited before the next read, so that a slow reader slows the container. */
async function hand(reader: Socket, take: (chunk: Uint8Array) => void | Promise<void>): Promise<void> {
  try {
    for await (const chunk of reader) await take(chunk as Uint8Array);
  } catch {
    // Destroyed after the time for draining, or the taker failed, which is the taker's to report.
    reader.destroy();
  }
}

/** A descriptor that was passed to a process outside keeps a pipe open for ever. */
function drained(readers: readonly Socket[]): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => {
      for (const reader of readers) reader.destroy();
      resolve();
    }, DRAIN_MS);
    timer.unref();
  });
}

function exitOf(code: number | null, signal: NodeJS.Signals | null): ContainerExit {
  if (code !== null) return { exitCode: code };
  return { exitCode: 128 + (signal === null ? 0 : constants.signals[signal]), ...(signal === null ? {} : { signal }) };
}

/**
 * The first child of a process that has one, as its host pid. `launchLine` makes a chain of them. Undefined when there is none.
 * Not every kernel has the list (CONFIG_PROC_CHILDREN), hence the search.
 */
export async function onlyChild(parent: number | undefined): Promise<number | undefined> {
  if (parent === undefined) return undefined;
  const listed = await readFile(`/proc/${parent}/task/${parent}/children`, 'utf8').catch(() => undefined);
  if (listed !== undefined) return positive(listed.trim().split(' ')[0]);
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const stat = await readFile(`/proc/${name}/stat`, 'utf8').catch(() => '');
    // The name in parentheses may hold anything, blanks and parentheses too.
    if (positive(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]) === parent) return Number(name);
  }
  return undefined;
}

function positive(text: string | undefined): number | undefined {
  const number = Number(text);
  return Number.isInteger(number) && number > 0 ? number : undefined;
}
