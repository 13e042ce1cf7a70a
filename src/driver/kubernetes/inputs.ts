import type { EnvironmentVariable, InputFile, Operation } from '../driver.js';
import { inputPartName } from '../../frame/sidecar.js';
import { secretName } from './names.js';

/**
 * Where an operation's inputs travel: each piece is one key of one Secret. Keys are generated, because names and paths
 * of a bundle need not be legal keys.
 */
export interface InputPlan {
  readonly environment: readonly PlannedVariable[];
  readonly files: readonly PlannedFile[];
  readonly secrets: readonly PlannedSecret[];
  /** Bytes of all files together: the sidecar copies them into memory. */
  readonly fileBytes: number;
}

export interface PlannedVariable {
  readonly name: string;
  readonly secret: string;
  readonly key: string;
}

export interface PlannedFile {
  readonly file: InputFile;
  readonly index: number;
  /** In order; more than one where the content is larger than a Secret. Never empty: an empty file has one empty part. */
  readonly parts: readonly { readonly secret: string; readonly key: string }[];
}

export interface PlannedSecret {
  readonly name: string;
  readonly entries: ReadonlyMap<string, Uint8Array>;
}

/** A Secret's content may have 1,048,576 bytes (k8s.io/api MaxSecretSize); a little is left for what admission adds. */
export const SECRET_BYTES = 1_000_000;
/** A kubelet keeps Secret volumes in memory and the sidecar copies them there once more. */
export const MAX_FILES_BYTES = 32 * 1024 ** 2;

const RECORD_KEY = /^r\d+\.([1-9]\d{0,3})$/;

/** Key of a part of `Operation.record`, which says how many there are. No volume and no variable names it: the pod never sees it. */
export function recordKey(part: number, parts: number): string {
  return `r${part}.${parts}`;
}

/** How many parts the record has, by any key of it; undefined when there is none among these. */
export function recordParts(keys: Iterable<string>): number | undefined {
  for (const key of keys) {
    const parts = RECORD_KEY.exec(key)?.[1];
    if (parts !== undefined) return Number(parts);
  }
  return undefined;
}

interface Piece {
  readonly key: string;
  readonly bytes: Uint8Array;
}

/** Pure: the same operation gives the same plan. */
export function planInputs(operation: Pick<Operation, 'environment' | 'files' | 'record'>, job: string): InputPlan {
  const packer = new Packer(job);
  // First, so that whoever looks for it finds it in the first Secrets.
  const record = slices(operation.record);
  record.forEach((bytes, part) => packer.add({ key: recordKey(part, record.length), bytes }));
  const environment = operation.environment.map((variable: EnvironmentVariable, index) => {
    const key = `e${index}`;
    return { name: variable.name, key, secret: packer.add({ key, bytes: variable.value }) };
  });
  const files = operation.files.map((file, index) => {
    const parts = pieces(file.content, index).map((piece) => ({ key: piece.key, secret: packer.add(piece) }));
    return { file, index, parts };
  });
  const fileBytes = operation.files.reduce((sum, file) => sum + file.content.byteLength, 0);
  return { environment, files, secrets: packer.secrets(), fileBytes };
}

export function inputSizeProblems(files: readonly InputFile[]): string[] {
  const total = files.reduce((sum, file) => sum + file.content.byteLength, 0);
  if (total <= MAX_FILES_BYTES) return [];
  const [largest] = [...files].sort((a, b) => b.content.byteLength - a.content.byteLength);
  return [
    `the input files have ${total} bytes together, over the limit of ${MAX_FILES_BYTES}; the largest is ${largest?.source ?? ''} with ${largest?.content.byteLength ?? 0} bytes`,
  ];
}

function pieces(content: Uint8Array, index: number): Piece[] {
  return slices(content).map((bytes, part) => ({ key: inputPartName(index, part), bytes }));
}

/** At least one. */
function slices(content: Uint8Array): Uint8Array[] {
  const count = Math.max(1, Math.ceil(content.byteLength / SECRET_BYTES));
  return Array.from({ length: count }, (_, part) => content.subarray(part * SECRET_BYTES, (part + 1) * SECRET_BYTES));
}

/** First fit: few Secrets, and a piece is never split further. */
class Packer {
  readonly #bins: { size: number; readonly entries: Map<string, Uint8Array> }[] = [];

  constructor(private readonly job: string) {}

  add(piece: Piece): string {
    let index = this.#bins.findIndex((bin) => bin.size + piece.bytes.byteLength <= SECRET_BYTES);
    if (index < 0) index = this.#bins.push({ size: 0, entries: new Map() }) - 1;
    const bin = this.#bins[index];
    if (bin !== undefined) {
      bin.size += piece.bytes.byteLength;
      bin.entries.set(piece.key, piece.bytes);
    }
    return secretName(this.job, index);
  }

  secrets(): PlannedSecret[] {
    return this.#bins.map((bin, index) => ({ name: secretName(this.job, index), entries: bin.entries }));
  }
}
