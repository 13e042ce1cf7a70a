import { createHash, randomBytes } from 'node:crypto';
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { arch, kill } from 'node:process';
import { messageOf } from '../../../errors.js';
import {
  StartError,
  type ContainerOutput,
  type ContainerRuntime,
  type ContainerSpec,
  type ExecOptions,
  type RunningContainer,
} from '../api-server/container-runtime.js';
import { BUNDLE_FOLDER_ANNOTATION, bundleFolderProblem, RUN_TOOL } from './bundle-folder.js';
import { onlyChild, startContained, STDERR_DESCRIPTOR, type Contained } from './container.js';
import { environmentScript } from './environment-script.js';
import { readHostLayout, type HostLayout } from './host-layout.js';
import { joinLine, launchLine, type LaunchOptions } from './launch-line.js';
import { isWithin } from './mount-table.js';
import { outsideIdentity } from './outside-identity.js';
import { removeTree } from './remove-tree.js';
import { makeRoot } from './root-file-system.js';
import { planRoot } from './root-plan.js';
import { freshKeyringLine } from './session-keyring.js';

export interface NamespaceRuntimeOptions {
  /** The caller's uid. */
  readonly uid: number;
  /** Folders that hold the pods' volumes. A mount from anywhere else is refused: what a pod mounts becomes the container's own. */
  readonly volumeFolders: readonly string[];
  /** Absent: `launchLine`. */
  readonly launch?: typeof launchLine;
}

export async function createNamespaceRuntime(options: NamespaceRuntimeOptions): Promise<ContainerRuntime> {
  const [script, host, uidMap, release, freshKeyring] = await Promise.all([
    readFile(new URL('./enter.sh', import.meta.url), 'utf8'),
    readHostLayout(),
    readFile('/proc/self/uid_map', 'utf8'),
    readFile('/proc/sys/kernel/osrelease', 'utf8'),
    freshKeyringLine(arch),
  ]);
  return new NamespaceRuntime(options, {
    script,
    host,
    uidMap,
    freshKeyring,
    limitsProcesses: options.uid === 0 || countsPerNamespace(release),
  });
}

/** RLIMIT_NPROC is counted per user namespace since Linux 5.14. */
function countsPerNamespace(release: string): boolean {
  const [major = 0, minor = 0] = release.split('.').map((part) => Number.parseInt(part, 10));
  return major > 5 || (major === 5 && minor >= 14);
}

interface Machine extends Pick<LaunchOptions, 'script' | 'limitsProcesses' | 'freshKeyring'> {
  readonly host: HostLayout;
  readonly uidMap: string;
}

class NamespaceRuntime implements ContainerRuntime {
  /** By pod: all folders and files that its containers could write in. */
  readonly #written = new Map<string, Set<string>>();

  constructor(
    private readonly options: NamespaceRuntimeOptions,
    private readonly machine: Machine,
  ) {}

  /** Every image is there: a main container's is the bundle's folder, any other's the programs of this machine. */
  pull(image: string): Promise<{ imageId: string }> {
    return Promise.resolve({ imageId: `sandbox://sha256:${createHash('sha256').update(image).digest('hex')}` });
  }

  async start(spec: ContainerSpec, output: ContainerOutput): Promise<RunningContainer> {
    try {
      return await this.#start(spec, output);
    } catch (error) {
      if (error instanceof StartError) throw error;
      throw new StartError(`cannot make the container: ${messageOf(error)}`, { cause: error });
    }
  }

  async #start(spec: ContainerSpec, output: ContainerOutput): Promise<RunningContainer> {
    const { machine } = this;
    const identity = outsideIdentity(this.options.uid, machine.uidMap, spec.podUid);
    if (identity === undefined) throw new StartError('root has no other uid here that a container could run as');
    const app = appFolder(spec);
    const argv = [
      ...(spec.command.length > 0 ? spec.command : app === undefined ? ['/bin/sh'] : [`/${RUN_TOOL}`]),
      ...spec.args,
    ];
    const volumes = spec.mounts.map(({ source }) => source);
    const foreign = volumes.find((source) => !this.options.volumeFolders.some((folder) => isWithin(folder, source)));
    if (foreign !== undefined) throw new StartError(`cannot mount ${foreign}: it is in no volume of the pod`);

