import { resolve } from 'node:path';
import { runCommand } from './command.js';
import { readLimited, SourceProblem } from './read-limited.js';
import type { Source } from './set.js';

/** Kubernetes keeps a value in a Secret, and a Secret holds 1 MiB. */
export const MAX_CREDENTIAL_BYTES = 1024 * 1024;
const COMMAND_TIMEOUT_MS = 120_000;

/** Where values are looked for, and what happens meanwhile. */
export interface Surroundings {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Relative paths start here, and commands run here. */
  readonly cwd: string;
  /** Standard error of commands, as it comes. */
  readonly onStderr?: (chunk: Uint8Array) => void;
  /** Milliseconds until a command is killed; 2 minutes when absent, enough for a pass phrase. */
  readonly commandTimeoutMs?: number;
  readonly signal?: AbortSignal;
}

/**
 * The bytes behind a source, exactly. Rejects with SourceProblem, whose message holds no value, or with CnabError
 * `interrupted`.
 */
export async function resolveSource(source: Source, surroundings: Surroundings, limit: number): Promise<Uint8Array> {
  switch (source.kind) {
    case 'value':
      return textBytes(typeof source.value === 'string' ? source.value : JSON.stringify(source.value), 'the value');
    case 'env':
      return readVariable(source.variable, surroundings);
    case 'path':
      return await readLimited(resolve(surroundings.cwd, expandVariables(source.path, surroundings)), limit);
    case 'command':
      return await runCommand(source.command, {
        env: surroundings.env,
        cwd: surroundings.cwd,
        timeoutMs: surroundings.commandTimeoutMs ?? COMMAND_TIMEOUT_MS,
        limit,
        onStderr: surroundings.onStderr ?? (() => undefined),
        ...(surroundings.signal === undefined ? {} : { signal: surroundings.signal }),
      });
  }
}

/** The environment variable's bytes; a variable that is set and empty is an empty value. */
function readVariable(variable: string, { env }: Pick<Surroundings, 'env'>): Uint8Array {
  const value = Object.hasOwn(env, variable) ? env[variable] : undefined;
  if (value === undefined) throw new SourceProblem(`environment variable ${variable} is not set`);
  // Node decodes the environment as UTF-8 and leaves U+FFFD where it cannot: the bytes are lost.
  if (value.includes('\ufffd')) throw new SourceProblem(`environment variable ${variable} is not UTF-8: use a file`);
  return Buffer.from(value);
}

/**
 * `$NAME` and `${NAME}` in a path, as cnab-go has it; but a variable that is not set is an error, for `$HMOE/.kube`
 * must not become `/.kube`. Other `$` stay. Throws SourceProblem.
 */
function expandVariables(path: string, { env }: Pick<Surroundings, 'env'>): string {
  return path.replace(/\$(?:\{([A-Za-z_]\w*)\}|([A-Za-z_]\w*))/gu, (_, braced?: string, bare?: string) => {
    const variable = braced ?? bare ?? '';
    const value = Object.hasOwn(env, variable) ? env[variable] : undefined;
    if (value === undefined) throw new SourceProblem(`path "${path}" names the variable ${variable}, which is not set`);
    return value;
  });
}

function textBytes(text: string, what: string): Uint8Array {
  const bytes = Buffer.from(text);
  if (bytes.toString() !== text) throw new SourceProblem(`${what} holds half a surrogate pair, which has no bytes`);
  return bytes;
}
