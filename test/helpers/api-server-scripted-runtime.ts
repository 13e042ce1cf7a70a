import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import {
  StartError,
  type ContainerExit,
  type ContainerOutput,
  type ContainerRuntime,
  type ContainerSpec,
  type RunningContainer,
} from '../../src/driver/sandbox/api-server/container-runtime.js';

/** What a scripted container can do. Paths are the container's; they are looked up in its mounts. */
export interface ContainerWorld {
  readonly spec: ContainerSpec;
  readonly env: Readonly<Record<string, string>>;
  /** Writes to standard output; a text gets a newline, bytes do not. */
  readonly log: (text: string | Uint8Array) => Promise<void>;
  readonly error: (text: string | Uint8Array) => Promise<void>;
  /** Writes a file, with the folders on the way to it. */
  readonly write: (path: string, content: string | Uint8Array) => void;
  readonly read: (path: string) => Buffer;
  /** Path on the host. */
  readonly hostPath: (path: string) => string;
  /** Resolves with the first SIGTERM. */
  readonly terminated: Promise<void>;
  /** Aborted by SIGKILL; the exit code is then 137 whatever the script returns. */
  readonly killed: AbortSignal;
  /** Rejects when the container is killed. */
  readonly sleep: (ms: number) => Promise<void>;
}

/** A container as a function; what it returns is its exit code. A thrown StartError: it could not be started. */
export type ContainerScript = (world: ContainerWorld) => Promise<number | ContainerExit> | number | ContainerExit;

export interface ScriptedRuntimeOptions {
  /** By container name. A container without one is started by `otherwise`, else it waits for SIGTERM and ends with 0. */
  readonly scripts: Readonly<Record<string, ContainerScript>>;
  readonly otherwise?: ContainerRuntime;
  /** Exit code of a postStart hook or an exec, which may write before it returns; absent: 0. */
  readonly exec?: (container: string, command: readonly string[], output: ContainerOutput) => number | Promise<number>;
  /** Throw an ImageError here. */
  readonly pull?: (image: string) => void | Promise<void>;
  readonly sleep?: (ms: number) => Promise<void>;
}

/** Runs containers as functions of the test. */
export class ScriptedRuntime implements ContainerRuntime {
  readonly removed: string[] = [];

  constructor(readonly options: ScriptedRuntimeOptions) {}

  async pull(image: string, pod: Pick<ContainerSpec, 'podUid' | 'annotations'>): Promise<{ imageId: string }> {
    await this.options.pull?.(image);
    return this.options.otherwise?.pull(image, pod) ?? { imageId: `sha256:${'0'.repeat(64)}` };
  }

  start(spec: ContainerSpec, output: ContainerOutput): Promise<RunningContainer> {
    const script = this.options.scripts[spec.name];
    if (!script && this.options.otherwise) return this.options.otherwise.start(spec, output);
    return this.#run(spec, output, script ?? untilTerminated);
  }

  async removePod(podUid: string): Promise<void> {
    this.removed.push(podUid);
    await this.options.otherwise?.removePod(podUid);
  }

  async #run(spec: ContainerSpec, output: ContainerOutput, script: ContainerScript): Promise<RunningContainer> {
    const kill = new AbortController();
    let terminate = (): void => undefined;
    const terminated = new Promise<void>((resolve) => (terminate = resolve));
    const scratch = join(spec.podFolder, 'runtime', `${spec.name}-${spec.attempt}`);
    const hostPath = (path: string): string => resolveMount(spec, scratch, path);
    const bytes = (text: string | Uint8Array): Uint8Array =>
      typeof text === 'string' ? Buffer.from(`${text}\n`) : text;
    const world: ContainerWorld = {
      spec,
      env: Object.fromEntries(spec.env.map(({ name, value }) => [name, value])),
      log: async (text) => output.stdout(bytes(text)),
      error: async (text) => output.stderr(bytes(text)),
      hostPath,
      read: (path) => readFileSync(hostPath(path)),
      write: (path, content) => {
        mkdirSync(dirname(hostPath(path)), { recursive: true });
        writeFileSync(hostPath(path), content);
      },
      terminated,
      killed: kill.signal,
      sleep: (ms) => orKilled(this.options.sleep?.(ms) ?? wait(ms, kill.signal), kill.signal),
    };
    let failed: unknown;
    const ended = (async (): Promise<ContainerExit> => {
      try {
        const result = await orKilled(Promise.resolve(script(world)), kill.signal);
        return typeof result === 'number' ? { exitCode: result } : result;
      } catch (error) {
        if (kill.signal.aborted) return { exitCode: 137, signal: 'SIGKILL' };
        if (!(error instanceof StartError)) await output.stderr(Buffer.from(`${String(error)}\n`));
        failed = error;
        return { exitCode: 1 };
      } finally {
        rmSync(scratch, { recursive: true, force: true });
      }
    })();
    await Promise.race([ended, new Promise((resolve) => setImmediate(resolve))]);
    if (failed instanceof StartError) throw failed;
    return {
      id: randomBytes(32).toString('hex'),
      exited: ended,
      kill: (signal) => (signal === 'SIGKILL' ? kill.abort() : terminate()),
      exec: async (command, { output: to }) => (await this.options.exec?.(spec.name, command, to)) ?? 0,
    };
  }
}

const untilTerminated: ContainerScript = async ({ terminated }) => {
  await terminated;
  return 0;
};

function resolveMount(spec: ContainerSpec, scratch: string, path: string): string {
  const clean = posix.normalize(path);
  for (const mount of [...spec.mounts].reverse()) {
    if (clean === mount.target) return mount.source;
    if (clean.startsWith(`${mount.target}/`)) return join(mount.source, clean.slice(mount.target.length));
  }
  return join(scratch, clean);
}

function wait(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms);
    const stop = (): void => {
      clearTimeout(timer);
      reject(new Error('killed'));
    };
    signal.addEventListener('abort', stop, { once: true });
  });
}

function orKilled<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(new Error('killed'));
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
  });
}
