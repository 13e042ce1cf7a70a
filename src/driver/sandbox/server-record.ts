import { link, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** How a later CLI finds the API server of a home. */
export interface ServerRecord {
  /** Of cnab: a server of another version is not spoken to. */
  readonly version: string;
  readonly port: number;
  readonly token: string;
  readonly pid: number;
  /** Name of the server's own folder beside the record. */
  readonly id: string;
}

const FILE = 'server.json';

/** Undefined when there is none or it makes no sense: then a new server replaces it. */
export async function readRecord(folder: string): Promise<ServerRecord | undefined> {
  try {
    return parseRecord(await readFile(join(folder, FILE), 'utf8'));
  } catch {
    return undefined;
  }
}

export function parseRecord(text: string): ServerRecord | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (typeof value !== 'object' || value === null) return undefined;
  const { version, port, token, pid, id } = value as Partial<Record<keyof ServerRecord, unknown>>;
  const whole = (number: unknown, most: number): number is number =>
    Number.isInteger(number) && Number(number) > 0 && Number(number) <= most;
  if (typeof version !== 'string' || typeof token !== 'string' || token === '' || typeof id !== 'string')
    return undefined;
  if (!/^[0-9a-f]{16}$/.test(id) || !whole(port, 65_535) || !whole(pid, 2 ** 31)) return undefined;
  return { version, port, token, pid, id };
}

/**
 * Publishes a server unless a living one of the same version is there. The name is linked, so of two servers that start
 * at once one wins; one that is in the way and does not answer is replaced.
 */
export async function publish(
  folder: string,
  record: ServerRecord,
  isAlive: (other: ServerRecord) => Promise<boolean>,
): Promise<'published' | 'taken'> {
  const draft = join(folder, `${record.id}.json`);
  await writeFile(draft, JSON.stringify(record), { mode: 0o600, flag: 'wx' });
  try {
    for (;;) {
      try {
        await link(draft, join(folder, FILE));
        return 'published';
      } catch (error) {
        if (!isExisting(error)) throw error;
      }
      const other = await readRecord(folder);
      if (other?.version === record.version && (await isAlive(other))) return 'taken';
      await setAside(folder, `${draft}.old`, other?.id);
    }
  } finally {
    await rm(draft, { force: true });
  }
}

/**
 * Puts the record that was judged out of the way, for exactly one of those who judged it. Another server may have
 * published its own meanwhile: that one is put back.
 */
async function setAside(folder: string, aside: string, judged: string | undefined): Promise<void> {
  const moved = await rename(join(folder, FILE), aside).then(
    () => true,
    () => false,
  );
  if (!moved) return;
  const id = parseRecord(await readFile(aside, 'utf8'))?.id;
  if (id !== judged) await link(aside, join(folder, FILE)).catch(() => undefined);
  await rm(aside, { force: true });
}

/** Takes the record away, if it is still this server's. */
export async function unpublish(folder: string, id: string): Promise<void> {
  if ((await readRecord(folder))?.id === id) await rm(join(folder, FILE), { force: true });
}

function isExisting(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'EEXIST';
}
