import { constants } from 'node:fs';
import { chmod, cp, lstat, mkdir, symlink, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { StartError } from '../api-server/container-runtime.js';
import { mountTable } from './mount-table.js';
import type { OutsideIdentity } from './outside-identity.js';
import { APP_FOLDER, OWN_FOLDER, type RootPlan } from './root-plan.js';
import { mustRun } from './run-program.js';

export interface RootContent {
  readonly plan: RootPlan;
  readonly identity: OutsideIdentity;
  /** `cnab/app` of the bundle; a copy of it becomes /cnab/app. */
  readonly app?: string;
  /** Files and folders that the container mounts; they become the container's, too. */
  readonly volumes: readonly string[];
}

/** Makes a plan real in the folder `root`, which does not exist yet. Rejects with StartError when a mount point cannot be made. */
export async function makeRoot(root: string, { plan, identity, app, volumes }: RootContent): Promise<void> {
  await mkdir(root, { recursive: true, mode: 0o755 });
  // One after the other: parents come first, and all of it is a few dozen entries.
  for (const { path, mode } of plan.folders) {
    await mkdir(join(root, path), { mode });
    if ((mode & 0o022) !== 0) await chmod(join(root, path), mode);
  }
  await Promise.all([
    ...plan.files.map(({ path, content, mode }) => writeFile(join(root, path), content, { mode, flag: 'wx' })),
    ...plan.links.map(({ path, to }) => symlink(to, join(root, path))),
    writeFile(join(root, OWN_FOLDER, 'outer'), mountTable(plan.outer), { mode: 0o600 }),
    writeFile(join(root, OWN_FOLDER, 'inner'), mountTable(plan.inner), { mode: 0o600 }),
  ]);
  for (const point of plan.nested) await makeNested(point);
  // A copy, so that nothing the bundle does to /cnab/app, as it may to an image's layer, reaches the user's folder.
  if (app !== undefined) {
    await cp(app, join(root, APP_FOLDER), {
      recursive: true,
      verbatimSymlinks: true,
      mode: constants.COPYFILE_FICLONE,
      filter: isCopied,
    });
  }
  if (identity.privileged) {
    // chown(1) walks by descriptors and follows no link, so a container that shares a volume cannot lead it astray.
    await mustRun([
      'chown',
      '--recursive',
      '-P',
      '--no-dereference',
      `${identity.id}:${identity.id}`,
      '--',
      root,
      ...volumes,
    ]);
  }
}

async function isCopied(source: string): Promise<boolean> {
  const stats = await lstat(source);
  return stats.isDirectory() || stats.isFile() || stats.isSymbolicLink();
}

/** The folder is a volume, so what lies in it may be the bundle's: no link is followed. */
async function makeNested({ within, path, kind }: RootPlan['nested'][number]): Promise<void> {
  const steps = relative(within, path).split('/');
  let at = within;
  for (const [index, step] of steps.entries()) {
    at = join(at, step);
    const wanted = kind === 'folder' || index < steps.length - 1 ? 'folder' : 'file';
    const stats = await lstat(at).catch(() => undefined);
    if (stats === undefined)
      await (wanted === 'folder' ? mkdir(at, { mode: 0o777 }) : writeFile(at, '', { flag: 'wx' }));
    else if (wanted === 'folder' ? !stats.isDirectory() : !stats.isFile()) {
      throw new StartError(`cannot mount a ${kind} in a volume: ${step} in it is no ${wanted}`);
    }
  }
}
