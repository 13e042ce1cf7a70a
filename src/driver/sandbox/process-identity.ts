import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** File in a server's own folder that says which process it is. */
export const OWNER_FILE = 'owner';

/** Pid, start time in ticks and boot id: no later process has all three. Rejects when there is no such process. */
export async function processIdentity(pid: number): Promise<string> {
  const stats = await readFile(`/proc/${pid}/stat`, 'utf8');
  const started = stats.slice(stats.lastIndexOf(')') + 2).split(' ')[19] ?? '';
  return `${pid} ${started} ${(await readFile('/proc/sys/kernel/random/boot_id', 'utf8')).trim()}`;
}

/** Whether the process that a server's folder belongs to is still there. `unknown`: it has not said yet who it is. */
export async function ownerOf(folder: string): Promise<'alive' | 'gone' | 'unknown'> {
  const owner = await readFile(join(folder, OWNER_FILE), 'utf8').catch(() => '');
  if (owner === '') return 'unknown';
  const pid = Number(owner.split(' ')[0]);
  return pid > 0 && (await processIdentity(pid).catch(() => '')) === owner ? 'alive' : 'gone';
}
