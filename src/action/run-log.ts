import { createHash, type Hash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { LOGS_OUTPUT } from '../claim/claim.js';
import { onDisk, toDiskError } from '../claim/disk-error.js';
import { messageOf } from '../errors.js';
import type { KeptOutput } from './judge.js';
import { SecretMask } from './mask.js';

/** Bytes that a log gives back when it has filled the disk: the run's outputs and its result are to come, and count more. */
const RESERVE = 256 * 1024;

export interface RunLogEnd {
  /** What the file holds: all that was printed, or, where `complete` is false, its beginning. */
  readonly output: KeptOutput;
  readonly complete: boolean;
  readonly warnings: readonly string[];
}

/**
 * The log of one run: masked, then on disk, then shown. On disk first, so that a run whose terminal is gone, or whose
 * process is killed, keeps what it had printed. A disk that refuses ends the record of the log, which then leaves room for
 * the run's other records, and a screen that refuses what is shown of it; neither ends the run.
 */
export class RunLog {
  readonly #file: string;
  readonly #handle: FileHandle;
  readonly #mask: SecretMask;
  readonly #show: (chunk: Uint8Array) => void | Promise<void>;
  #hash: Hash = createHash('sha256');
  #size = 0;
  #diskFailure: string | undefined;
  #showFailure: string | undefined;

  private constructor(
    file: string,
    handle: FileHandle,
    mask: SecretMask,
    show: (chunk: Uint8Array) => void | Promise<void>,
  ) {
    this.#file = file;
    this.#handle = handle;
    this.#mask = mask;
    this.#show = show;
  }

  /** Rejects with CnabError `unavailable` when the file cannot be made. */
  static async create(
    file: string,
    secrets: readonly Buffer[],
    show: (chunk: Uint8Array) => void | Promise<void>,
  ): Promise<RunLog> {
    const handle = await onDisk('write', file, () => open(file, 'w', 0o600));
    return new RunLog(file, handle, new SecretMask(secrets), show);
  }

  readonly write = async (chunk: Uint8Array): Promise<void> => this.#put(this.#mask.write(chunk));

  /** Completes the file; it is durable when this resolves. */
  async end(): Promise<RunLogEnd> {
    await this.#put(this.#mask.end());
    await this.#record(() => this.#handle.sync());
    await this.#handle.close().catch(() => undefined);
    const sha256 = this.#hash.digest('hex');
    const [disk, screen] = [this.#diskFailure, this.#showFailure];
    return {
      output: { name: LOGS_OUTPUT, file: this.#file, size: this.#size, sha256, byBundle: false },
      complete: disk === undefined,
      warnings: [
        ...(disk === undefined ? [] : [`only the first ${this.#size} bytes of the log are recorded: ${disk}.`]),
        ...(screen === undefined ? [] : [`a part of the log was not shown: ${screen}.`]),
      ],
    };
  }

  async #put(bytes: Buffer): Promise<void> {
    if (bytes.length === 0) return;
    if (await this.#record(() => this.#handle.appendFile(bytes))) {
      this.#hash.update(bytes);
      this.#size += bytes.length;
    }
    if (this.#showFailure !== undefined) return;
    try {
      await this.#show(bytes);
    } catch (error) {
      this.#showFailure = messageOf(error);
    }
  }

  /** False once the disk has refused. */
  async #record(write: () => Promise<unknown>): Promise<boolean> {
    if (this.#diskFailure !== undefined) return false;
    try {
      await write();
      return true;
    } catch (error) {
      this.#diskFailure = messageOf(toDiskError(error, 'write', this.#file));
      await this.#makeRoom().catch(() => undefined);
      return false;
    }
  }

  /** Cuts off what the write that failed has left of itself, and some more. */
  async #makeRoom(): Promise<void> {
    const kept = Math.max(0, this.#size - RESERVE);
    await this.#handle.truncate(kept);
    const hash = createHash('sha256');
    if (kept > 0) await pipeline(createReadStream(this.#file, { end: kept - 1 }), hash);
    this.#hash = hash;
    this.#size = kept;
  }
}
