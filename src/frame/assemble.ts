import { Arrivals } from './arrivals.js';
import type { FaultKind } from './grammar.js';
import type { FileRange } from './incoming-file.js';
import { Intake } from './intake.js';
import { LogIntake } from './log-intake.js';
import type { Manifest } from './manifest.js';
import { changed, formatBytes, lost, type OutputLimits, type Problem } from './problem.js';

export interface AssemblerOptions {
  /** As in the lines (`isRunId`); frames of any other run are noise. */
  readonly runId: string;
  /** Number of wanted paths; index i of every frame, output and problem is the i-th of them. */
  readonly wanted: number;
  /** An existing folder that belongs to this run alone. Files are made in it with O_EXCL and mode 0600. */
  readonly staging: string;
  /** Those that the sidecar applies (`limitsOf`). */
  readonly limits: OutputLimits;
  /** Bytes that the file system of `staging` can take; asked once the manifest tells what is to come. */
  readonly freeBytes?: () => Promise<number>;
}

/** A file that has arrived whole: its sha256 is the manifest's. */
export interface AssembledOutput {
  readonly index: number;
  /** Path in `staging`. */
  readonly file: string;
  /** Bytes. */
  readonly size: number;
  /** 64 hex digits. */
  readonly sha256: string;
}

export interface Assembly {
  /** In order of their index; together with `problems` every index once. */
  readonly outputs: readonly AssembledOutput[];
  readonly problems: readonly Problem[];
  /** Lines that were no frame of this run, or one that could not be used. */
  readonly noise: number;
}

const SALT = /^[0-9a-f]{64}$/;

/**
 * The log of an `outputs` sidecar in, and what comes by exec; proven files out: nothing counts but what the manifest
 * announced and what its sha256 proves. Takes any bytes of the log, any number of times, from any number of connections one
 * after the other; what is damaged is dropped and may come again. Holds one block (1 MiB) and one line in memory.
 *
 * All that has arrived is in `staging` at any moment: a later process that opens the same folder goes on from there.
 */
export class Assembler {
  readonly #options: AssemblerOptions;
  readonly #arrivals: Arrivals;
  readonly #log: LogIntake;

  /** For a folder that nobody has used: `open` takes up what is there. Throws RangeError for a run id that cannot stand in a line. */
  constructor(options: AssemblerOptions) {
    this.#options = options;
    this.#arrivals = new Arrivals(options);
    this.#log = new LogIntake(options.runId, options.wanted, this.#arrivals);
  }

  /**
   * Goes on from what is in the staging folder of the same run; files that are there are read once, to prove them.
   * Rejects with CnabError `unavailable` when the disk fails.
   */
  static async open(options: AssemblerOptions): Promise<Assembler> {
    const assembler = new Assembler(options);
    await assembler.#arrivals.load();
    return assembler;
  }

  /** The sidecar knows that the invocation has ended. */
  get mainEnded(): boolean {
    return this.#log.mainEnded || this.manifest !== undefined;
  }

  /** What was announced, once it is proven. */
  get manifest(): Manifest | undefined {
    return this.#arrivals.announced?.manifest;
  }

  /** The manifest is proven and so is every file that it announces within the limits: nothing more is to come. */
  get complete(): boolean {
    return !this.#arrivals.contradiction && this.#arrivals.announced?.complete === true;
  }

  /** The disk cannot take what is to come, so nothing of it is stored. Both in bytes. */
  get shortage(): { readonly needed: number; readonly free: number } | undefined {
    return this.#arrivals.shortage;
  }

  /** Why the sidecar gave up before the invocation started. `tool`: the shell image lacks the tool `detail`. */
  get fault(): { readonly what: FaultKind; readonly detail: string } | undefined {
    return this.#log.fault;
  }

  /** Bytes of files on disk. */
  get receivedBytes(): number {
    return this.#arrivals.announced?.receivedBytes ?? 0;
  }

  /** Bytes that will be on disk when it is complete; undefined before the manifest. */
  get totalBytes(): number | undefined {
    return this.#arrivals.announced?.totalBytes;
  }

  /** Index of the file that was written to last. */
  get arriving(): number | undefined {
    return this.#arrivals.arriving;
  }

