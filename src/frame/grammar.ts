import { createHash } from 'node:crypto';

/**
 * The lines that the `outputs` sidecar writes to its standard output (`sidecar.sh`), and what each means.
 * docs/outputs-protocol.md tells the story around them.
 *
 *     CNABO1 <run> <start> <type> <fields…> .
 *
 * ASCII, one space between fields, a dot as the last field, ended by a newline, at most MAX_LINE_BYTES long.
 * `run` is the id of the run; `start` counts the starts of the sidecar in its pod (1, 2, …), so that a restarted
 * sidecar is told from the first one. Anything that does not match to the letter is noise: another program's line,
 * half of a line, two lines glued together, a kubelet's error text in the middle of the stream.
 *
 *     hello <count>                                  inputs are in place; count: number of wanted paths
 *     beat                                           every 15 s while there is nothing else to say
 *     ended                                          the invocation has ended; the pass over the outputs begins
 *     entry <index> file <size> <sha256>             a regular file that will be sent
 *     entry <index> sealed <size> <seal>             a regular file that never travels in the log (sealOf)
 *     entry <index> missing                          nothing is there
 *     entry <index> special <kind>                   not a regular file, or below a symbolic link: never opened
 *     entry <index> unreadable                       there, but it cannot be read
 *     entry <index> large <size>                     over a limit: not read
 *     manifest <count> <sha256>                      of the text of the entries, in order of their index (entryText)
 *     block <index> <block> <bytes> <lines> <sha256> header of up to BLOCK_BYTES bytes of a file; `lines` data lines follow
 *     data <index> <block> <line> <base64>           LINE_BYTES bytes; the last line of a block has the rest
 *     changed <index>                                the file was not the same any more after it had been sent
 *     end <sha256>                                   end of a pass; the manifest's digest once more
 *     fault <what> <detail>                          the sidecar cannot work, and says why before the invocation starts
 *
 * Numbers are decimal without leading zeros; index, block and line count from 0; size and bytes are bytes before base64.
 */
export const MAGIC = 'CNABO1';

/**
 * No line is longer, its newline not counted. Below the 16 KiB at which containerd cuts a log record in two,
 * so that a line is one record and lost or kept as a whole.
 */
export const MAX_LINE_BYTES = 16_300;

/** Bytes of a file in one block: large enough for a shell to be fast (35 MB/s, against 6 with 64 KiB), small enough to be lost. */
export const BLOCK_BYTES = 1_048_576;

/**
 * Bytes in one full data line, before base64 (16,128 characters after): a log costs by the line, so lines are as long as
 * they may be. A multiple of 3, so that only a block's last line is padded.
 */
export const LINE_BYTES = 12_096;

/** What a `special` entry can be. `link-above`: a folder on the way is a symbolic link. */
const SPECIAL_KINDS = ['symlink', 'link-above', 'directory', 'fifo', 'socket', 'device', 'other'] as const;
export type SpecialKind = (typeof SPECIAL_KINDS)[number];

/** `tool`: the shell image lacks the tool named in `detail`. `input`: file number `detail` could not be put in place. */
const FAULT_KINDS = ['tool', 'input', 'scratch'] as const;
export type FaultKind = (typeof FAULT_KINDS)[number];

/** One wanted path, as the sidecar found it. */
export type ManifestEntry =
  | { readonly kind: 'file'; readonly index: number; readonly size: number; readonly sha256: string }
  /** `seal`: see `sealOf`. */
  | { readonly kind: 'sealed'; readonly index: number; readonly size: number; readonly seal: string }
  | { readonly kind: 'missing'; readonly index: number }
  | { readonly kind: 'special'; readonly index: number; readonly what: SpecialKind }
  | { readonly kind: 'unreadable'; readonly index: number }
  /** `size` in decimal digits: a sparse file may be larger than a number holds exactly. */
  | { readonly kind: 'large'; readonly index: number; readonly size: string };

export interface BlockHeader {
  readonly index: number;
  readonly block: number;
  readonly bytes: number;
  readonly lines: number;
  readonly sha256: string;
}

export type Frame = { readonly start: number } & (
  | { readonly type: 'hello'; readonly count: number }
  | { readonly type: 'beat' }
  | { readonly type: 'ended' }
  | { readonly type: 'entry'; readonly entry: ManifestEntry }
  | { readonly type: 'manifest'; readonly count: number; readonly sha256: string }
  | { readonly type: 'block'; readonly header: BlockHeader }
  /** `payload` is base64 text, unchecked: its block's length and digest decide. A view that is good until the decoder goes on. */
  | {
      readonly type: 'data';
      readonly index: number;
      readonly block: number;
      readonly line: number;
      readonly payload: Buffer;
    }
  | { readonly type: 'changed'; readonly index: number }
  | { readonly type: 'end'; readonly sha256: string }
  | { readonly type: 'fault'; readonly what: FaultKind; readonly detail: string }
);

/** Reads one line without its newline; undefined: noise. Never throws. */
export type FrameParser = (line: Buffer) => Frame | undefined;

/** Number of lines that a block of `bytes` bytes has. */
export function linesOf(bytes: number): number {
  return Math.ceil(bytes / LINE_BYTES);
}

/** Number of blocks that a file of `size` bytes has; an empty file has none. */
export function blocksOf(size: number): number {
  return Math.ceil(size / BLOCK_BYTES);
}

/** The line of an entry between `start` and the dot: what the manifest's digest is made of, one per line. */
export function entryText(entry: ManifestEntry): string {
  const head = `entry ${entry.index} ${entry.kind}`;
  switch (entry.kind) {
    case 'file':
      return `${head} ${entry.size} ${entry.sha256}`;
    case 'sealed':
      return `${head} ${entry.size} ${entry.seal}`;
    case 'special':
      return `${head} ${entry.what}`;
    case 'large':
      return `${head} ${entry.size}`;
    case 'missing':
    case 'unreadable':
      return head;
  }
}

