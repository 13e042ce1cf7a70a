import { spawn } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import { CnabError, messageOf } from '../../errors.js';
import type { Clock } from '../clock.js';
import { lives } from './server-answer.js';
import { readRecord, type ServerRecord } from './server-record.js';

export interface ServerStartOptions {
  /** `<home>/sandbox`; made with 0700. */
  readonly folder: string;
  readonly version: string;
  /** Of `serverCommand`: program and arguments, as absolute paths; folder and version are added. */
  readonly serverCommand: readonly string[];
  readonly clock: Clock;
}

/** A start takes a quarter of a second; a machine under load gets its time, and so does one that is in the way (`lives`). */
const START_MS = 75_000;

/**
 * The home's API server: the one that is there, else a new one in a session of its own, so that it outlives the CLI.
 * Rejects with CnabError `unavailable` when it does not start, with AbortError when the signal is aborted first.
 */
export async function findOrStartServer(options: ServerStartOptions, signal: AbortSignal): Promise<ServerRecord> {
  const { folder, version, clock } = options;
  const fail = (why: string, cause?: unknown): CnabError =>
    new CnabError('unavailable', `the sandbox's API server did not start: ${why}`, { cause });
  await mkdir(folder, { recursive: true, mode: 0o700 }).catch((error: unknown) => {
    throw fail(messageOf(error), error);
  });
  // A second time for a server that ended between its record and our question.
  for (let attempt = 0; attempt < 3; attempt += 1) {
    signal.throwIfAborted();
    const record = await readRecord(folder);
    if (record?.version === version && (await lives(folder, record, clock))) return record;
    const said = await start(options, signal);
    if (said !== 'published' && said !== 'taken') throw fail(said.replace(/^failed /, '') || 'it ended without a word');
  }
  throw fail(`others started and ended in ${folder} at the same time`);
}

/** Starts a server and resolves with the line it says. */
function start({ serverCommand, folder, version }: ServerStartOptions, signal: AbortSignal): Promise<string> {
  const [program = '', ...args] = serverCommand;
  return new Promise((resolve, reject) => {
    // Nothing of the user's environment: what runs there has no use for it.
    const child = spawn(program, [...args, folder, version], {
      cwd: '/',
      env: {},
      detached: true,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    child.unref();
    let text = '';
    const end = (act: () => void): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', stop);
      child.stdout.destroy();
      act();
    };
    const stop = (): void => end(() => reject(signal.reason as Error));
    const timer = setTimeout(() => end(() => resolve(`no word from it in ${START_MS / 1000} s`)), START_MS);
    signal.addEventListener('abort', stop, { once: true });
    child.on('error', (error) => end(() => resolve(error.message)));
    child.stdout.on('data', (chunk: Buffer) => {
      text += chunk.toString('utf8');
      if (text.includes('\n')) end(() => resolve(text.split('\n')[0] ?? ''));
    });
    child.stdout.on('end', () => end(() => resolve(text.trim())));
  });
}
