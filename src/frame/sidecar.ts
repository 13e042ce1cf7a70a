import { readFileSync } from 'node:fs';
import { CnabError } from '../errors.js';
import { isRunId } from './grammar.js';
import type { OutputLimits } from './problem.js';

/** Where the sidecar finds the run tool's outputs (mounted read-only there). */
export const OUTPUTS_MOUNT = '/cnab/app/outputs';
/** Where the Secrets with the inputs are mounted in the sidecar: one flat folder, a file for each `inputPartName`. */
export const INPUTS_MOUNT = '/cnab-in';
/** The memory volume: the invocation gets single files of it (subPath `inputFileName`), the sidecar all of it. */
export const FILES_MOUNT = '/cnab-files';

/** One file for the invocation, as the sidecar has to put it together. */
export interface SidecarInput {
  /** Permission bits that it gets, such as 0o444. */
  readonly mode: number;
  /** Number of parts it travels in, at least 1. */
  readonly parts: number;
}

export interface SidecarSettings {
  /** See `isRunId`. */
  readonly runId: string;
  /** Paths of the wanted outputs, absolute below /cnab/app/outputs or relative to it; index i is the i-th. */
  readonly wanted: readonly string[];
  readonly limits: OutputLimits;
  /** Index i becomes `inputFileName(i)`, made of `inputPartName(i, 0)` and so on. */
  readonly inputs: readonly SidecarInput[];
}

/** Name of the file number `index` in FILES_MOUNT. */
export function inputFileName(index: number): string {
  return `f${index}`;
}

/** Name of a part in INPUTS_MOUNT; a legal key of a Secret. Parts count from 0. */
export function inputPartName(index: number, part: number): string {
  return `f${index}.${part}`;
}

/** The sidecar's program, for `/bin/sh -c`. It has no `$$`: both ways of escaping for Kubernetes leave it whole. */
export function sidecarScript(): string {
  return readFileSync(new URL('./sidecar.sh', import.meta.url), 'utf8');
}

/**
 * Returns when the sidecar has put the inputs in place and can be signalled. For a postStart hook: it holds the
 * invocation back until then. Loops for ever when the sidecar fails; the caller's time-out is the bound.
 */
export const POST_START_COMMAND: readonly string[] = [
  '/bin/sh',
  '-c',
  `until [ -e "$CNAB_ROOT${FILES_MOUNT}/.cnab/ready" ]; do sleep 0.02 || sleep 1; done`,
];

/**
 * What the script needs to know, as plain values. Kubernetes expands `$(NAME)` in `value:` and turns `$$` into `$`:
 * whoever writes the values (and the script) into a pod doubles every `$`.
 * Throws CnabError `invalid` for a path that is not a clean one below the outputs' folder.
 */
export function sidecarEnvironment(settings: SidecarSettings): { name: string; value: string }[] {
  if (!isRunId(settings.runId)) throw new RangeError('not a run id');
  return [
    { name: 'CNAB_RUN', value: settings.runId },
    { name: 'CNAB_MAX_FILE', value: String(settings.limits.maxOutputBytes) },
    { name: 'CNAB_MAX_TOTAL', value: String(settings.limits.maxTotalBytes) },
    {
      name: 'CNAB_INPUTS',
      value: settings.inputs.map(({ mode, parts }) => `${mode.toString(8).padStart(4, '0')}:${parts}`).join(' '),
    },
    { name: 'CNAB_WANTED', value: String(settings.wanted.length) },
    ...settings.wanted.map((path, index) => ({ name: `CNAB_WANTED_${index}`, value: relativePath(path) })),
  ];
}

/** JSON can hold half a character, no file system can. */
const LONE_SURROGATE = /\p{Surrogate}/u;

function relativePath(path: string): string {
  const relative = path.startsWith(`${OUTPUTS_MOUNT}/`) ? path.slice(OUTPUTS_MOUNT.length + 1) : path;
  const clean = relative.split('/').every((part) => part !== '' && part !== '.' && part !== '..');
  if (!clean || relative.includes('\0') || LONE_SURROGATE.test(relative)) {
    throw new CnabError('invalid', `output path ${JSON.stringify(path)} is not a clean path below ${OUTPUTS_MOUNT}`);
  }
  return relative;
}
