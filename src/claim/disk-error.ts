import { CnabError } from '../errors.js';

const WORDS: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  EPERM: 'the operation is not permitted',
  EROFS: 'the file system is read-only',
  ENOSPC: 'no space is left on the disk',
  EDQUOT: 'the disk quota is used up',
  EFBIG: 'the file would be larger than is allowed',
  ENOTDIR: 'a part of the path is a file, not a folder',
  EEXIST: 'there is a file where a folder is needed',
  EISDIR: 'there is a folder where a file is needed',
  ENAMETOOLONG: 'the path is too long',
  ELOOP: 'the path leads through too many symbolic links',
  EMFILE: 'too many files are open',
  ENFILE: 'too many files are open on this machine',
  EIO: 'the disk reports an input/output error',
  ESTALE: 'the network file system has lost the file',
  ETIMEDOUT: 'the file system does not answer',
  ENOENT: 'it is gone',
};

const MOVE_HOME = ['set CNAB_HOME to a folder that can be written'];
const SUGGESTIONS: Readonly<Record<string, readonly string[]>> = {
  EACCES: MOVE_HOME,
  EPERM: MOVE_HOME,
  EROFS: MOVE_HOME,
  ENOTDIR: MOVE_HOME,
  EEXIST: MOVE_HOME,
  ENOSPC: ['free some space, or set CNAB_HOME to a folder on another disk'],
  EDQUOT: ['free some space, or set CNAB_HOME to a folder on another disk'],
};

export function errnoOf(error: unknown): string | undefined {
  const code = error instanceof Error ? (error as NodeJS.ErrnoException).code : undefined;
  return typeof code === 'string' && /^E[A-Z0-9]+$/u.test(code) ? code : undefined;
}

/** What the file system's refusal means, `permission denied (EACCES)`; undefined for every other error. */
export function refusalOf(error: unknown): string | undefined {
  const code = errnoOf(error);
  return code === undefined ? undefined : `${WORDS[code] ?? code} (${code})`;
}

/** ENOENT, and nothing else: a file where a folder should be is trouble, not absence. */
export function isMissing(error: unknown): boolean {
  return errnoOf(error) === 'ENOENT';
}

/** For a `catch`: that something to remove is gone is no failure. */
export function ignoreMissing(error: unknown): void {
  if (!isMissing(error)) throw error;
}

/**
 * Translates what the file system refused into a CnabError `unavailable` of one sentence that names the path.
 * Everything else (a CnabError, a bug of ours) comes back as it is.
 */
export function toDiskError(error: unknown, doing: string, path: string): unknown {
  const refusal = refusalOf(error);
  if (refusal === undefined) return error;
  const { code = '', path: own = path } = error as NodeJS.ErrnoException;
  return new CnabError('unavailable', `cannot ${doing} ${own}: ${refusal}`, {
    suggestions: SUGGESTIONS[code] ?? [],
    cause: error,
  });
}

/** Runs `body`, translating what the disk refuses. */
export async function onDisk<T>(doing: string, path: string, body: () => Promise<T>): Promise<T> {
  try {
    return await body();
  } catch (error) {
    throw toDiskError(error, doing, path);
  }
}
