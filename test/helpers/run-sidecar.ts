import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, mkdir, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Way } from '../../src/frame/delivery.js';
import {
  FILES_MOUNT,
  INPUTS_MOUNT,
  OUTPUTS_MOUNT,
  POST_START_COMMAND,
  inputPartName,
  sendCommand,
  sidecarEnvironment,
  sidecarScript,
  type SendRequest,
} from '../../src/frame/sidecar.js';

/** A shell to run the script with, as an image would have it. */
export interface Shell {
  readonly name: string;
  readonly command: readonly string[];
  /** A folder with nothing but this shell's own tools, in the place of $PATH. */
  readonly tools?: readonly string[];
}

const BUSYBOX = '/bin/busybox';
/** All that the script uses; a shell image has to have these. */
const TOOLS = ['sh', 'awk', 'base64', 'cat', 'chmod', 'dd', 'mkdir', 'sha256sum', 'sleep', 'stat'];

/** Used by the run tools of the example bundles besides. */
const MORE_TOOLS = ['head', 'od', 'sed', 'tr'];

const ALL_SHELLS: readonly Shell[] = [
  { name: 'dash', command: ['/bin/dash', '-c'] },
  { name: 'busybox', command: [BUSYBOX, 'sh', '-c'], tools: TOOLS },
  { name: 'bash', command: ['/bin/bash', '-c'] },
];

/** The shells of this machine: dash and bash with coreutils, busybox with its own applets alone. */
export const SHELLS = ALL_SHELLS.filter(isThere);
/** Those that could not be tried: say so in a skipped test. */
export const ABSENT_SHELLS = ALL_SHELLS.filter((shell) => !SHELLS.includes(shell));

/** A busybox made for an initramfs lacks applets that the one of an image has. */
function isThere({ command: [program = ''], tools }: Shell): boolean {
  if (!existsSync(program)) return false;
  if (!tools) return true;
  const applets = spawnSync(program, ['--list'], { encoding: 'utf8' }).stdout.split('\n');
  return [...tools, ...MORE_TOOLS].every((tool) => applets.includes(tool));
}

export const RUN = '01J9ZZZZZZZZZZZZZZZZZZZZZZ';

export interface SidecarOptions {
  readonly root: string;
  readonly shell: Shell;
  readonly wanted: readonly string[];
  /** Indices of sensitive outputs. */
  readonly sensitive?: readonly number[];
  /** By the log, of any size, when it is left out. */
  readonly way?: Way;
  readonly inputs?: readonly { readonly mode: number; readonly parts: readonly string[] }[];
  readonly limits?: { readonly maxOutputBytes: number; readonly maxTotalBytes: number };
  readonly environment?: Readonly<Record<string, string>>;
  /** Runs it with other rights: put before the shell's command. */
  readonly before?: readonly string[];
  /** Instead of the shell's tools. */
  readonly path?: string;
  /** Descriptor to write the log to; `log` stays empty. */
  readonly stdout?: number;
}

/** A running script; its log grows in `log`. */
export interface Sidecar {
  readonly child: ChildProcess;
  readonly log: () => Buffer;
  /** Resolves as the postStart hook does. */
  ready(): Promise<void>;
  /** Sends SIGTERM and resolves with the whole log when the script has ended. */
  stop(): Promise<Buffer>;
  ended(): Promise<number | null>;
  /** What an exec in its container answers. */
  send(request: SendRequest): Promise<{ readonly code: number | null; readonly bytes: Buffer }>;
}

/** Makes the folders that a pod has mounted. */
export async function makeFolders(root: string): Promise<string> {
  for (const folder of [OUTPUTS_MOUNT, INPUTS_MOUNT, FILES_MOUNT]) await mkdir(join(root, folder), { recursive: true });
  for (let at = join(root, OUTPUTS_MOUNT); at !== dirname(root); at = dirname(at)) await chmod(at, 0o755);
  return join(root, OUTPUTS_MOUNT);
}

/** Links to the named busybox applets in a folder of their own, for $PATH. */
export async function appletFolder(root: string, tools: readonly string[]): Promise<string> {
  const folder = join(root, 'tools');
  if (!existsSync(folder)) {
    await mkdir(folder);
    for (const tool of tools) await symlink(BUSYBOX, join(folder, tool));
  }
  return folder;
}

export async function startSidecar(options: SidecarOptions): Promise<Sidecar> {
  const { root, shell, wanted, inputs = [], limits = { maxOutputBytes: 2 ** 30, maxTotalBytes: 2 ** 32 } } = options;
  for (const [index, { parts }] of inputs.entries()) {
    for (const [part, text] of parts.entries()) {
      await writeFile(join(root, INPUTS_MOUNT, inputPartName(index, part)), text);
    }
  }
  const path = options.path ?? (shell.tools ? await appletFolder(root, shell.tools) : '/usr/bin:/bin');
  const settings = {
    runId: RUN,
    wanted: wanted.map((path, index) => ({ path, sensitive: options.sensitive?.includes(index) === true })),
    limits,
    way: options.way ?? ({ via: 'log', maxLogBytes: 2 ** 32, inLog: 'all' } as const),
    inputs: inputs.map(({ mode, parts }) => ({ mode, parts: parts.length })),
  };
  const environment = {
    PATH: path,
    CNAB_ROOT: root,
    ...Object.fromEntries(sidecarEnvironment(settings).map(({ name, value }) => [name, value])),
    ...options.environment,
  };
  const run = (script: string, stdio: 'ignore' | 'pipe' | number, args: readonly string[] = []): ChildProcess => {
    const [program = '', ...rest] = [...(options.before ?? []), ...shell.command, script, ...args];
    return spawn(program, rest, { env: environment, stdio: ['ignore', stdio, 'inherit'] });
  };
  const child = run(sidecarScript(), options.stdout ?? 'pipe');
  const chunks: Buffer[] = [];
  child.stdout?.on('data', (chunk: Buffer) => chunks.push(chunk));
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  const log = (): Buffer => Buffer.concat(chunks);
  return {
    child,
    log,
    ready: () =>
      new Promise((resolve, reject) => {
        const hook = run(POST_START_COMMAND[2] ?? '', 'ignore');
        hook.once('close', () => resolve());
        void ended.then(() => hook.kill('SIGKILL'));
        hook.once('error', reject);
      }),
    stop: async () => {
      child.kill('SIGTERM');
      await ended;
      return log();
    },
    ended: () => ended,
    send: (request) => {
      const [, , script = '', ...args] = sendCommand(request);
      return answerOf(run(script, 'pipe', args));
    },
  };
}

function answerOf(child: ChildProcess): Promise<{ code: number | null; bytes: Buffer }> {
  const chunks: Buffer[] = [];
  child.stdout?.on('data', (chunk: Buffer) => chunks.push(chunk));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, bytes: Buffer.concat(chunks) }));
  });
}
