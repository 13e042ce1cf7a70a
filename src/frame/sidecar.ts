import { readFileSync } from 'node:fs';
import { CnabError } from '../errors.js';
import { limitsOf, type Way } from './delivery.js';
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

/** One wanted output. */
export interface SidecarOutput {
  /** Absolute below /cnab/app/outputs, or relative to it. */
  readonly path: string;
  readonly sensitive: boolean;
}

export interface SidecarSettings {
  /** See `isRunId`. */
  readonly runId: string;
  /** Index i is the i-th. */
  readonly wanted: readonly SidecarOutput[];
  /** What the user allows; what the way allows is seen to here. */
  readonly limits: OutputLimits;
  readonly way: Way;
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
  return script('output-path.sh') + script('sidecar.sh');
}

/** What an exec in the sidecar's container can ask for. Numbers are bytes and indices. */
export type SendRequest =
  /** Bytes of all files of the manifest with index `first` to `last`, one after the other. */
  | { readonly verb: 'files'; readonly first: number; readonly last: number }
  /** `offset`: a multiple of BLOCK_BYTES; `length` too, or it reaches the file's end. */
  | { readonly verb: 'range'; readonly index: number; readonly offset: number; readonly length: number }
  /** The sha256 of that range as 64 hex digits and a newline. */
  | { readonly verb: 'digest'; readonly index: number; readonly offset: number; readonly length: number }
  /** 64 hex digits and a newline; see `Assembler.unseal`. */
  | { readonly verb: 'salt' }
  /** All has arrived: the sidecar ends within a second or two. */
  | { readonly verb: 'done' }
  /** Sends SIGTERM to the sidecar. */
  | { readonly verb: 'term' };

/**
 * The command of an exec in the sidecar's container; it goes by the container's own environment. Exit code 2: there is no
 * manifest yet, or it has no such file; 3: the file is not what the manifest says.
 */
export function sendCommand(request: SendRequest): readonly string[] {
  const { verb, ...numbers } = request;
  return ['/bin/sh', '-c', 'eval "$CNAB_SEND"', 'send', verb, ...Object.values(numbers).map(String)];
}

function sendScript(): string {
  return script('output-path.sh') + script('send.sh');
}

function script(name: string): string {
  return readFileSync(new URL(`./${name}`, import.meta.url), 'utf8');
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
  const { runId, wanted, way } = settings;
  if (!isRunId(runId)) throw new RangeError('not a run id');
  const limits = limitsOf(settings.limits, way);
  const unlogged = wanted.flatMap(({ sensitive }, index) =>
    sensitive && way.inLog === 'not-sensitive' ? [String(index)] : [],
  );
  return [
    { name: 'CNAB_RUN', value: runId },
    { name: 'CNAB_VIA', value: way.via },
    { name: 'CNAB_MAX_LOG', value: String(way.maxLogBytes) },
    { name: 'CNAB_UNLOGGED', value: unlogged.join(' ') },
    { name: 'CNAB_MAX_FILE', value: String(limits.maxOutputBytes) },
    { name: 'CNAB_MAX_TOTAL', value: String(limits.maxTotalBytes) },
    {
      name: 'CNAB_INPUTS',
      value: settings.inputs.map(({ mode, parts }) => `${mode.toString(8).padStart(4, '0')}:${parts}`).join(' '),
    },
    { name: 'CNAB_WANTED', value: String(wanted.length) },
    ...wanted.map(({ path }, index) => ({ name: `CNAB_WANTED_${index}`, value: relativePath(path) })),
    { name: 'CNAB_SEND', value: sendScript() },
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