/**
 * What stands in the log for the sha256 of a file that must not be guessed from there: a short secret's digest tells the
 * secret to whoever tries all that are short. `salt`: 64 hex digits from /dev/urandom that never reach the log.
 */
export function sealOf(salt: string, index: number, sha256: string): string {
  return createHash('sha256').update(`${salt} ${index} ${sha256}\n`).digest('hex');
}

const RUN_ID = /^[0-9A-Za-z][0-9A-Za-z-]{0,63}$/;

/** True for what can stand as `run` in a line: 1 to 64 ASCII letters, digits and inner dashes. */
export function isRunId(text: string): boolean {
  return RUN_ID.test(text);
}

const DOT = Buffer.from(' .');
/** Longer than the head of any data line; the tail of a control line is parsed whole. */
const DATA_HEAD_BYTES = 64;
const DATA_HEAD = /^([1-9][0-9]{0,5}) data (0|[1-9][0-9]{0,5}) (0|[1-9][0-9]{0,9}) (0|[1-9][0-9]{0,2}) /;
const CONTROL = /^([1-9][0-9]{0,5}) ([a-z]+)((?: [0-9a-z.-]+)*)$/;
const MAX_CONTROL_BYTES = 256;

/** A parser for the lines of one run. `runId` as in `isRunId`; throws RangeError otherwise. */
export function frameParser(runId: string): FrameParser {
  if (!isRunId(runId)) throw new RangeError('not a run id');
  const prefix = Buffer.from(`${MAGIC} ${runId} `, 'latin1');
  return (line) => {
    if (line.length > MAX_LINE_BYTES || line.length < prefix.length + DOT.length) return undefined;
    if (prefix.compare(line, 0, prefix.length) !== 0) return undefined;
    if (DOT.compare(line, line.length - DOT.length) !== 0) return undefined;
    const end = line.length - DOT.length;
    const head = line.toString('latin1', prefix.length, Math.min(prefix.length + DATA_HEAD_BYTES, end));
    const data = DATA_HEAD.exec(head);
    if (data) {
      const payload = line.subarray(prefix.length + data[0].length, end);
      if (payload.length === 0) return undefined;
      const [, start, index, block, number] = data;
      return {
        type: 'data',
        start: Number(start),
        index: Number(index),
        block: Number(block),
        line: Number(number),
        payload,
      };
    }
    if (end - prefix.length > MAX_CONTROL_BYTES) return undefined;
    const control = CONTROL.exec(line.toString('latin1', prefix.length, end));
    if (!control) return undefined;
    return controlFrame(Number(control[1]), control[2] ?? '', (control[3] ?? '').split(' ').slice(1));
  };
}

function controlFrame(start: number, type: string, fields: readonly string[]): Frame | undefined {
  const [a = '', b = '', c = '', d = '', e = ''] = fields;
  switch (`${type}/${fields.length}`) {
    case 'hello/1':
      return isNumber(a) ? { start, type: 'hello', count: Number(a) } : undefined;
    case 'beat/0':
      return { start, type: 'beat' };
    case 'ended/0':
      return { start, type: 'ended' };
    case 'entry/2':
    case 'entry/3':
    case 'entry/4': {
      const entry = entryOf(fields);
      return entry && { start, type: 'entry', entry };
    }
    case 'manifest/2':
      return isNumber(a) && isDigest(b) ? { start, type: 'manifest', count: Number(a), sha256: b } : undefined;
    case 'block/5': {
      if (![a, b, c, d].every(isNumber) || !isDigest(e)) return undefined;
      const header = { index: Number(a), block: Number(b), bytes: Number(c), lines: Number(d), sha256: e };
      if (header.bytes < 1 || header.bytes > BLOCK_BYTES || header.lines !== linesOf(header.bytes)) return undefined;
      return { start, type: 'block', header };
    }
    case 'changed/1':
      return isNumber(a) ? { start, type: 'changed', index: Number(a) } : undefined;
    case 'end/1':
      return isDigest(a) ? { start, type: 'end', sha256: a } : undefined;
    case 'fault/2': {
      const what = FAULT_KINDS.find((kind) => kind === a);
      return what && /^[0-9a-z]{1,32}$/.test(b) ? { start, type: 'fault', what, detail: b } : undefined;
    }
    default:
      return undefined;
  }
}

function entryOf(fields: readonly string[]): ManifestEntry | undefined {
  const [number = '', kind, a = '', b = ''] = fields;
  if (!isNumber(number)) return undefined;
  const index = Number(number);
  switch (`${kind}/${fields.length}`) {
    case 'file/4':
      return isNumber(a) && isDigest(b) ? { kind: 'file', index, size: Number(a), sha256: b } : undefined;
    case 'sealed/4':
      return isNumber(a) && isDigest(b) ? { kind: 'sealed', index, size: Number(a), seal: b } : undefined;
    case 'missing/2':
      return { kind: 'missing', index };
    case 'unreadable/2':
      return { kind: 'unreadable', index };
    case 'special/3': {
      const what = SPECIAL_KINDS.find((known) => known === a);
      return what && { kind: 'special', index, what };
    }
    case 'large/3':
      return /^[1-9][0-9]{0,18}$/.test(a) ? { kind: 'large', index, size: a } : undefined;
    default:
      return undefined;
  }
}

/** 15 digits stay below 2^53, so a number that was read is the number that was written. */
function isNumber(text: string): boolean {
  return /^(?:0|[1-9][0-9]{0,14})$/.test(text);
}

function isDigest(text: string): boolean {
  return /^[0-9a-f]{64}$/.test(text);
}
