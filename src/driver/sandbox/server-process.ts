import { randomBytes } from 'node:crypto';
import { access, appendFile, mkdir, readdir, readFile, stat, statfs, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../clock.js';
import { startApiServer, type ApiServer } from './api-server/server.js';
import { removeTree } from './namespaces/remove-tree.js';
import { createNamespaceRuntime } from './namespaces/runtime.js';
import { answers } from './server-answer.js';
import { publish, unpublish } from './server-record.js';

export interface ServerProcessOptions {
  /** `<home>/sandbox`. */
  readonly folder: string;
  readonly version: string;
  readonly uid: number;
  readonly pid: number;
  readonly clock: Clock;
  /** Aborted for an orderly end: what runs is killed. */
  readonly signal: AbortSignal;
  /** Hears once that the record is in place, or that another server has it. */
  readonly onReady: (outcome: 'published' | 'taken') => void;
}

/** How long a server without work waits for more. */
const IDLE_MS = 5_000;
/** A look that notices the first request after the record is gone. */
const LINGER_MS = 500;
/** File in a server's folder that says which process it is. */
const OWNER = 'owner';
/** How often it looks whether its folder is still there. */
const FOLDER_CHECK_MS = 60_000;
const TMPFS = 0x01021994;

/** The life of one API server: from its record to the end of its last pod. Resolves when all of it is gone. */
export async function runServer(options: ServerProcessOptions): Promise<void> {
  const { folder, clock, signal, version, pid } = options;
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const id = randomBytes(8).toString('hex');
  const own = join(folder, id);
  await mkdir(own, { mode: 0o700 });
  await writeFile(join(own, OWNER), await processIdentity(pid));
  const memory = await memoryFolder(options.uid, id);
  const token = randomBytes(32).toString('base64url');
  let lastRequest = clock.now();
  const pods = join(own, 'pods');
  const runtime = await createNamespaceRuntime({
    uid: options.uid,
    volumeFolders: [pods, memory ?? join(pods, 'memory')],
  });
  const server = await startApiServer({
    runtime,
    token,
    folder: pods,
    clock,
    ...(memory === undefined ? {} : { memoryFolder: memory }),
    faults: {
      intercept: () => {
        lastRequest = clock.now();
        return undefined;
      },
    },
    onBug: (error) =>
      void appendFile(join(folder, 'server.log'), `${describe(error)}\n`, { mode: 0o600 }).catch(() => undefined),
  });
  try {
    const record = { version, port: Number(new URL(server.url).port), token, pid, id };
    const outcome = await publish(folder, record, answers);
    options.onReady(outcome);
    if (outcome === 'published') {
      await removeLeftovers(folder, options.uid, id, clock.now());
      const over = new AbortController();
      const until = AbortSignal.any([signal, over.signal]);
      const withdraw = (): Promise<void> => unpublish(folder, id);
      // A home that was removed takes the record along: nobody will find this server again, and its Jobs stay for a day.
      await Promise.race([
        untilIdle(server, () => lastRequest, withdraw, clock, until),
        untilGone(join(own, OWNER), clock, until),
      ]);
      over.abort();
    }
  } finally {
    await unpublish(folder, id);
    await server.close();
    await Promise.all([own, ...(memory === undefined ? [] : [memory])].map(removeTree));
  }
}

/** Work may come in until the record is gone, and for a moment after it: then it is done first. */
async function untilIdle(
  server: Pick<ApiServer, 'idle'>,
  lastRequest: () => number,
  withdraw: () => Promise<void>,
  clock: Clock,
  signal: AbortSignal,
): Promise<void> {
  const aborted = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
  const pause = (ms: number): Promise<void> => clock.sleep(ms, signal).catch(() => undefined);
  while (!signal.aborted) {
    await Promise.race([server.idle(), aborted]);
    const rest = lastRequest() + IDLE_MS - clock.now();
    if (rest > 0) {
      await pause(rest);
      continue;
    }
    await withdraw();
    const before = lastRequest();
    await pause(LINGER_MS);
    if (lastRequest() === before) return;
  }
}

/** Resolves when the file is not there any more, or the signal is aborted. */
async function untilGone(file: string, clock: Clock, signal: AbortSignal): Promise<void> {
  const isThere = (): Promise<boolean> =>
    access(file).then(
      () => true,
      () => false,
    );
  while (!signal.aborted && (await isThere())) await clock.sleep(FOLDER_CHECK_MS, signal).catch(() => undefined);
}

/** Secrets stay off the disk where there is a tmpfs that everybody may use. */
async function memoryFolder(uid: number, id: string): Promise<string | undefined> {
  const folder = memoryPath(uid, id);
  try {
    if ((await statfs('/dev/shm')).type !== TMPFS) return undefined;
    await mkdir(folder, { mode: 0o700 });
    return folder;
  } catch {
    return undefined;
  }
}

function memoryPath(uid: number, id: string): string {
  return `/dev/shm/cnab-sandbox-${uid}-${id}`;
}

/** What servers left that were killed: their containers died with them. */
async function removeLeftovers(folder: string, uid: number, id: string, now: number): Promise<void> {
  const names = (await readdir(folder)).filter((name) => /^[0-9a-f]{16}$/.test(name) && name !== id);
  for (const name of names) {
    const owner = await readFile(join(folder, name, OWNER), 'utf8').catch(() => '');
    const pid = Number(owner.split(' ')[0]);
    if (pid > 0 && (await processIdentity(pid).catch(() => '')) === owner) continue;
    const { ctimeMs } = await stat(join(folder, name)).catch(() => ({ ctimeMs: 0 }));
    // A server that starts this moment may not have said who it is.
    if (owner === '' && now - ctimeMs < 60_000) continue;
    await Promise.all([removeTree(memoryPath(uid, name)), removeTree(join(folder, name))]);
  }
}

/** Pid, start time in ticks and boot id: no later process has all three. */
async function processIdentity(pid: number): Promise<string> {
  const stats = await readFile(`/proc/${pid}/stat`, 'utf8');
  const started = stats.slice(stats.lastIndexOf(')') + 2).split(' ')[19] ?? '';
  return `${pid} ${started} ${(await readFile('/proc/sys/kernel/random/boot_id', 'utf8')).trim()}`;
}

function describe(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