    const own = join(spec.podFolder, 'runtime', `${spec.name}.${spec.attempt}`);
    const root = join(own, 'root');
    this.#remember(spec.podUid, [join(spec.podFolder, 'runtime'), ...volumes]);
    const plan = planRoot(root, spec, machine.host);
    await mkdir(own, { recursive: true, mode: 0o700 });
    await makeRoot(root, { plan, identity, volumes, ...(app === undefined ? {} : { app }) });

    const owner = identity.privileged ? identity.id : undefined;
    const launch = { identity, root, hostname: spec.hostname, security: spec.security, ...machine };
    const command = { env: spec.env, workingDir: spec.workingDir ?? '/', stderr: STDERR_DESCRIPTOR };
    const contained = await startContained({
      argv: (this.options.launch ?? launchLine)(launch),
      script: environmentScript({ ...command, argv }),
      output,
      pipes: [join(own, 'stdout'), join(own, 'stderr')],
      owner,
    });
    await contained.started;
    const launched = contained.process.pid;
    const init = await onlyChild(launched);
    const first = await onlyChild(init);
    let running = true;
    const exited = contained.ended.finally(() => (running = false));
    const exec = async (program: readonly string[], { output: execOutput, signal }: ExecOptions): Promise<number> => {
      signal?.throwIfAborted();
      if (init === undefined || first === undefined || !running) throw new StartError('the container has ended');
      const name = randomBytes(6).toString('hex');
      const joined = await startContained({
        argv: joinLine({ ...launch, init, first }),
        script: environmentScript({ ...command, argv: program }),
        output: execOutput,
        pipes: [join(own, `${name}.out`), join(own, `${name}.err`)],
        owner,
        over: exited,
      }).catch((error: unknown) => {
        // Its folder goes when it has ended, also while pipes are made in it.
        throw running ? error : new StartError('the container has ended');
      });
      return Promise.race([endOfExec(joined, signal), afterContainer(exited)]);
    };
    return {
      id: createHash('sha256').update(`${spec.podUid}/${spec.name}/${spec.attempt}`).digest('hex'),
      exited,
      kill: (signal) => {
        if (running && first !== undefined) signalProcess(first, signal);
      },
      exec,
    };
  }

  /**
   * Volumes as well, although the API server removes them: a bundle may leave folders without rights and paths that are
   * too long for `fs.rm`.
   */
  async removePod(podUid: string): Promise<void> {
    await Promise.all([...(this.#written.get(podUid) ?? [])].map(removeTree));
    this.#written.delete(podUid);
  }

  #remember(podUid: string, paths: readonly string[]): void {
    this.#written.set(podUid, new Set([...(this.#written.get(podUid) ?? []), ...paths]));
  }
}

/** Undefined for our own containers, which are made of this machine's programs alone. Throws StartError. */
function appFolder({ role, annotations }: ContainerSpec): string | undefined {
  if (role !== 'main') return undefined;
  const folder = annotations[BUNDLE_FOLDER_ANNOTATION];
  const problem = folder === undefined ? 'the pod names no folder of a bundle' : bundleFolderProblem(folder);
  if (folder === undefined || problem !== undefined) throw new StartError(`cannot start the bundle: ${problem}`);
  return join(folder, 'cnab', 'app');
}

/** The container may have ended this very moment: no error. */
function signalProcess(pid: number, signal: 'SIGTERM' | 'SIGKILL'): void {
  try {
    kill(pid, signal);
  } catch {
    // ESRCH
  }
}

/** More than what is left in the pipes of an exec has to be read in. */
const AFTER_CONTAINER_MS = 6_000;

/** No exec outlives its container. */
async function afterContainer(exited: Promise<unknown>): Promise<never> {
  await exited;
  await new Promise((resolve) => setTimeout(resolve, AFTER_CONTAINER_MS).unref());
  throw new StartError('the container has ended');
}

async function endOfExec(joined: Contained, signal: AbortSignal | undefined): Promise<number> {
  const stop = (): void => void joined.process.kill('SIGKILL');
  signal?.addEventListener('abort', stop, { once: true });
  if (signal?.aborted === true) stop();
  try {
    await joined.started;
    return (await joined.ended).exitCode;
  } finally {
    signal?.removeEventListener('abort', stop);
    signal?.throwIfAborted();
  }
}
