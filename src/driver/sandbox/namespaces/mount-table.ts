/** One line of a table for `mount --all --fstab`: one process makes all the mounts, in order. */
export interface MountLine {
  readonly source: string;
  readonly target: string;
  /** File system type; `none` for binds. */
  readonly type: string;
  readonly options: readonly string[];
}

/** fstab(5): blanks, tabs, newlines and backslashes of a path are written in octal. */
export function mountTable(lines: readonly MountLine[]): string {
  return lines
    .map(
      ({ source, target, type, options }) => `${escaped(source)} ${escaped(target)} ${type} ${options.join(',')} 0 0\n`,
    )
    .join('');
}

/** A path as fstab and, to the byte, /proc/self/mountinfo have it (the kernel's `mangle`): no other blanks are escaped. */
export function escaped(path: string): string {
  return path.replace(/[ \t\n\\#]/g, (char) => `\\${char.charCodeAt(0).toString(8).padStart(3, '0')}`);
}

export interface HostMount {
  readonly point: string;
  readonly options: readonly string[];
}

/** Mount points and per-mount options of /proc/self/mountinfo (proc(5)), in its order. Lines that make no sense are left out. */
export function parseMountinfo(text: string): HostMount[] {
  return text.split('\n').flatMap((line) => {
    const [, , , , point, options] = line.split(' ');
    if (point === undefined || options === undefined) return [];
    return [{ point: unescaped(point), options: options.split(',') }];
  });
}

/**
 * Options that a bind of `path` must keep: inside a user namespace the kernel refuses a remount that drops one
 * (mount_namespaces(7), "locked"). Of the mounts on the way the last and deepest one counts.
 */
export function lockedOptions(mounts: readonly HostMount[], path: string): string[] {
  let found: HostMount | undefined;
  for (const mount of mounts) {
    if (isWithin(mount.point, path) && mount.point.length >= (found?.point.length ?? 0)) found = mount;
  }
  return (found?.options ?? []).filter((option) => option === 'ro' || option === 'noexec');
}

/** Whether `path` is `folder` or below it. Both absolute and clean. */
export function isWithin(folder: string, path: string): boolean {
  return folder === '/' || path === folder || path.startsWith(`${folder}/`);
}

function unescaped(text: string): string {
  return text.replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)));
}
