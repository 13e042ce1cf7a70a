import { dirname, relative } from 'node:path/posix';
import { StartError, type ContainerMount, type ContainerSpec } from '../api-server/container-runtime.js';
import type { HostLayout } from './host-layout.js';
import { isWithin, lockedOptions, type MountLine } from './mount-table.js';

/** Everything that makes a container's root: made on disk first, mounted by `enter.sh` after that. */
export interface RootPlan {
  /** Inside the root, parents first. */
  readonly folders: readonly { readonly path: string; readonly mode: number }[];
  readonly files: readonly { readonly path: string; readonly content: Uint8Array | string; readonly mode: number }[];
  readonly links: readonly { readonly path: string; readonly to: string }[];
  /** Mount points that lie in a mounted folder of the pod: host paths, each step below `within` is made in that folder. */
  readonly nested: readonly { readonly within: string; readonly path: string; readonly kind: 'folder' | 'file' }[];
  /** Made with the host in view; targets are host paths below the root. */
  readonly outer: readonly MountLine[];
  /** Made inside, when the host is out of reach. */
  readonly inner: readonly MountLine[];
}

/** Folder of our own at the container's root; covered before the command starts. */
export const OWN_FOLDER = '/.sandbox';
export const APP_FOLDER = '/cnab/app';

const DEVICES = ['null', 'zero', 'full', 'random', 'urandom', 'tty'];
const SHM_SIZE = '64m';

type PlannedSpec = Pick<ContainerSpec, 'mounts' | 'security' | 'hostname'>;

/**
 * Pure. Throws StartError when a mount has a target that the sandbox cannot make: in /proc, or in a folder that is the
 * machine's and read-only.
 */
export function planRoot(root: string, spec: PlannedSpec, host: HostLayout): RootPlan {
  const folders = new Map<string, number>();
  const files = new Map<string, { readonly content: Uint8Array | string; readonly mode: number }>();
  const addFolder = (path: string, mode = 0o755): void => {
    if (path === '/' || folders.has(path)) return;
    addFolder(dirname(path));
    folders.set(path, mode);
  };
  const addFile = (path: string, content: Uint8Array | string, mode = 0o644): void => {
    addFolder(dirname(path));
    files.set(path, { content, mode });
  };
  for (const path of ['/tmp', '/var/tmp']) addFolder(path, 0o1777);
  for (const path of [APP_FOLDER, '/dev/pts', '/dev/shm', '/opt', '/proc', '/run', '/var/lib', '/var/log'])
    addFolder(path);
  addFolder('/root', 0o700);
  addFolder(`${OWN_FOLDER}/old`);
  addFolder(`${OWN_FOLDER}/mounts`);
  for (const path of host.folders) addFolder(path);
  for (const link of host.links) addFolder(dirname(link.path));
  for (const device of DEVICES) addFile(`/dev/${device}`, '');
  for (const { path, content } of host.files) addFile(path, content);
  for (const [path, content] of identityFiles(spec)) addFile(path, content);

  const nested = spec.mounts.flatMap((mount, index) => {
    addSource(mount, index, addFolder, addFile);
    const parent = spec.mounts.findLast(
      (other, at) => at < index && other.kind === 'folder' && isWithin(other.target, mount.target),
    );
    if (parent !== undefined)
      return [
        { within: parent.source, path: `${parent.source}/${relative(parent.target, mount.target)}`, kind: mount.kind },
      ];
    refuseTarget(mount.target, host);
    if (files.has(mount.target) ? mount.kind === 'folder' : folders.has(mount.target) && mount.kind === 'file') {
      throw new StartError(
        `cannot mount a ${mount.kind} at ${mount.target}: it is a ${mount.kind === 'file' ? 'folder' : 'file'}`,
      );
    }
    if (ancestors(mount.target).some((path) => files.has(path)))
      throw new StartError(`cannot mount at ${mount.target}: a part of the path is a file`);
    if (mount.kind === 'folder') addFolder(mount.target);
    else if (!files.has(mount.target)) addFile(mount.target, '');
    return [];
  });
  return {
    folders: [...folders].map(([path, mode]) => ({ path, mode })),
    files: [...files].map(([path, file]) => ({ path, ...file })),
    links: [...host.links, { path: '/var/run', to: '/run' }, ...deviceLinks()].filter(
      ({ path }) => !folders.has(path) && !files.has(path),
    ),
    nested,
    outer: outerMounts(root, spec, host),
    inner: innerMounts(spec),
  };
}

function addSource(
  mount: ContainerMount,
  index: number,
  addFolder: (path: string) => void,
  addFile: (path: string, content: string) => void,
): void {
  const parked = `${OWN_FOLDER}/mounts/${index}`;
  if (mount.kind === 'folder') addFolder(parked);
  else addFile(parked, '');
}

