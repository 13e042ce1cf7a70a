import { spawn } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

export interface RunToolOptions {
  /** Stands for the container's root. */
  readonly root: string;
  /** Folder of the bundle. */
  readonly bundle: string;
  readonly shell: readonly string[];
  readonly path: string;
  readonly action: string;
  readonly environment?: Readonly<Record<string, string>>;
  /** By their absolute path in the container. */
  readonly files?: Readonly<Record<string, string>>;
}

export interface RunToolEnd {
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a bundle's `cnab/app/run` without a container: its absolute paths below /cnab and /etc are led into `root`. */
export async function runTool(options: RunToolOptions): Promise<RunToolEnd> {
  const { root, bundle, shell, action, files = {} } = options;
  await mkdir(join(root, 'cnab/app/outputs'), { recursive: true });
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), content);
  }
  const script = await readFile(join(bundle, 'cnab/app/run'), 'utf8');
  const [program = '', ...rest] = shell;
  const child = spawn(program, [...rest, script.replace(/=\/(cnab|etc)\//g, `=${root}/$1/`)], {
    env: {
      PATH: options.path,
      CNAB_ACTION: action,
      CNAB_INSTALLATION_NAME: 'app',
      CNAB_BUNDLE_NAME: 'a-bundle',
      CNAB_BUNDLE_VERSION: '0.1.0',
      CNAB_REVISION: '01J9ZZZZZZZZZZZZZZZZZZZZZZ',
      CNAB_CLAIMS_VERSION: 'CNAB-Claims-1.0.0',
      ...options.environment,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const text = { stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => (text.stdout += chunk));
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => (text.stderr += chunk));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (exitCode) => resolve({ exitCode, ...text }));
  });
}
