import { spawn } from 'node:child_process';
import path from 'node:path';
import { CnabError } from '../../errors.js';
import { isRecord } from './kubeconfig-file.js';
import { CredentialError } from './kubernetes-error.js';
import { oneLine } from './network-error.js';

/** `users[].user.exec` of a kubeconfig (client.authentication.k8s.io). */
export interface ExecPlugin {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly apiVersion: string;
  readonly installHint?: string;
  readonly provideClusterInfo: boolean;
  readonly interactiveMode: 'Never' | 'IfAvailable' | 'Always';
}

export interface PluginCredential {
  readonly token?: string;
  readonly clientCertificate?: string;
  readonly clientKey?: string;
  /** Milliseconds since the epoch; absent: until the server says 401. */
  readonly expiresAt?: number;
}

export interface PluginRun {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** `spec.cluster` of the ExecCredential that the plugin is told. */
  readonly cluster: Readonly<Record<string, unknown>>;
  /** For messages. */
  readonly user: string;
  readonly interactive: boolean;
  readonly timeoutMs: number;
  readonly onOutput?: (chunk: Uint8Array) => void;
  readonly signal: AbortSignal;
}

const MAX_STDOUT = 4 * 1024 * 1024;
const KEPT_STDERR = 4096;
const LINGER_MS = 1000;

/** Reads the plugin out of a kubeconfig's user. `folder`: that of the file, base of a relative path. Throws CnabError `invalid`. */
export function readExecPlugin(exec: unknown, user: string, folder: string): ExecPlugin {
  const wrong = (what: string): CnabError =>
    new CnabError('invalid', `the credential plugin of user "${user}" in the kubeconfig ${what}`);
  if (!isRecord(exec)) throw wrong('is not a mapping');
  const { command, args, env, apiVersion, installHint, interactiveMode } = exec;
  if (typeof command !== 'string' || command === '') throw wrong('has no command');
  if (args !== undefined && args !== null && !(Array.isArray(args) && args.every((arg) => typeof arg === 'string')))
    throw wrong('has args that are not a list of strings');
  const variables: Record<string, string> = {};
  for (const item of Array.isArray(env) ? (env as unknown[]) : []) {
    if (!isRecord(item) || typeof item['name'] !== 'string') throw wrong('has an env entry without a name');
    variables[item['name']] = typeof item['value'] === 'string' ? item['value'] : '';
  }
  return {
    // A bare name is looked up in PATH; one with a slash belongs to the folder of the kubeconfig (client-go, ResolvePaths).
    command: command.includes('/') || command.includes(path.sep) ? path.resolve(folder, command) : command,
    args: Array.isArray(args) ? args : [],
    env: variables,
    apiVersion: typeof apiVersion === 'string' ? apiVersion : 'client.authentication.k8s.io/v1',
    ...(typeof installHint === 'string' && installHint.trim() !== '' ? { installHint: installHint.trim() } : {}),
    provideClusterInfo: exec['provideClusterInfo'] === true,
    interactiveMode: interactiveMode === 'Never' || interactiveMode === 'Always' ? interactiveMode : 'IfAvailable',
  };
}

/**
 * Runs the plugin once. Rejects with CredentialError when it is missing, fails, takes too long or says nothing
 * usable: with what it wrote to stderr, never with what it wrote to stdout.
 */
export async function runExecPlugin(plugin: ExecPlugin, run: PluginRun): Promise<PluginCredential> {
  const interactive = run.interactive && plugin.interactiveMode !== 'Never';
  if (plugin.interactiveMode === 'Always' && !interactive) {
    throw failure(plugin, run, 'wants a terminal to ask on, and there is none');
  }
  const info = {
    apiVersion: plugin.apiVersion,
    kind: 'ExecCredential',
    spec: { interactive, ...(plugin.provideClusterInfo ? { cluster: run.cluster } : {}) },
  };
  const { stdout, stderr, code, signal } = await capture(plugin, run, interactive, JSON.stringify(info));
  if (code !== 0) {
    throw failure(
      plugin,
      run,
      code === null ? `was ended by ${signal ?? 'a signal'}` : `failed with exit code ${code}`,
      stderr,
    );
  }
  return readCredential(plugin, run, stdout, stderr);
}

