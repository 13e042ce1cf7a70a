import { constants } from 'node:fs';
import { access, lstat, open, realpath, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { isWithin } from './mount-table.js';

/** Where the run tool lies in a bundle's folder. */
export const RUN_TOOL = 'cnab/app/run';

/**
 * Why the folder cannot stand for the invocation image, as one clause; undefined when it can.
 * Links on the way to `cnab/app` are refused, because what lies there is shown to the bundle: a bundle could otherwise
 * name any folder of the user's. Links below it are kept as they are and lead nowhere but into the container.
 */
export async function bundleFolderProblem(folder: string): Promise<string | undefined> {
  const app = join(folder, 'cnab', 'app');
  const run = join(app, 'run');
  try {
    if (!(await stat(folder)).isDirectory()) return `${folder} is not a folder`;
  } catch (error) {
    return isMissing(error)
      ? `the bundle's folder ${folder} is not there any more`
      : `${folder} cannot be read (${codeOf(error)})`;
  }
  try {
    for (const part of [join(folder, 'cnab'), app]) {
      const stats = await lstat(part);
      if (stats.isSymbolicLink())
        return `${part} is a symbolic link, and the sandbox shows a bundle only its own files`;
      if (!stats.isDirectory()) return `${part} is not a folder`;
    }
    const [realApp, realRun] = await Promise.all([realpath(app), realpath(run)]);
    if (!isWithin(realApp, realRun)) return `${run} is a link that leads out of ${app}`;
    if (!(await stat(realRun)).isFile()) return `${run} is not a file`;
    if (((await stat(realRun)).mode & 0o111) === 0) return `${run} is not executable (chmod +x it)`;
    return await interpreterProblem(run, realRun);
  } catch (error) {
    return isMissing(error) ? `${folder} holds no ${RUN_TOOL}` : `${run} cannot be read (${codeOf(error)})`;
  }
}

/** The kernel says "no such file" of a script whose interpreter is missing, and everybody looks for the script. */
async function interpreterProblem(run: string, realRun: string): Promise<string | undefined> {
  const handle = await open(realRun, 'r');
  try {
    const { bytesRead, buffer } = await handle.read(Buffer.alloc(256), 0, 256, 0);
    const [line = ''] = buffer.subarray(0, bytesRead).toString('latin1').split('\n');
    const interpreter = /^#![ \t]*(\S+)/.exec(line)?.[1];
    if (interpreter === undefined) return undefined;
    if (line.endsWith('\r')) return `${run} has Windows line ends, so its interpreter is not found`;
    // Others, say in the bundle's own folder, are left for the container to find.
    if (!/^\/(?:usr\/|bin\/|sbin\/)[\x21-\x7e]+$/.test(interpreter)) return undefined;
    const found = await access(interpreter, constants.X_OK).then(
      () => true,
      () => false,
    );
    return found ? undefined : `${run} needs ${interpreter}, which this machine lacks`;
  } finally {
    await handle.close();
  }
}

function isMissing(error: unknown): boolean {
  return codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR';
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : String(error);
}
