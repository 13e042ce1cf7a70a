import { readdir, stat } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { CnabError } from '../errors.js';
import type { SetKind } from './set.js';

const EXTENSIONS = ['.yaml', '.yml', '.json'];

export interface LocateOptions {
  readonly home: string;
  readonly cwd: string;
  /** Take any existing file for a file, whatever its name: for options that are about files first. */
  readonly anyFile?: boolean;
}

export interface LocatedSet {
  readonly path: string;
  /** For messages: `staging`, or the path as it was given. */
  readonly label: string;
}

/**
 * Finds NAME or FILE: with a slash, or as an existing file that ends in .yaml, .yml or .json, it is a file; otherwise
 * the set of that name in the home. Rejects with CnabError `not-found`, which says where the set would be and which
 * names exist, or `invalid` where two files have the name.
 */
export async function locateSet(given: string, kind: SetKind, options: LocateOptions): Promise<LocatedSet> {
  if (given === '' || given.includes('\0'))
    throw new CnabError('invalid', `the name of a ${kind} set is empty or holds a NUL byte`);
  const asFile = resolve(options.cwd, given);
  if (given.includes('/')) {
    if (await isThere(asFile)) return { path: asFile, label: given };
    throw new CnabError('not-found', `there is no file ${asFile} for a ${kind} set`);
  }
  const endsLikeOne = EXTENSIONS.some((extension) => given.endsWith(extension));
  if ((endsLikeOne || options.anyFile === true) && (await isThere(asFile))) return { path: asFile, label: given };

  const folder = setFolder(options.home, kind);
  const found: string[] = [];
  for (const extension of EXTENSIONS) {
    const path = join(folder, given + extension);
    if (await isThere(path)) found.push(path);
  }
  const [path, second] = found;
  if (path === undefined) throw await missing(given, kind, folder, endsLikeOne ? asFile : undefined);
  if (second !== undefined) {
    throw new CnabError('invalid', `two files are the ${kind} set "${given}": ${path} and ${second}; keep one`);
  }
  return { path, label: given };
}

/** Where the sets of a kind are kept. */
function setFolder(home: string, kind: SetKind): string {
  return join(home, `${kind}s`);
}

/** Names of the stored sets, sorted. */
export async function setNames(home: string, kind: SetKind): Promise<readonly string[]> {
  const files = await readdir(setFolder(home, kind)).catch((): string[] => []);
  const names = files.flatMap((file) => {
    const extension = EXTENSIONS.find((ending) => file.endsWith(ending));
    return extension === undefined || file.startsWith('.') ? [] : [basename(file, extension)];
  });
  return [...new Set(names)].sort();
}

async function missing(given: string, kind: SetKind, folder: string, file: string | undefined): Promise<CnabError> {
  const names = await setNames(join(folder, '..'), kind);
  const place = file === undefined ? `it would be ${join(folder, `${given}.yaml`)}` : `nor is there a file ${file}`;
  return new CnabError('not-found', `there is no ${kind} set "${given}": ${place}`, {
    suggestions: [
      names.length === 0 ? `there is no ${kind} set in ${folder} yet` : `sets that exist: ${names.join(', ')}`,
    ],
  });
}

/** What such a path names cannot be there; what else cannot be looked at is left to the reader, whose error says why. */
const NOWHERE = new Set(['ENOENT', 'ENOTDIR', 'ENAMETOOLONG']);

async function isThere(path: string): Promise<boolean> {
  return await stat(path).then(
    () => true,
    (error: NodeJS.ErrnoException) => !NOWHERE.has(error.code ?? ''),
  );
}
