import { createHash, type Hash } from 'node:crypto';
import { open, type FileHandle } from 'node:fs/promises';
import { LOGS_OUTPUT } from '../claim/claim.js';
import { messageOf } from '../errors.js';
import type { KeptOutput } from './judge.js';
import { SecretMask } from './mask.js';

export interface RunLogEnd {
  /** Absent when the file could not be completed. */
  readonly output?: KeptOutput;
  readonly warnings: readonly string[];
}

/**
 * The log of one run: masked, then on disk, then shown. On disk first, so that a run whose terminal is gone, or whose
 * process is killed, keeps what it had printed. A disk that refuses ends the record of the log, never the run.
 */
export class RunLog {
  readonly #file: string;
  readonly #handle: FileHandle;
  readonly #mask: SecretMask;
  readonly #show: (chunk: Uint8Array) => void | Promise<void>;
  readonly #hash: Hash = createHash('sha256');
  #size = 0;
  #failure: string | undefined;

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

  /** Rejects with the file system's error when the file cannot be made. */
  static async create(
    file: string,
    secrets: readonly Buffer[],
    show: (chunk: Uint8Array) => void | Promise<void>,
  ): Promise<RunLog> {
    return new RunLog(file, await open(file, 'w', 0o600), new SecretMask(secrets), show);
  }

  readonly write = async (chunk: Uint8Array): Promise<void> => this.#put(this.#mask.write(chunk));

  /** Completes the file; it is durable when this resolves. */
  async end(): Promise<RunLogEnd> {
    await this.#put(this.#mask.end());
    await this.#record(() => this.#handle.sync());
    await this.#handle.close().catch(() => undefined);
    if (this.#failure !== undefined) {
      return { warnings: [`the log of the run could not be recorded: ${this.#failure}`] };
    }
    const sha256 = this.#hash.digest('hex');
    return { output: { name: LOGS_OUTPUT, file: this.#file, size: this.#size, sha256, byBundle: false }, warnings: [] };
  }

  async #put(bytes: Buffer): Promise<void> {
    if (bytes.length === 0) return;
    await this.#record(() => this.#handle.appendFile(bytes));
    this.#hash.update(bytes);
    this.#size += bytes.length;
    await this.#show(bytes);
  }

  async #record(write: () => Promise<unknown>): Promise<void> {
    if (this.#failure !== undefined) return;
    await write().catch((error: unknown) => {
      this.#failure = messageOf(error);
    });
  }
}