  /** True when nothing is outstanding for any of these: each is proven, or the manifest says that there is no file to come. */
  whole(indices: readonly number[]): boolean {
    const { announced } = this.#arrivals;
    if (!announced || this.#arrivals.contradiction) return false;
    return indices.every((index) => announced.file(index)?.isWhole ?? true);
  }

  /** What is to be had and not on disk, in blocks, in order of the manifest. Nothing where nothing may be stored. */
  missing(): readonly FileRange[] {
    return this.#arrivals.isOpen ? (this.#arrivals.announced?.missing() ?? []) : [];
  }

  /**
   * Ranges of files that are there, came by exec, and are not what the manifest says: compare `digestOf` with the pod's
   * `digest`, and `drop` what differs. Where nothing differs the file has changed: `sayChanged`.
   */
  doubtful(): readonly FileRange[] {
    return this.#arrivals.isOpen ? (this.#arrivals.announced?.doubtful() ?? []) : [];
  }

  /** sha256 of a range on disk, in hex; undefined for a file that is whole or was not announced. */
  digestOf(range: FileRange): Promise<string | undefined> {
    return this.#arrivals.digest(range);
  }

  /** Lets a range, which begins at a block, come again: it is `missing` from now on. */
  drop(range: FileRange): Promise<void> {
    return this.#arrivals.drop(range);
  }

  /** Something is not whole, and nothing that is still to be had makes it so. */
  get isSpent(): boolean {
    if (this.manifest === undefined || this.complete || this.shortage !== undefined) return false;
    if (this.#arrivals.contradiction) return true;
    return this.missing().length === 0 && this.doubtful().length === 0 && !this.needsSalt;
  }

  /** In the pod this file is not what the manifest says: it is in doubt no more. */
  sayChanged(index: number): void {
    this.#arrivals.announced?.file(index)?.giveUp();
  }

  /** A file with a seal is there or announced, and the salt is needed to prove it: ask by exec, and tell `unseal`. */
  get needsSalt(): boolean {
    const { announced, salt } = this.#arrivals;
    return (
      salt === undefined &&
      [...(announced?.files ?? [])].some(({ entry, isWhole }) => entry.kind === 'sealed' && !isWhole)
    );
  }

  /** `text`: the pod's answer to `salt`. False: it is none. Rejects as `accept` does. */
  async unseal(text: string): Promise<boolean> {
    const salt = text.trimEnd();
    if (!SALT.test(salt)) return false;
    await this.#arrivals.unseal(salt);
    return true;
  }

  /**
   * For raw bytes of ranges that come one after the other by exec; log frames may arrive at the same time. Each range begins
   * at a block and ends at one or at the file's end. Throws RangeError otherwise.
   */
  intake(...ranges: readonly FileRange[]): Intake {
    return new Intake(ranges, (index, block, bytes) => this.#arrivals.store(index, block, bytes, false));
  }

  /** The same for bytes that are at hand. */
  async receive(index: number, offset: number, bytes: Uint8Array): Promise<void> {
    await this.intake({ index, offset, length: bytes.length }).write(bytes);
  }

  /**
   * Takes any part of the log; resolves when what it completes is on disk. One call at a time.
   * Rejects with CnabError `unavailable` when a file cannot be written.
   */
  async accept(chunk: Uint8Array): Promise<void> {
    await this.#log.push(chunk);
  }

  /**
   * The same; undefined where the chunk changed nothing that is told here, as in the middle of a block. Where it gives a promise,
   * nothing that began before the chunk is needed again.
   */
  push(chunk: Uint8Array): Promise<void> | undefined {
    return this.#log.push(chunk);
  }

  /** A new connection begins; it may repeat anything. Not while `accept` is under way. */
  restart(): void {
    this.#log.restart();
  }

  /**
   * Resolves when every file that is whole outlives a power failure: before the pod is told that it may forget them. Rejects as
   * `accept` does.
   */
  sync(): Promise<void> {
    return this.#arrivals.sync();
  }

  /** Stores nothing any more, and says what became of every wanted path. What is not whole stays for a later process. */
  async finish(): Promise<Assembly> {
    await this.#arrivals.close();
    const outputs: AssembledOutput[] = [];
    const problems: Problem[] = [];
    for (let index = 0; index < this.#options.wanted; index += 1) {
      const file = this.#arrivals.contradiction ? undefined : this.#arrivals.announced?.file(index);
      if (file?.sha256 === undefined) problems.push(this.#problem(index));
      else outputs.push({ index, file: this.#arrivals.path(index), size: file.entry.size, sha256: file.sha256 });
    }
    return { outputs, problems, noise: this.#log.noise };
  }

  #problem(index: number): Problem {
    const { announced, contradiction, shortage } = this.#arrivals;
    if (contradiction) return lost(index, 'is lost: the sidecar sent two manifests that contradict each other');
    if (!announced) return lost(index, 'is lost: the sidecar sent no list of outputs, or it did not arrive whole');
    const file = announced.file(index);
    if (!file) return announced.problem(index) ?? lost(index, 'is lost');
    if (file.changed) return changed(index);
    if (file.isDoubted) return lost(index, 'is lost: what arrived of it is not what the pod announced');
    const room = `is lost: there is no room for its ${formatBytes(file.entry.size)}`;
    return lost(index, shortage ? room : `is lost: ${file.extent} arrived`);
  }
}
