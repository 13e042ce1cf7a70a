import { accessSync, closeSync, constants, lstatSync, openSync, readSync, realpathSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { isWithin } from './mount-table.js';

/** Where the run tool lies in a bundle's folder. */
export const RUN_TOOL = 'cnab/app/run';

/** Annotation of a pod: the folder that stands for the image of its main container. Only the sandbox driver sets it. */
export const BUNDLE_FOLDER_ANNOTATION = 'sandbox.cnab.io/bundle-folder';

/**
 * Why the folder cannot stand for the invocation image, as one clause; undefined when it can.
 * Links on the way to `cnab/app` are refused, because what lies there is shown to the bundle: a bundle could otherwise
 * name any folder of the user's. Links below it are kept as they are and lead nowhere but into the container.
 */
export function bundleFolderProblem(folder: string): string | undefined {
  const app = join(folder, 'cnab', 'app');
  const run = join(app, 'run');
  try {
    if (!statSync(folder).isDirectory()) return `${folder} is not a folder`;
  } catch (error) {
    return isMissing(error)
      ? `the bundle's folder ${folder} is not there any more`
      : `${folder} cannot be read (${codeOf(error)})`;
  }
  try {
    for (const part of [join(folder, 'cnab'), app]) {
      const stats = lstatSync(part);
      if (stats.isSymbolicLink())
        return `${part} is a symbolic link, and the sandbox shows a bundle only its own files`;
      if (!stats.isDirectory()) return `${part} is not a folder`;
    }
    const realRun = realpathSync(run);
    if (!isWithin(realpathSync(app), realRun)) return `${run} is a link that leads out of ${app}`;
    const stats = statSync(realRun);
    if (!stats.isFile()) return `${run} is not a file`;
    if ((stats.mode & 0o111) === 0) return `${run} is not executable: chmod +x it`;
    return interpreterProblem(run, realRun);
  } catch (error) {
    return isMissing(error) ? `${folder} holds no ${RUN_TOOL}` : `${run} cannot be read (${codeOf(error)})`;
  }
}

/** The kernel says "no such file" of a script whose interpreter is missing, and everybody looks for the script. */
function interpreterProblem(run: string, realRun: string): string | undefined {
  const [line = ''] = head(realRun).split('\n');
  const interpreter = /^#![ \t]*(\S+)/.exec(line)?.[1];
  if (interpreter === undefined) return undefined;
  if (line.endsWith('\r')) return `${run} has Windows line ends, so its interpreter is not found`;
  // Others, say in the bundle's own folder, are left for the container to find.
  if (!/^\/(?:usr\/|bin\/|sbin\/)[\x21-\x7e]+$/.test(interpreter)) return undefined;
  try {
    accessSync(interpreter, constants.X_OK);
    return undefined;
  } catch {
    return `${run} needs ${interpreter}, which this machine lacks`;
  }
}

function head(file: string): string {
  const descriptor = openSync(file, 'r');
  try {
    const buffer = Buffer.alloc(256);
    return buffer.subarray(0, readSync(descriptor, buffer, 0, buffer.length, 0)).toString('latin1');
  } finally {
    closeSync(descriptor);
  }
}

function isMissing(error: unknown): boolean {
  return codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR';
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : String(error);
}
