import { randomBytes } from 'node:crypto';
import { access, appendFile, mkdir, readdir, stat, statfs, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../clock.js';
import { startApiServer } from './api-server/server.js';
import { removeTree } from './namespaces/remove-tree.js';
import { createNamespaceRuntime } from './namespaces/runtime.js';
import { ownerOf, OWNER_FILE, processIdentity } from './process-identity.js';
import { lives } from './server-answer.js';
import { publish, unpublish } from './server-record.js';
import { Work } from './server-work.js';

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
  await writeFile(join(own, OWNER_FILE), await processIdentity(pid));
  const memory = await memoryFolder(options.uid, id);
  const token = randomBytes(32).toString('base64url');
  const work = new Work(clock);
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
    faults: { intercept: () => work.request() },
    onBug: (error) =>
      void appendFile(join(folder, 'server.log'), `${describe(error)}\n`, { mode: 0o600 }).catch(() => undefined),
  });
  try {
    const record = { version, port: Number(new URL(server.url).port), token, pid, id };
    const outcome = await publish(folder, record, (other) => lives(folder, other, clock));
    options.onReady(outcome);
    if (outcome === 'published') {
      await removeLeftovers(folder, options.uid, id, clock.now());
      const over = new AbortController();
      const until = AbortSignal.any([signal, over.signal]);
      // A home that was removed takes the record along: nobody will find this server again, and its Jobs stay for a day.
      await Promise.race([work.untilIdle(server, until), untilGone(join(own, OWNER_FILE), clock, until)]);
      over.abort();
    }
  } finally {
    work.refuse();
    await unpublish(folder, id);
    await server.close();
    await Promise.all([own, ...(memory === undefined ? [] : [memory])].map(removeTree));
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
    const owner = await ownerOf(join(folder, name));
    if (owner === 'alive') continue;
    const { ctimeMs } = await stat(join(folder, name)).catch(() => ({ ctimeMs: 0 }));
    // A server that starts this moment may not have said who it is.
    if (owner === 'unknown' && now - ctimeMs < 60_000) continue;
    await Promise.all([removeTree(memoryPath(uid, name)), removeTree(join(folder, name))]);
  }
}

function describe(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
