/**
 * A program that makes containers for the sandbox ring, run as root or as an unprivileged user: one request a line on
 * standard input, one answer a line on standard output. `machine.ts` builds and starts it.
 */
import { randomUUID } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import process from 'node:process';
import { createInterface } from 'node:readline';
import type { ContainerSpec, RunningContainer } from '../../../../src/driver/sandbox/api-server/container-runtime.js';
import { closeInheritedDescriptors } from '../../../../src/driver/sandbox/close-descriptors.js';
import { BUNDLE_FOLDER_ANNOTATION } from '../../../../src/driver/sandbox/namespaces/bundle-folder.js';
import { launchLine } from '../../../../src/driver/sandbox/namespaces/launch-line.js';
import { createNamespaceRuntime } from '../../../../src/driver/sandbox/namespaces/runtime.js';

export interface ContainRequest {
  readonly id: number;
  /** Text of the run tool. */
  readonly run: string;
  readonly files?: Readonly<Record<string, string>>;
  readonly env?: Readonly<Record<string, string>>;
  readonly spec?: Partial<ContainerSpec>;
  /** Symbolic links in the bundle's cnab/app: name and target. */
  /** Leaves out the rest of the command line that begins with this program: the run tool keeps the rights of that stage. */
  readonly keepRightsFrom?: string;
  readonly links?: Readonly<Record<string, string>>;
  /** Once this text is on standard output: a signal, or a command to run beside it. */
  readonly when?: {
    readonly says: string;
    readonly kill?: 'SIGTERM' | 'SIGKILL';
    readonly exec?: readonly string[];
    readonly tell?: boolean;
  };
}

export interface ContainAnswer {
  readonly id: number;
  readonly told?: string;
  readonly startError?: string;
  readonly exitCode?: number;
  readonly stdout: string;
  readonly stderr: string;
  readonly exec?: { readonly code: number; readonly output: string };
  /** What is left of the outputs, and whether the folder of the pod went away with the pod. */
  readonly outputs: Readonly<Record<string, string>>;
  readonly run: string;
  readonly removed: boolean;
}

const SECURITY = {
  readOnlyRootFilesystem: false,
  addCapabilities: [],
  dropCapabilities: [],
};

const [base = ''] = process.argv.slice(2);
closeInheritedDescriptors();
process.umask(0o022);
const answer = (message: unknown): void => void process.stdout.write(`${JSON.stringify(message)}\n`);
const options = { uid: process.getuid?.() ?? 0, volumeFolders: [base] };
const usual = await createNamespaceRuntime(options);
for await (const line of createInterface(process.stdin)) void contain(JSON.parse(line) as ContainRequest);

async function contain(request: ContainRequest): Promise<void> {
  const podUid = randomUUID();
  const podFolder = join(base, podUid);
  const bundle = join(base, `${podUid}.bundle`);
  const outputs = join(podFolder, 'volumes', 'outputs');
  mkdirSync(join(bundle, 'cnab', 'app'), { recursive: true });
  mkdirSync(podFolder, { mode: 0o700 });
  mkdirSync(outputs, { recursive: true });
  const runTool = join(bundle, 'cnab', 'app', 'run');
  writeFileSync(runTool, request.run);
  chmodSync(runTool, 0o755);
  for (const [name, to] of Object.entries(request.links ?? {})) symlinkSync(to, join(dirname(runTool), name));
  const mounts: ContainerSpec['mounts'][number][] = [
    { source: outputs, kind: 'folder', target: '/cnab/app/outputs', readOnly: false },
  ];
  for (const [index, [target, content]] of Object.entries(request.files ?? {}).entries()) {
    const source = join(podFolder, 'volumes', `f${index}`);
    writeFileSync(source, content, { mode: 0o600 });
    mounts.push({ source, kind: 'file', target, readOnly: false });
  }
  const spec: ContainerSpec = {
    podUid,
    podFolder,
    namespace: 'default',
    podName: 'pod-1',
    name: 'invocation',
    attempt: 0,
    role: 'main',
    image: 'example/app',
    annotations: { [BUNDLE_FOLDER_ANNOTATION]: bundle },
    command: ['/cnab/app/run'],
    args: [],
    env: Object.entries(request.env ?? {}).map(([name, value]) => ({ name, value })),
    mounts,
    hostname: 'pod-1',
    security: SECURITY,
    ...request.spec,
  };
  const { keepRightsFrom } = request;
  const launch = (parts: Parameters<typeof launchLine>[0]): string[] => {
    const line = launchLine(parts);
    return [...line.slice(0, line.indexOf(keepRightsFrom ?? '')), '/bin/sh', '-s'];
  };
  const runtime = keepRightsFrom === undefined ? usual : await createNamespaceRuntime({ ...options, launch });
  let stdout = '';
  let stderr = '';
  let exec: Promise<{ code: number; output: string }> | undefined;
  let container: RunningContainer | undefined;
  // A container that has a command beside it goes on until that has ended, however long a loaded machine takes.
  const besideAll = (first: RunningContainer, command: readonly string[]): ReturnType<typeof beside> =>
    beside(first, command).finally(() => first.kill('SIGKILL'));
  const react = (): void => {
    const { when } = request;
    if (when === undefined || container === undefined || exec !== undefined || !stdout.includes(when.says)) return;
    if (when.kill !== undefined) container.kill(when.kill);
    exec = when.exec === undefined ? Promise.resolve({ code: -1, output: '' }) : besideAll(container, when.exec);
    if (when.tell === true) answer({ id: request.id, told: stdout });
  };
  const result: { startError?: string; exitCode?: number } = {};
  try {
    container = await runtime.start(spec, {
      stdout: (chunk) => {
        stdout += Buffer.from(chunk).toString('latin1');
        react();
      },
      stderr: (chunk) => void (stderr += Buffer.from(chunk).toString('latin1')),
    });
    react();
    result.exitCode = (await container.exited).exitCode;
  } catch (error) {
    result.startError = String(error);
  }
  const left = Object.fromEntries(
    readdirSync(outputs, { withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ name }) => [name, readFileSync(join(outputs, name), 'latin1')]),
  );
  await runtime.removePod(podUid);
  rmSync(podFolder, { recursive: true, force: true });
  const message: ContainAnswer = {
    id: request.id,
    ...result,
    stdout,
    stderr,
    ...(exec === undefined ? {} : { exec: await exec }),
    outputs: left,
    run: readFileSync(runTool, 'utf8'),
    removed: !existsSync(podFolder),
  };
  rmSync(bundle, { recursive: true });
  answer(message);
}

async function beside(
  container: RunningContainer,
  command: readonly string[],
): Promise<{ code: number; output: string }> {
  let output = '';
  const take = (chunk: Uint8Array): void => void (output += Buffer.from(chunk).toString('latin1'));
  try {
    return { code: await container.exec(command, { output: { stdout: take, stderr: take } }), output };
  } catch (error) {
    return { code: -1, output: String(error) };
  }
}
