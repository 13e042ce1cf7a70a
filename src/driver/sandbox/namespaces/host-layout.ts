import { lstat, readFile, readlink } from 'node:fs/promises';
import { parseMountinfo, type HostMount } from './mount-table.js';

/** What of the machine a container is put together from. Read once; `root-plan.ts` decides what becomes of it. */
export interface HostLayout {
  /** Folders of programs: shown read-only. */
  readonly folders: readonly string[];
  readonly links: readonly { readonly path: string; readonly to: string }[];
  /** Small public files, copied: a container may change its own. */
  readonly files: readonly { readonly path: string; readonly content: Uint8Array }[];
  /** Of `/proc`: covered with an empty file or folder. */
  readonly hidden: readonly { readonly path: string; readonly kind: 'file' | 'folder' }[];
  /** Of `/proc`: shown read-only. */
  readonly readOnly: readonly string[];
  readonly mounts: readonly HostMount[];
}

const PROGRAMS = ['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32', '/nix/store', '/gnu/store'];
/** Certificates of authorities, never a folder that also holds private keys (`/etc/ssl/private`, `/etc/pki/tls/private`). */
const PUBLIC_FOLDERS = [
  ...['/etc/alternatives', '/etc/ca-certificates', '/etc/crypto-policies', '/etc/pki/ca-trust', '/etc/pki/tls/certs'],
  '/etc/ssl/certs',
];
const PUBLIC_FILES = [
  ...[
    '/etc/hosts',
    '/etc/resolv.conf',
    '/etc/services',
    '/etc/protocols',
    '/etc/mime.types',
    '/etc/localtime',
    '/etc/timezone',
  ],
  ...['/etc/ld.so.cache', '/etc/ld.so.conf', '/etc/ssl/openssl.cnf', '/etc/pki/tls/openssl.cnf'],
];
/** A file on some systems, a link on others. */
const CERTIFICATE_FILES = ['/etc/ssl/cert.pem', '/etc/pki/tls/cert.pem'];
/** The lists of the common container runtimes (containerd's and Docker's `MaskedPaths`, `ReadonlyPaths`). */
const HIDDEN = [
  'acpi',
  'asound',
  'interrupts',
  'kcore',
  'keys',
  'latency_stats',
  'sched_debug',
  'scsi',
  'sysrq-trigger',
  'timer_list',
  'timer_stats',
];
const READ_ONLY = ['bus', 'fs', 'irq'];

export async function readHostLayout(): Promise<HostLayout> {
  const [programs, publicFolders, certificates, files, hidden, readOnly, mountinfo] = await Promise.all([
    Promise.all(PROGRAMS.map(look)),
    Promise.all(PUBLIC_FOLDERS.map(look)),
    Promise.all(CERTIFICATE_FILES.map(look)),
    Promise.all(PUBLIC_FILES.map(content)),
    Promise.all(HIDDEN.map((name) => look(`/proc/${name}`))),
    Promise.all(READ_ONLY.map((name) => look(`/proc/${name}`))),
    readFile('/proc/self/mountinfo', 'utf8'),
  ]);
  const certificateFiles = await Promise.all(
    certificates.flatMap((entry) => (entry?.kind === 'file' ? [content(entry.path)] : [])),
  );
  const shown = [...programs, ...publicFolders];
  return {
    folders: shown.flatMap((entry) => (entry?.kind === 'folder' ? [entry.path] : [])),
    links: [...shown, ...certificates].flatMap((entry) =>
      entry?.to === undefined ? [] : [{ path: entry.path, to: entry.to }],
    ),
    files: [...files, ...certificateFiles].flatMap((file) => file ?? []),
    hidden: hidden.flatMap((entry) =>
      entry === undefined ? [] : [{ path: entry.path, kind: entry.kind === 'folder' ? 'folder' : 'file' }],
    ),
    readOnly: readOnly.flatMap((entry) => (entry === undefined ? [] : [entry.path])),
    mounts: parseMountinfo(mountinfo),
  };
}

interface Entry {
  readonly path: string;
  readonly kind: 'folder' | 'file' | 'link';
  readonly to?: string;
}

async function look(path: string): Promise<Entry | undefined> {
  try {
    const stats = await lstat(path);
    if (stats.isSymbolicLink()) return { path, kind: 'link', to: await readlink(path) };
    return { path, kind: stats.isDirectory() ? 'folder' : 'file' };
  } catch {
    return undefined;
  }
}

async function content(path: string): Promise<{ path: string; content: Uint8Array } | undefined> {
  try {
    return { path, content: await readFile(path) };
  } catch {
    return undefined;
  }
}
