import { readFile, readlink, statfs } from 'node:fs/promises';
import { hostname as systemHostname } from 'node:os';

/** Who holds a lock: enough to tell, later and from elsewhere, whether that process still lives. */
export interface LockOwner {
  /** Random, of this one acquisition. */
  readonly token: string;
  readonly pid: number;
  /** Start time of the process in clock ticks since boot (field 22 of /proc/PID/stat); pids are used again. */
  readonly started?: string;
  /** /proc/sys/kernel/random/boot_id; one per boot of one machine, shared by its containers. */
  readonly bootId?: string;
  /** `pid:[4026531836]`: a pid means nothing to another PID namespace, even under the same host name. */
  readonly pidNamespace?: string;
  readonly host: string;
  readonly purpose: string;
  /** RFC 3339. */
  readonly since: string;
}

/** `process 12 on ci-7`. */
export function processOf({ pid, host }: Pick<LockOwner, 'pid' | 'host'>): string {
  return `process ${pid} on ${host}`;
}

/** The facts of the running process that go into its locks. */
export type ProcessFacts = Pick<LockOwner, 'pid' | 'started' | 'bootId' | 'pidNamespace' | 'host'>;

export interface ProcessProbe {
  readonly pid: number;
  readonly hostname?: string;
  /** True while a process with that pid exists, also one of another user; see `isAliveBy`. */
  readonly isAlive: (pid: number) => boolean;
  /** `/proc`; a system without it (macOS) is asked for the pid alone. */
  readonly procRoot?: string;
}

/** `isAlive` by signal 0. Pass `process.kill`. */
export function isAliveBy(kill: (pid: number, signal: 0) => unknown): (pid: number) => boolean {
  return (pid) => {
    try {
      kill(pid, 0);
      return true;
    } catch (error) {
      // EPERM: there is one, it is another user's.
      return (error as NodeJS.ErrnoException).code !== 'ESRCH';
    }
  };
}

export async function factsOf(probe: ProcessProbe): Promise<ProcessFacts> {
  const root = probe.procRoot ?? '/proc';
  const [bootId, stat, pidNamespace] = await Promise.all([
    readOr(`${root}/sys/kernel/random/boot_id`),
    readStat(root, probe.pid),
    readlink(`${root}/${probe.pid}/ns/pid`).catch(() => undefined),
  ]);
  return {
    pid: probe.pid,
    host: probe.hostname ?? systemHostname(),
    ...(stat === undefined ? {} : { started: stat.started }),
    ...(bootId === undefined ? {} : { bootId: bootId.trim() }),
    ...(pidNamespace === undefined ? {} : { pidNamespace }),
  };
}

/**
 * Whether the owner of a lock is known to be dead. Presumed alive wherever that cannot be told: on another machine,
 * in another PID namespace of this one, or before a reboot when the folder may be shared with other machines.
 */
export async function isDead(
  owner: LockOwner,
  own: ProcessFacts,
  probe: ProcessProbe,
  folder: string,
): Promise<boolean> {
  if (owner.bootId !== undefined && own.bootId !== undefined) {
    // On a disk that only this machine has, another boot is an earlier one, and nothing of it lives.
    if (owner.bootId !== own.bootId) return await isLocalDisk(folder);
    if (owner.pidNamespace !== own.pidNamespace) return false;
  } else if (owner.host !== own.host || owner.bootId !== own.bootId) {
    return false;
  }
  if (!probe.isAlive(owner.pid)) return true;
  const stat = await readStat(probe.procRoot ?? '/proc', owner.pid);
  if (stat === undefined) return false;
  // A killed process that its parent has not reaped still answers signal 0.
  const over = stat.state === 'Z' || stat.state === 'X';
  return over || (owner.started !== undefined && owner.started !== stat.started);
}

/** Whether it can be told from here that the owner of a lock is dead, or will be once it is. */
export function canJudge(owner: LockOwner, own: ProcessFacts): boolean {
  return (
    owner.bootId === own.bootId &&
    owner.pidNamespace === own.pidNamespace &&
    (owner.bootId !== undefined || owner.host === own.host)
  );
}

/** Undefined for what is no owner document: half written, or not ours. */
export function parseOwner(text: string): LockOwner | undefined {
  try {
    const raw = JSON.parse(text) as Partial<LockOwner> | null;
    const texts = [raw?.token, raw?.host, raw?.purpose, raw?.since];
    return texts.every((value) => typeof value === 'string') && Number.isSafeInteger(raw?.pid)
      ? (raw as LockOwner)
      : undefined;
  } catch {
    return undefined;
  }
}

interface ProcessStat {
  readonly state: string;
  readonly started: string;
}

/** Fields 3 and 22 of /proc/PID/stat; the name in field 2 may hold spaces and parentheses. */
async function readStat(root: string, pid: number): Promise<ProcessStat | undefined> {
  const text = await readOr(`${root}/${pid}/stat`);
  const fields = text?.slice(text.lastIndexOf(')') + 2).split(' ');
  const [state, started] = [fields?.[0], fields?.[19]];
  return state === undefined || started === undefined ? undefined : { state, started };
}

async function readOr(path: string): Promise<string | undefined> {
  return await readFile(path, 'utf8').catch(() => undefined);
}

/** f_type of Linux file systems that one machine has for itself: ext2–4, XFS, Btrfs, F2FS, ZFS, tmpfs, overlay. */
const LOCAL_DISKS = new Set([0xef53, 0x58465342, 0x9123683e, 0xf2f52010, 0x2fc12fc1, 0x01021994, 0x794c7630]);

async function isLocalDisk(folder: string): Promise<boolean> {
  const { type } = await statfs(folder);
  return LOCAL_DISKS.has(type);
}
