import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join, posix, sep } from 'node:path';
import type { Container, Pod, Volume } from './pod-objects.js';
import { messageOf } from '../../../errors.js';
import { MountError, volumePayload, type PayloadFile, type FindSecret } from './volume-payload.js';
import type { ContainerMount } from './container-runtime.js';
import { ContainerConfigError } from './container-environment.js';

/**
 * Sets up one volume of a pod as a folder below `root` and returns its path. The name is a DNS label and the type one
 * of ours, so neither can lead out of `root`. Throws MountError when an object is missing.
 */
export function setUpVolume(root: string, volume: Volume, secret: FindSecret): string {
  const type = VOLUME_TYPES.find((name) => volume[name] !== undefined);
  if (type === undefined) {
    const kind = Object.keys(volume).find((key) => key !== 'name') ?? 'unknown';
    throw new MountError(volume.name, `volume type ${kind} is not supported here`);
  }
  const folder = join(root, type, volume.name);
  if (existsSync(folder)) return folder;
  const files = volumePayload(volume, secret);
  // Put together aside, so that what fails half-way is not taken for a volume at the next try.
  const draft = `${folder}.new`;
  rmSync(draft, { recursive: true, force: true });
  mkdirSync(draft, { recursive: true });
  chmodSync(draft, 0o777);
  if (files) writePayload(volume.name, draft, files);
  renameSync(draft, folder);
  return folder;
}

const VOLUME_TYPES = ['emptyDir', 'secret', 'projected'] as const;

/** As the kubelet's atomic writer lays it out: `..<time>/key`, `..data` -> that folder, `key` -> `..data/key`. */
function writePayload(volume: string, folder: string, files: readonly PayloadFile[]): void {
  const real = '..2026_01_01_00_00_00.000000000';
  mkdirSync(join(folder, real));
  symlinkSync(real, join(folder, '..data'));
  for (const file of files) {
    const parts = file.path.split('/');
    if (file.path === '' || parts.some((part) => part === '' || part === '.' || part === '..')) {
      throw new MountError(volume, `invalid path "${file.path}": must be relative and must not contain '..'`);
    }
    try {
      mkdirSync(join(folder, real, ...parts.slice(0, -1)), { recursive: true });
      writeFileSync(join(folder, real, ...parts), file.content, { mode: 0o600 });
      chmodSync(join(folder, real, ...parts), file.mode);
    } catch (error) {
      throw new MountError(volume, `cannot write "${file.path}": ${messageOf(error)}`);
    }
    const top = parts[0] ?? '';
    const link = join(folder, top);
    if (!lstatSync(link, { throwIfNoEntry: false })) symlinkSync(join('..data', top), link);
  }
}

/**
 * The mounts of a container, shallow ones first. A subPath that is not there is made as a folder, as the kubelet does.
 * Throws ContainerConfigError for a subPath that leads out of its volume.
 */
export function containerMounts(
  pod: Pod,
  container: Container,
  folders: ReadonlyMap<string, string>,
): readonly ContainerMount[] {
  const mounts = (container.volumeMounts ?? []).map((mount): ContainerMount => {
    const folder = folders.get(mount.name);
    const volume = pod.spec.volumes?.find((entry) => entry.name === mount.name);
    if (folder === undefined || !volume) throw new ContainerConfigError(`cannot find volume "${mount.name}" to mount`);
    const source = mount.subPath ? subPath(folder, mount.subPath, mount.name) : folder;
    const kind = statSync(source).isDirectory() ? 'folder' : 'file';
    // A Secret's volume is read-only whatever the mount says.
    const target = posix.normalize(`/${mount.mountPath}`).replace(/(.)\/$/, '$1');
    if (target === '/' || target.includes('\0')) throw new ContainerConfigError(`cannot mount at "${mount.mountPath}"`);
    return { source, kind, target, readOnly: mount.readOnly === true || !volume.emptyDir };
  });
  const depth = (mount: ContainerMount): number => mount.target.split('/').filter(Boolean).length;
  return mounts.sort((a, b) => depth(a) - depth(b));
}

function subPath(folder: string, path: string, volume: string): string {
  const failed = (why: string): ContainerConfigError =>
    new ContainerConfigError(`failed to prepare subPath for volumeMount "${volume}" of container: ${why}`);
  if (path.startsWith('/') || path.split('/').includes('..')) throw failed(`"${path}" must stay in the volume`);
  const full = join(folder, path);
  try {
    if (!existsSync(full)) mkdirSync(full, { recursive: true, mode: 0o750 });
    const real = realpathSync(full);
    if (real !== full && !real.startsWith(realpathSync(folder) + sep))
      throw failed(`"${path}" leads out of the volume`);
    const type = statSync(real);
    if (!type.isFile() && !type.isDirectory()) throw failed(`"${path}" is neither a file nor a folder`);
    return real;
  } catch (error) {
    throw error instanceof ContainerConfigError ? error : failed(`"${path}" cannot be opened`);
  }
}
