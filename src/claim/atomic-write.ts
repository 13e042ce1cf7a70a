import { randomBytes } from 'node:crypto';
import { constants, createReadStream, createWriteStream } from 'node:fs';
import { link, lstat, mkdir, open, rename, stat, unlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { errnoOf, ignoreMissing, isMissing } from './disk-error.js';

const FOLDER_MODE = 0o700;
export const FILE_MODE = 0o600;
/** Names that begin so are never records: what a killed process left of a write. */
export const TEMP_PREFIX = '.tmp-';

/** File systems without hard links (FAT, some FUSE and network ones) answer link(2) with one of these. */
const NO_LINKS = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK']);
/** File systems that cannot sync a folder answer with one of these; the rename is still atomic. */
const NO_FOLDER_SYNC = new Set(['EINVAL', 'ENOTSUP', 'EOPNOTSUPP', 'EISDIR', 'EBADF', 'EPERM']);

/**
 * Makes a folder and its missing parents, 0700 and durable. A folder that exists keeps its mode. Rejects with errno errors.
 * Not mkdir's own `recursive`: where a folder exists and takes no new name (/proc), Node 20 tries again for ever.
 */
export async function makeFolder(path: string): Promise<void> {
  if (await makeInParent(path)) return;
  await makeFolder(dirname(path));
  if (!(await makeInParent(path))) await mkdir(path);
}

/** False where the parent is missing, or answers as if it were. */
async function makeInParent(path: string): Promise<boolean> {
  try {
    await mkdir(path, { mode: FOLDER_MODE });
  } catch (error) {
    if (isMissing(error) && dirname(path) !== path) return false;
    if (await isFolder(path)) return true;
    throw error;
  }
  await syncFolder(dirname(path));
  return true;
}

async function isFolder(path: string): Promise<boolean> {
  return await stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
}

/** Makes the names in a folder durable. */
export async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, constants.O_RDONLY);
  try {
    await folder.sync();
  } catch (error) {
    if (!NO_FOLDER_SYNC.has(errnoOf(error) ?? '')) throw error;
  } finally {
    await folder.close();
  }
}

/**
 * Writes a file that must not exist yet, 0600, whole or not at all, durable when it resolves.
 * False where the name is taken; that file is untouched. Rejects with errno errors.
 */
export async function createFile(path: string, content: string | Uint8Array): Promise<boolean> {
  return viaTemp(path, content, async (temp) => {
    const created = await linkNew(temp, path);
    await unlink(temp).catch(ignoreMissing);
    return created;
  });
}

/** Writes a file in place of what has the name now; a reader sees the old or the new whole. */
export async function replaceFile(path: string, content: string | Uint8Array): Promise<void> {
  await viaTemp(path, content, async (temp) => {
    await rename(temp, path);
    return true;
  });
}

/** Gives `temp` the name `path` unless something has it; false where something has. */
export async function linkNew(temp: string, path: string): Promise<boolean> {
  try {
    await link(temp, path);
    return true;
  } catch (error) {
    const code = errnoOf(error) ?? '';
    if (code === 'EEXIST') return false;
    if (!NO_LINKS.has(code)) throw error;
  }
  // Without hard links: the check and the rename are two steps; the installation's lock keeps others out between them.
  if (await exists(path)) return false;
  await rename(temp, path);
  return true;
}

/** By rename, or across file systems by copying. A file that is already at `to` is replaced. Rejects with errno errors. */
async function moveFile(from: string, to: string): Promise<void> {
  try {
    await rename(from, to);
  } catch (error) {
    if (errnoOf(error) !== 'EXDEV') throw error;
    await copyFile(from, to);
    await unlink(from);
  }
}

/**
 * Gives a regular file the further name `to`, durable when it resolves, 0600; what had the name is replaced. Where hard links
 * are not to be had it is copied with `keep`, else moved. Rejects with errno errors; ELOOP where `from` is a symbolic link.
 */
export async function linkFile(from: string, to: string, keep: boolean): Promise<void> {
  await settleMode(from);
  try {
    await link(from, to).catch(async (error: unknown) => {
      if (errnoOf(error) !== 'EEXIST') throw error;
      await unlink(to);
      await link(from, to);
    });
  } catch (error) {
    const code = errnoOf(error) ?? '';
    if (!NO_LINKS.has(code) && code !== 'EXDEV') throw error;
    if (keep) await copyFile(from, to);
    else await moveFile(from, to);
  }
}

async function settleMode(path: string): Promise<void> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW);
  try {
    await file.chmod(FILE_MODE);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Copies to a temporary name beside `to` first, so that a half copy never has the final name. */
async function copyFile(from: string, to: string): Promise<void> {
  const temp = tempBeside(to);
  try {
    await pipeline(createReadStream(from), createWriteStream(temp, { flags: 'wx', mode: FILE_MODE }));
    const copy = await open(temp, 'r');
    await copy.sync().finally(() => copy.close());
    await rename(temp, to);
  } catch (error) {
    await unlink(temp).catch(ignoreMissing);
    throw error;
  }
}

export async function exists(path: string): Promise<boolean> {
  try {
    await lstat(path);
    return true;
  } catch (error) {
    if (isMissing(error)) return false;
    throw error;
  }
}

export function tempBeside(path: string): string {
  return join(dirname(path), TEMP_PREFIX + randomBytes(8).toString('hex'));
}

async function viaTemp(
  path: string,
  content: string | Uint8Array,
  place: (temp: string) => Promise<boolean>,
): Promise<boolean> {
  const temp = tempBeside(path);
  try {
    await writeWhole(temp, content);
    const placed = await place(temp);
    await syncFolder(dirname(path));
    return placed;
  } catch (error) {
    await unlink(temp).catch(() => undefined);
    throw error;
  }
}

async function writeWhole(path: string, content: string | Uint8Array): Promise<void> {
  const file = await open(path, 'wx', FILE_MODE);
  try {
    await file.writeFile(content);
    await file.sync();
  } finally {
    await file.close();
  }
}
