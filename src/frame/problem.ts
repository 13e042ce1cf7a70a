import type { ManifestEntry, SpecialKind } from './grammar.js';

export interface OutputLimits {
  /** Largest file that is taken, in bytes. */
  readonly maxOutputBytes: number;
  /** Largest sum of all files, in bytes. */
  readonly maxTotalBytes: number;
  /** Whose limits they are and what to do about them: one clause each, for people. */
  readonly advice?: { readonly output: string; readonly total: string };
}

/** Why a wanted path gave no output. `missing`: the run tool wrote none; whether that matters is for others to judge. */
export interface Problem {
  readonly index: number;
  readonly kind: 'missing' | 'not-regular' | 'unreadable' | 'too-large' | 'changed' | 'lost';
  /** One clause for people that goes on after the output's name: `is a symbolic link`. */
  readonly reason: string;
}

const SPECIAL: Readonly<Record<SpecialKind, string>> = {
  symlink: 'is a symbolic link',
  'link-above': 'lies below a symbolic link',
  directory: 'is a directory',
  fifo: 'is a FIFO',
  socket: 'is a socket',
  device: 'is a device',
  other: 'is not a regular file',
};

/** What an entry says against its file; undefined when the file is to be had. `before`: bytes of the files before it. */
export function problemOf(entry: ManifestEntry, limits: OutputLimits, before: number): Problem | undefined {
  const { index } = entry;
  switch (entry.kind) {
    case 'file':
    case 'sealed':
      return isTooLarge(entry.size, limits, before)
        ? { index, kind: 'too-large', reason: overLimit(entry.size, limits) }
        : undefined;
    case 'missing':
      return { index, kind: 'missing', reason: 'was not written' };
    case 'special':
      return { index, kind: 'not-regular', reason: SPECIAL[entry.what] };
    case 'unreadable':
      return { index, kind: 'unreadable', reason: 'could not be read (its permissions, or an error of the disk)' };
    case 'large':
      return { index, kind: 'too-large', reason: overLimit(Number(entry.size), limits) };
  }
}

export function changed(index: number): Problem {
  return { index, kind: 'changed', reason: 'changed while it was read' };
}

export function lost(index: number, reason: string): Problem {
  return { index, kind: 'lost', reason };
}

function isTooLarge(size: number, limits: OutputLimits, before: number): boolean {
  return size > limits.maxOutputBytes || before + size > limits.maxTotalBytes;
}

function overLimit(size: number, { maxOutputBytes, maxTotalBytes, advice }: OutputLimits): string {
  const has = `has ${formatBytes(size)}`;
  const [what, todo] =
    size > maxOutputBytes
      ? [`${has}, over the limit of ${formatBytes(maxOutputBytes)} for one output`, advice?.output]
      : [`${has}, with which the outputs exceed ${formatBytes(maxTotalBytes)} together`, advice?.total];
  return todo === undefined ? what : `${what}: ${todo}`;
}

const UNITS = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB', 'EiB'] as const;

/** `1.5 GiB`; whole numbers without a decimal. */
export function formatBytes(bytes: number): string {
  let value = bytes;
  let unit = 0;
  while (value >= 1024 && unit < UNITS.length - 1) {
    value /= 1024;
    unit += 1;
  }
  const digits = Number.isInteger(value) ? String(value) : value.toFixed(1).replace(/\.0$/, '');
  return `${digits} ${UNITS[unit] ?? ''}`;
}