interface Captured {
  readonly stdout: string;
  readonly stderr: string;
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

function capture(plugin: ExecPlugin, run: PluginRun, interactive: boolean, info: string): Promise<Captured> {
  return new Promise((resolve, reject) => {
    const child = spawn(plugin.command, plugin.args, {
      env: { ...run.env, ...plugin.env, KUBERNETES_EXEC_INFO: info },
      stdio: [interactive ? 'inherit' : 'ignore', 'pipe', 'pipe'],
    });
    const out: Buffer[] = [];
    let size = 0;
    let stderr = Buffer.alloc(0);
    let ended: string | undefined;
    const kill = (why: string): void => {
      ended ??= why;
      child.kill('SIGKILL');
    };
    const onAbort = (): void => kill('was stopped');
    const timer = setTimeout(() => kill(`did not end within ${run.timeoutMs / 1000} s`), run.timeoutMs);
    let lingering: NodeJS.Timeout | undefined;
    const settle = (): void => {
      clearTimeout(timer);
      clearTimeout(lingering);
      run.signal.removeEventListener('abort', onAbort);
    };
    run.signal.addEventListener('abort', onAbort, { once: true });
    if (run.signal.aborted) onAbort();
    child.stdout?.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size <= MAX_STDOUT) out.push(chunk);
      else kill(`wrote more than ${MAX_STDOUT / 1024 / 1024} MiB`);
    });
    child.stderr?.on('data', (chunk: Buffer) => {
      stderr = Buffer.concat([stderr, chunk]).subarray(-KEPT_STDERR);
      run.onOutput?.(chunk);
    });
    child.once('error', (error: NodeJS.ErrnoException) => {
      settle();
      const missing = error.code === 'ENOENT';
      const what = missing
        ? 'is not installed'
        : error.code === 'EACCES'
          ? 'is not executable'
          : `cannot be started (${error.message})`;
      const hint = missing && plugin.installHint !== undefined ? [plugin.installHint] : [];
      reject(failure(plugin, run, what, '', hint, error));
    });
    // A process that the plugin leaves behind may hold its pipes open: 'close' is not waited for without end.
    child.once('exit', () => {
      lingering = setTimeout(() => {
        child.stdout?.destroy();
        child.stderr?.destroy();
      }, LINGER_MS);
    });
    child.once('close', (code, signal) => {
      settle();
      const said = stderr.toString('utf8');
      if (ended !== undefined) reject(failure(plugin, run, ended, said));
      else resolve({ stdout: Buffer.concat(out).toString('utf8'), stderr: said, code, signal });
    });
  });
}

function readCredential(plugin: ExecPlugin, run: PluginRun, stdout: string, stderr: string): PluginCredential {
  let status: unknown;
  try {
    const credential: unknown = JSON.parse(stdout);
    status = isRecord(credential) && credential['kind'] === 'ExecCredential' ? credential['status'] : undefined;
  } catch {
    throw failure(plugin, run, 'did not write JSON', stderr);
  }
  if (!isRecord(status)) throw failure(plugin, run, 'did not write an ExecCredential with a status', stderr);
  const text = (key: string): string | undefined => {
    const value = status[key];
    return typeof value === 'string' && value !== '' ? value : undefined;
  };
  const token = text('token')?.trim();
  const clientCertificate = text('clientCertificateData');
  const clientKey = text('clientKeyData');
  if (token === undefined && (clientCertificate === undefined || clientKey === undefined)) {
    throw failure(plugin, run, 'gave neither a token nor a client certificate with its key', stderr);
  }
  const expiry = Date.parse(text('expirationTimestamp') ?? '');
  return {
    ...(token === undefined ? {} : { token }),
    ...(clientCertificate === undefined ? {} : { clientCertificate }),
    ...(clientKey === undefined ? {} : { clientKey }),
    ...(Number.isNaN(expiry) ? {} : { expiresAt: expiry }),
  };
}

function failure(
  plugin: ExecPlugin,
  run: PluginRun,
  what: string,
  stderr = '',
  suggestions: readonly string[] = [],
  cause?: unknown,
): CredentialError {
  const said = stderr
    .split('\n')
    .map(oneLine)
    .filter((line) => line !== '')
    .slice(-10);
  return new CredentialError(`no credentials for user "${run.user}": ${plugin.command} ${what}`, {
    details: said,
    suggestions: suggestions.flatMap((text) => text.split('\n')),
    ...(cause === undefined ? {} : { cause }),
  });
}