function refuseTarget(target: string, host: HostLayout): void {
  const problem = (why: string): StartError => new StartError(`cannot mount at ${target}: ${why}`);
  if (isWithin('/proc', target)) throw problem("/proc is the kernel's");
  if (isWithin(OWN_FOLDER, target)) throw problem(`${OWN_FOLDER} is the sandbox's own`);
  if (isWithin('/dev/pts', target) || isWithin('/dev/shm', target))
    throw problem(`${dirname(target)} is a file system of its own`);
  const folder = [...host.folders, ...host.links.map(({ path }) => path)].find((path) => isWithin(path, target));
  if (folder !== undefined) throw problem(`in the sandbox ${folder} is this machine's and read-only`);
}

function ancestors(path: string): string[] {
  const parent = dirname(path);
  return parent === '/' ? [] : [parent, ...ancestors(parent)];
}

function outerMounts(root: string, spec: PlannedSpec, host: HostLayout): MountLine[] {
  const bind = (source: string, target: string, ...options: string[]): MountLine => ({
    source,
    target: root + target,
    type: 'none',
    options: [...new Set(['bind', 'nosuid', ...options, ...lockedOptions(host.mounts, source)])],
  });
  const proc = (path: string): string => root + path;
  return [
    bind(root, '', 'nodev', ...(spec.security.readOnlyRootFilesystem ? ['ro'] : [])),
    ...host.folders.map((path) => {
      const line = bind(path, path, 'nodev', 'ro');
      return { ...line, options: line.options.map((option) => (option === 'bind' ? 'rbind' : option)) };
    }),
    ...DEVICES.map((device) => bind(`/dev/${device}`, `/dev/${device}`, 'noexec', 'ro')),
    {
      source: 'shm',
      target: `${root}/dev/shm`,
      type: 'tmpfs',
      options: ['nosuid', 'nodev', 'noexec', 'mode=1777', `size=${SHM_SIZE}`],
    },
    {
      source: 'devpts',
      target: `${root}/dev/pts`,
      type: 'devpts',
      options: ['nosuid', 'noexec', 'newinstance', 'ptmxmode=0666', 'mode=0620'],
    },
    { source: 'proc', target: `${root}/proc`, type: 'proc', options: ['nosuid', 'nodev', 'noexec'] },
    ...host.readOnly.map((path) => ({
      source: proc(path),
      target: proc(path),
      type: 'none',
      options: ['bind', 'ro', 'nosuid', 'nodev', 'noexec'],
    })),
    ...host.hidden.map(({ path, kind }) =>
      kind === 'file'
        ? { source: '/dev/null', target: proc(path), type: 'none', options: ['bind', 'ro', 'nosuid', 'noexec'] }
        : {
            source: 'hidden',
            target: proc(path),
            type: 'tmpfs',
            options: ['ro', 'nosuid', 'nodev', 'noexec', 'size=4k'],
          },
    ),
    ...spec.mounts.map((mount, index) =>
      bind(mount.source, `${OWN_FOLDER}/mounts/${index}`, 'nodev', ...(mount.readOnly ? ['ro'] : [])),
    ),
  ];
}

function innerMounts(spec: PlannedSpec): MountLine[] {
  return [
    { source: '/proc/sys', target: '/proc/sys', type: 'none', options: ['bind', 'ro', 'nosuid', 'nodev', 'noexec'] },
    ...spec.mounts.map(({ target }, index) => ({
      source: `${OWN_FOLDER}/mounts/${index}`,
      target,
      type: 'none',
      options: ['bind'],
    })),
    {
      source: 'hidden',
      target: OWN_FOLDER,
      type: 'tmpfs',
      options: ['ro', 'nosuid', 'nodev', 'noexec', 'size=4k', 'mode=0555'],
    },
  ];
}

function identityFiles({ security, hostname }: PlannedSpec): [string, string][] {
  const { runAsUser = 0, runAsGroup = runAsUser } = security;
  return [
    [
      '/etc/passwd',
      `root:x:0:0:root:/root:/bin/sh\n${runAsUser === 0 ? '' : `bundle:x:${runAsUser}:${runAsGroup}::/root:/bin/sh\n`}nobody:x:65534:65534:nobody:/:/bin/false\n`,
    ],
    ['/etc/group', `root:x:0:\n${runAsGroup === 0 ? '' : `bundle:x:${runAsGroup}:\n`}nogroup:x:65534:\n`],
    ['/etc/nsswitch.conf', 'passwd: files\ngroup: files\nhosts: files dns\nservices: files\nprotocols: files\n'],
    ['/etc/hostname', `${hostname}\n`],
  ];
}

function deviceLinks(): { path: string; to: string }[] {
  return [
    { path: '/dev/fd', to: '/proc/self/fd' },
    { path: '/dev/stdin', to: '/proc/self/fd/0' },
    { path: '/dev/stdout', to: '/proc/self/fd/1' },
    { path: '/dev/stderr', to: '/proc/self/fd/2' },
    { path: '/dev/ptmx', to: 'pts/ptmx' },
  ];
}
