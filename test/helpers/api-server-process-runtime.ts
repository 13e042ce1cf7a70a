import { spawn, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { constants } from 'node:os';
import { dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import {
  ImageError,
  StartError,
  type ContainerExit,
  type ContainerOutput,
  type ContainerRuntime,
  type ContainerSpec,
  type RunningContainer,
} from '../../src/driver/sandbox/api-server/container-runtime.js';

/** The words before the reason, as containerd has them. */
const RUNC =
  'failed to create containerd task: failed to create shim task: OCI runtime create failed: runc create failed: unable to start container process: ';

export interface ProcessRuntimeOptions {
  /** Image -> folder whose `cnab/app/run` is its entry point. */
  readonly images?: Readonly<Record<string, string>>;
  /** What `pull` says of an image; absent: every image is there. */
  readonly pull?: (image: string) => Promise<void>;
}

/**
 * Runs a container as a plain child process of the test's own user: no isolation whatever. Its root is a folder, named
 * in the variable CNAB_ROOT, where the mounts are symbolic links; so a script that puts `$CNAB_ROOT` before its paths
 * runs here and in a container unchanged.
 */
export class ProcessRuntime implements ContainerRuntime {
  readonly #folders = new Map<string, string>();

  constructor(private readonly options: ProcessRuntimeOptions = {}) {}

  async pull(image: string): Promise<{ imageId: string }> {
    await this.options.pull?.(image);
    return { imageId: `sha256:${'0'.repeat(64)}` };
  }

  async start(spec: ContainerSpec, output: ContainerOutput): Promise<RunningContainer> {
    const runtimeFolder = join(spec.podFolder, 'runtime');
    this.#folders.set(spec.podUid, runtimeFolder);
    const root = join(runtimeFolder, `${spec.name}-${spec.attempt}`);
    mountAll(root, spec);
    const [command, ...args] = commandOf(spec, root, this.options.images ?? {});
    const environment = environmentOf(spec, root);
    const launch = (line: readonly string[]): ChildProcess =>
      spawn(inRoot(root, line[0] ?? ''), line.slice(1), {
        cwd: spec.workingDir === undefined ? root : join(root, spec.workingDir),
        env: environment,
        detached: true,
        stdio: ['ignore', 'pipe', 'pipe'],
      });
    const child = launch([command ?? '', ...args]);
    const delivered = deliver(child, output);
    await started(child, command ?? '');
    const execs = new Set<ChildProcess>();
    let over = false;
    const exited = (once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>).then(
      async ([code, signal]) => {
        // What the first process leaves behind ends with it, as it does when a PID namespace ends.
        killGroup(child);
        for (const other of execs) killGroup(other);
        await delivered;
        over = true;
        return exitOf(code, signal);
      },
    );
    return {
      id: randomBytes(32).toString('hex'),
      exited,
      kill: (signal) => {
        if (over) return;
        if (signal === 'SIGKILL') killGroup(child);
        else if (listensTo(child, signal)) child.kill(signal);
      },
      exec: async (line, { output: to, signal }) => {
        if (over) throw new StartError('the container has ended');
        const other = launch(line);
        execs.add(other);
        const stop = (): void => killGroup(other);
        signal?.addEventListener('abort', stop, { once: true });
        const all = deliver(other, to);
        await started(other, line[0] ?? '');
        const [code, by] = (await once(other, 'exit')) as [number | null, NodeJS.Signals | null];
        // What it left behind may go on writing, and its reader may have gone.
        await Promise.race([all, exited]);
        if (!hasGroup(other)) execs.delete(other);
        signal?.removeEventListener('abort', stop);
        signal?.throwIfAborted();
        return exitOf(code, by).exitCode;
      },
    };
  }

  removePod(podUid: string): Promise<void> {
    const folder = this.#folders.get(podUid);
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
    this.#folders.delete(podUid);
    return Promise.resolve();
  }
}

function mountAll(root: string, spec: ContainerSpec): void {
  mkdirSync(join(root, 'tmp'), { recursive: true });
  for (const mount of spec.mounts) {
    const target = join(root, mount.target);
    try {
      mkdirSync(dirname(target), { recursive: true });
      if (!existsSync(target)) symlinkSync(mount.source, target);
    } catch {
      throw new StartError(`${RUNC}error mounting "${mount.source}" to rootfs at "${mount.target}": not a directory`);
    }
  }
}

function environmentOf(spec: ContainerSpec, root: string): NodeJS.ProcessEnv {
  const own = Object.fromEntries(spec.env.map(({ name, value }) => [name, value]));
  return { PATH: process.env['PATH'], HOME: root, ...own, CNAB_ROOT: root };
}

function commandOf(spec: ContainerSpec, root: string, images: Readonly<Record<string, string>>): string[] {
  if (spec.command.length > 0 && !(spec.command[0] === '/cnab/app/run' && images[spec.image])) {
    return [...spec.command, ...spec.args];
  }
  const folder = images[spec.image];
  if (folder === undefined)
    throw new ImageError('ErrImagePull', `failed to resolve reference "${spec.image}": not found`);
  return [join(folder, 'cnab/app/run'), ...spec.args];
}

function inRoot(root: string, command: string): string {
  const inside = join(root, command);
  return command.startsWith('/') && existsSync(inside) ? inside : command;
}

async function started(child: ChildProcess, command: string): Promise<void> {
  try {
    await once(child, 'spawn');
  } catch {
    throw new StartError(`${RUNC}exec: "${command}": stat ${command}: no such file or directory: unknown`);
  }
}

async function deliver(child: ChildProcess, output: ContainerOutput): Promise<void> {
  const pump = async (stream: Readable | null, to: (chunk: Uint8Array) => void | Promise<void>): Promise<void> => {
    if (!stream) return;
    for await (const chunk of stream as AsyncIterable<Buffer>) await to(chunk);
  };
  await Promise.all([
    pump(child.stdout, (chunk) => output.stdout(chunk)),
    pump(child.stderr, (chunk) => output.stderr(chunk)),
  ]).catch(() => undefined);
}

function killGroup(child: ChildProcess): void {
  signalGroup(child, 'SIGKILL');
}

function hasGroup(child: ChildProcess): boolean {
  return signalGroup(child, 0);
}

/** False when nobody of it is left. */
function signalGroup(child: ChildProcess, signal: NodeJS.Signals | 0): boolean {
  if (child.pid === undefined) return false;
  try {
    return process.kill(-child.pid, signal);
  } catch {
    return false;
  }
}

/** The kernel drops a signal for which PID 1 of a container has no handler; seen from outside, /proc tells. */
function listensTo(child: ChildProcess, signal: NodeJS.Signals): boolean {
  try {
    const status = readFileSync(`/proc/${child.pid}/status`, 'utf8');
    const caught = BigInt(`0x${/^SigCgt:\s*([0-9a-f]+)/m.exec(status)?.[1] ?? '0'}`);
    return (caught & (1n << BigInt(constants.signals[signal] - 1))) !== 0n;
  } catch {
    return true;
  }
}

function exitOf(code: number | null, signal: NodeJS.Signals | null): ContainerExit {
  return signal === null ? { exitCode: code ?? 0 } : { exitCode: 128 + constants.signals[signal], signal };
}
