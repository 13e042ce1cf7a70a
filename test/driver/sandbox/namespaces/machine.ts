/** Starts `container-host.ts` as some user and asks it for containers. */
import { spawn, type ChildProcess } from 'node:child_process';
import { chownSync, chmodSync, copyFileSync, mkdirSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { explain, gatherFacts } from '../../../../src/driver/sandbox/namespaces/probe.js';
import type { ContainAnswer, ContainRequest } from './container-host.js';

export interface Machine {
  readonly name: string;
  readonly uid: number;
  /** Private folder of that user (0700) with a `secret` in it. */
  readonly home: string;
  readonly secret: string;
  contain(run: string, request?: Partial<ContainRequest>): Promise<ContainAnswer>;
  /** Resolves with the host's word that a container has said something (`when.tell`). */
  told(run: string, request: Partial<ContainRequest>): Promise<void>;
  readonly process: ChildProcess;
  close(): Promise<void>;
}

const NOBODY = 65_534;
const PROBLEMS = new Map<number, string | undefined>();

/** Who the suite can run as: whoever runs it, and for root an unprivileged user as well. */
export function identities(uid: number): { name: string; uid: number }[] {
  if (uid !== 0) return [{ name: 'an unprivileged user', uid }];
  return [
    { name: 'root', uid: 0 },
    { name: 'an unprivileged user', uid: NOBODY },
  ];
}

/** Skips loudly where the machine lets this user make no namespaces. */
export async function skipWithoutNamespaces(context: Mocha.Context, uid: number): Promise<void> {
  if (!PROBLEMS.has(uid)) PROBLEMS.set(uid, explain(await gatherFacts(process.platform, uid))?.message);
  const problem = PROBLEMS.get(uid);
  if (problem === undefined) return;
  process.stderr.write(`SKIPPED ${context.test?.parent?.fullTitle() ?? ''}: ${problem}\n`);
  context.skip();
}

/**
 * Leaves descriptors of a secret file open in the process that makes the containers, as a shell may. `through`: a command
 * that becomes the one that follows it, and is run as the user.
 */
export async function startMachine(name: string, uid: number, through: readonly string[] = []): Promise<Machine> {
  const folder = mkdtempSync(join(tmpdir(), 'cnab sandbox\u3000\r-'));
  chmodSync(folder, 0o711);
  const program = join(folder, 'host.mjs');
  const source = fileURLToPath(new URL('./container-host.ts', import.meta.url));
  await build({
    entryPoints: [source],
    outfile: program,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    logLevel: 'error',
  });
  copyFileSync(
    fileURLToPath(new URL('../../../../src/driver/sandbox/namespaces/enter.sh', import.meta.url)),
    join(folder, 'enter.sh'),
  );
  const home = join(folder, 'home dir');
  mkdirSync(home, { mode: 0o700 });
  const secret = join(home, 'secret');
  writeFileSync(secret, 'the-user-s-secret\n', { mode: 0o600 });
  const open = openSync(secret, 'r');
  for (const path of [home, secret]) chownSync(path, uid, uid);
  const argv = [...through, process.execPath, program, home];
  const [command = '', ...args] =
    uid === process.getuid?.()
      ? argv
      : ['setpriv', `--reuid=${uid}`, `--regid=${uid}`, '--clear-groups', '--', ...argv];
  // The shell's own descriptors 7 and 30 hold the secret, as a careless script would leave them.
  const stdio = Array.from({ length: 31 }, (_, index) =>
    index < 2 ? 'pipe' : index === 2 ? 'inherit' : index === 7 || index === 30 ? open : 'ignore',
  );
  const child = spawn(command, args, {
    stdio: stdio as never,
    env: { PATH: process.env['PATH'], SECRET_OF_THE_HOST: 'yes' },
    cwd: folder,
  });
  const waiting = new Map<number, { answer: (answer: ContainAnswer) => void; told: () => void }>();
  const lines = createInterface(child.stdout as NodeJS.ReadableStream);
  lines.on('line', (line) => {
    const message = JSON.parse(line) as ContainAnswer;
    const waiter = waiting.get(message.id);
    if (message.told === undefined) waiter?.answer(message);
    else waiter?.told();
  });
  const closed = new Promise<void>((resolve) => child.on('close', () => resolve()));
  let next = 0;
  const ask = (
    run: string,
    request: Partial<ContainRequest>,
    waiter: { answer: (answer: ContainAnswer) => void; told: () => void },
  ): void => {
    next += 1;
    waiting.set(next, waiter);
    child.stdin?.write(
      `${JSON.stringify({ ...request, id: next, run: run.startsWith('#!') ? run : `#!/bin/sh\n${run}\n` })}\n`,
    );
  };
  return {
    name,
    uid,
    home,
    secret,
    process: child,
    contain: (run, request = {}) => new Promise((answer) => ask(run, request, { answer, told: () => undefined })),
    told: (run, request) => new Promise((told) => ask(run, request, { answer: () => undefined, told })),
    close: async () => {
      child.stdin?.end();
      child.kill();
      await closed;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Host pids of processes whose command line holds the text. */
export async function processesWith(text: string): Promise<{ pid: number; uid: number }[]> {
  const { readdir, readFile } = await import('node:fs/promises');
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const found = await Promise.all(
    pids.map(async (pid) => {
      const line = await readFile(`/proc/${pid}/cmdline`, 'latin1').catch(() => '');
      if (!line.split('\0').join(' ').includes(text)) return [];
      const status = await readFile(`/proc/${pid}/status`, 'latin1').catch(() => '');
      return [{ pid: Number(pid), uid: Number(/^Uid:\s*(\d+)/m.exec(status)?.[1] ?? -1) }];
    }),
  );
  return found.flat();
}
