import { createHash, type Hash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { copyFile, open, rename, stat, type FileHandle } from 'node:fs/promises';
import { LOGS_OUTPUT } from '../claim/claim.js';
import { onDisk, toDiskError } from '../claim/disk-error.js';
import { messageOf } from '../errors.js';
import type { KeptOutput } from './judge.js';
import { LogSplice, type Fresh } from './log-splice.js';
import { SecretMask } from './mask.js';
import { ShownLog, type Show } from './shown-log.js';

/** Bytes that a log gives back when it has filled the disk: the run's outputs and its result are to come, and count more. */
const RESERVE = 256 * 1024;
const GAP = '[cnab: a part of the log may be missing here: the cluster has it no more]\n';
/** How every mark begins, a driver's too. */
const MARK = Buffer.from('[cnab: a part of the log may be missing here: ');

const NEWLINE = 10;

export interface RunLogEnd {
  /** What the file holds: all that was printed, or, where `complete` is false, its beginning. */
  readonly output: KeptOutput;
  readonly complete: boolean;
  readonly warnings: readonly string[];
}

/**
 * The log of one run: masked, then on disk, then shown. On disk first, so that a run whose terminal is gone, or whose
 * process is killed, keeps what it had printed. A disk that refuses ends the record of the log, which then leaves room for
 * the run's other records, and a screen that refuses what is shown of it; neither ends the run. One call at a time is at work:
 * whoever brings the log may have left it in the middle, on a screen that takes nothing, when its end is asked for.
 */
export class RunLog {
  readonly #file: string;
  readonly #handle: FileHandle;
  readonly #mask: SecretMask;
  readonly #shown: ShownLog;
  readonly #splice: LogSplice;
  #hash: Hash = createHash('sha256');
  #size = 0;
  #hasMark = false;
  #midLine = false;
  #gap = false;
  #diskFailure: string | undefined;
  #isOver = false;
  #turn: Promise<unknown> = Promise.resolve();

  private constructor(file: string, handle: FileHandle, secrets: readonly Buffer[], shown: ShownLog, size: number) {
    this.#file = file;
    this.#handle = handle;
    this.#mask = new SecretMask(secrets);
    this.#shown = shown;
    this.#splice = new LogSplice(async (position, length) => {
      const bytes = Buffer.alloc(length);
      return bytes.subarray(0, (await handle.read(bytes, 0, length, position)).bytesRead);
    }, size);
  }

  /** `signal`: aborted when somebody wants an end. Rejects with CnabError `unavailable` when the file cannot be made. */
  static async create(file: string, secrets: readonly Buffer[], show: Show, signal: AbortSignal): Promise<RunLog> {
    const handle = await onDisk('write', file, () => open(file, 'w', 0o600));
    return new RunLog(file, handle, secrets, new ShownLog(show, signal), 0);
  }

  /**
   * Goes on with a log that another process began. What is written begins at the log's beginning once more, or as far back
   * as the cluster has it; only what is new to the file is recorded and shown. Rejects like `create`.
   */
  static async resume(file: string, secrets: readonly Buffer[], show: Show, signal: AbortSignal): Promise<RunLog> {
    await onDisk('write', file, () => makeOwn(file));
    const handle = await onDisk('write', file, () => open(file, 'r+', 0o600));
    const { size } = await onDisk('read', file, () => handle.stat());
    const log = new RunLog(file, handle, secrets, new ShownLog(show, signal), size);
    await onDisk('read', file, () => log.#takeStock(size));
    return log;
  }

  /** Resolves when it is on disk and shown; after the end it does nothing. */
  readonly write = async (chunk: Uint8Array): Promise<void> => {
    await this.#inTurn(async () => {
      if (!this.#isOver) await this.#put(await this.#fresh(this.#mask.write(chunk)));
    });
    await this.#shown.taken();
  };

  /**
   * Completes the file; it is durable when this resolves. With `more` the log may be gone on with later: what may be the
   * beginning of a secret is then not written.
   */
  async end(more = false): Promise<RunLogEnd> {
    await this.#inTurn(async () => {
      if (!more) {
        await this.#put(await this.#fresh(this.#mask.end()));
        await this.#put(this.#splice.end());
      }
      this.#isOver = true;
      await this.#record(() => this.#handle.sync());
      await this.#handle.close().catch(() => undefined);
    });
    await this.#shown.taken();
    const sha256 = this.#hash.digest('hex');
    const [disk, screen] = [this.#diskFailure, this.#shown.failure];
    return {
      output: { name: LOGS_OUTPUT, file: this.#file, size: this.#size, sha256, byBundle: false },
      complete: disk === undefined && !this.#gap && !(this.#splice.beganLater && this.#hasMark),
      warnings: [
        ...(disk === undefined ? [] : [`only the first ${this.#size} bytes of the log are recorded: ${disk}.`]),
        ...(screen === undefined ? [] : [`a part of the log was not shown: ${screen}.`]),
      ],
    };
  }

  #inTurn<T>(step: () => Promise<T>): Promise<T> {
    const done = this.#turn.then(step);
    this.#turn = done.catch(() => undefined);
    return done;
  }

  async #fresh(bytes: Buffer): Promise<Fresh> {
    if (bytes.length === 0 || this.#splice.done) return { bytes };
    try {
      return await this.#splice.push(bytes);
    } catch (error) {
      this.#refused(error);
      return { bytes };
    }
  }

  async #put({ bytes, cutTo, gap }: Fresh): Promise<void> {
    if (cutTo !== undefined) await this.#record(() => this.#cut(cutTo));
    if (gap) {
      this.#gap = true;
      await this.#append(Buffer.from(this.#midLine ? `\n${GAP}` : GAP));
    }
    await this.#append(bytes);
  }

  async #append(bytes: Buffer): Promise<void> {
    if (bytes.length === 0) return;
    if (await this.#record(() => this.#write(bytes))) {
      this.#hash.update(bytes);
      this.#midLine = bytes.at(-1) !== NEWLINE;
      this.#size += bytes.length;
    }
    this.#shown.offer(bytes);
  }

  async #write(bytes: Buffer): Promise<void> {
    for (let at = 0; at < bytes.length;) {
      at += (await this.#handle.write(bytes, at, bytes.length - at, this.#size + at)).bytesWritten;
    }
  }

  /** False once the disk has refused. */
  async #record(write: () => Promise<unknown>): Promise<boolean> {
    if (this.#diskFailure !== undefined) return false;
    try {
      await write();
      return true;
    } catch (error) {
      this.#refused(error);
      await this.#cut(Math.max(0, this.#size - RESERVE)).catch(() => undefined);
      return false;
    }
  }

  #refused(error: unknown): void {
    this.#diskFailure ??= messageOf(toDiskError(error, 'write', this.#file));
  }

  async #cut(size: number): Promise<void> {
    await this.#handle.truncate(size);
    await this.#takeStock(size);
  }

  /** Reads the first `size` bytes: their digest, and whether one of the marks that tell of a gap is among them. */
  async #takeStock(size: number): Promise<void> {
    const hash = createHash('sha256');
    let tail = Buffer.alloc(0);
    this.#hasMark = false;
    if (size > 0) {
      for await (const chunk of createReadStream(this.#file, { end: size - 1 }) as AsyncIterable<Buffer>) {
        hash.update(chunk);
        const joined = Buffer.concat([tail, chunk]);
        this.#hasMark ||= joined.includes(MARK);
        tail = Buffer.from(joined.subarray(-MARK.length));
      }
    }
    this.#hash = hash;
    this.#size = size;
    this.#midLine = tail.length > 0 && tail.at(-1) !== NEWLINE;
  }
}

/** A result may have the file by a hard link, and what is recorded never changes: the log goes on in a copy. */
async function makeOwn(file: string): Promise<void> {
  if ((await stat(file)).nlink === 1) return;
  const copy = `${file}.copy`;
  await copyFile(file, copy);
  await rename(copy, file);
}
