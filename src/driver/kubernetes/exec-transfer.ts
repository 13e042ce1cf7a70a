import type { Assembler } from '../../frame/assemble.js';
import { BLOCK_BYTES } from '../../frame/grammar.js';
import type { FileRange } from '../../frame/incoming-file.js';
import type { Manifest } from '../../frame/manifest.js';
import { sendCommand } from '../../frame/sidecar.js';
import type { KubernetesApi } from './api.js';
import { abortErrorOf } from './deadline.js';
import { dropDifference } from './exec-doubts.js';
import { FIRST_BYTES, LEAST_BYTES, nextSend, nextSize, type SendPlan } from './exec-plan.js';
import { runExec, type ExecEnd } from './exec-stream.js';
import { askForDigest, CHANGED, reasonOf } from './exec-verbs.js';
import { KubernetesError } from './kubernetes-error.js';
import type { LogSource } from './log-request.js';
import { pauseMs } from './retry.js';
import { wakeableSleep } from './wait.js';

export interface TransferOptions {
  readonly api: KubernetesApi;
  /** The sidecar. */
  readonly source: LogSource;
  /** Has a manifest. */
  readonly assembler: Assembler;
  /** The outputs that come by exec. */
  readonly indices: readonly number[];
  readonly signal: AbortSignal;
  /** Another MiB is on disk, or the last of an exec. */
  readonly onProgress: () => void;
}

/**
 * `failed`: the exec brings no more, for `reason` (a sentence); what came is kept by the assembler. `mayHeal`: there was no way
 * through any more, and nobody said that there is none. `brought`: an exec before brought a block.
 */
export type TransferEnd =
  | { readonly kind: 'complete' }
  | { readonly kind: 'failed'; readonly reason: string; readonly mayHeal: boolean; readonly brought: boolean };

/** In a row, and without a block that was not there before. */
const MOST_FAILURES = 3;
/** Without an exec that could be begun: an API server that is replaced takes so long. */
const PATIENCE_MS = 60_000;

/**
 * Fetches what is missing of these outputs by exec, until the assembler has proven them. Resolves `failed` at once where an
 * exec is refused, and after three that brought nothing. Rejects with AbortError, or as the assembler does when the disk fails.
 */
export function fetchByExec(options: TransferOptions): Promise<TransferEnd> {
  return new Transfer(options).run();
}

class Transfer {
  readonly #options: TransferOptions;
  readonly #wanted: ReadonlySet<number>;
  /** How often the whole of a file was wrong; those that are given up on. */
  readonly #wrong = new Map<number, number>();
  readonly #givenUp = new Set<number>();
  #hasChanged = false;
  /** So many requests are for one file each. */
  #alone = 0;
  /** The manifest whose seals are told. */
  #unsealed: Manifest | undefined;
  #most = FIRST_BYTES;
  #failures = 0;
  #brought = false;
  #contact: number;
  #error: KubernetesError | undefined;

  constructor(options: TransferOptions) {
    this.#options = options;
    this.#wanted = new Set(options.indices);
    this.#contact = options.api.clock.now();
  }

  async run(): Promise<TransferEnd> {
    const { signal } = this.#options;
    for (;;) {
      if (signal.aborted) throw abortErrorOf(signal);
      let failure: string | undefined;
      try {
        const end = await this.#step();
        if (typeof end === 'object') return end;
        failure = end;
        this.#contact = this.#now();
        this.#error = undefined;
      } catch (error) {
        if (!(error instanceof KubernetesError)) throw error;
        if (!error.transient) return this.#failed(error.message);
        failure = error.message;
        this.#error = error;
      }
      if (failure === undefined) this.#failures = 0;
      else if (this.#isOver()) return this.#failed(failure, true);
      else await this.#pause();
    }
  }

  /** One exec, or several short ones. Gives why it brought nothing; undefined: it did. */
  async #step(): Promise<TransferEnd | string | undefined> {
    const { assembler, indices } = this.#options;
    const { manifest } = assembler;
    const missing = this.#ours(assembler.missing());
    if (manifest !== undefined && missing.length > 0) {
      const asked = this.#alone > 0 ? missing.slice(0, 1) : missing;
      return this.#fetch(nextSend(manifest, asked, this.#most));
    }
    if (assembler.whole(indices)) return { kind: 'complete' };
    if (assembler.needsSalt && this.#unsealed !== manifest) return this.#unseal();
    const doubtful = this.#ours(assembler.doubtful());
    if (doubtful.length > 0) return this.#doubt(doubtful);
    if (assembler.shortage !== undefined) return this.#failed('there is no room for the outputs');
    return this.#failed(
      this.#hasChanged
        ? 'an output changed after the bundle had ended'
        : this.#givenUp.size > 0
          ? 'an output came damaged again and again'
          : 'nothing can be stored',
    );
  }

  #ours(ranges: readonly FileRange[]): readonly FileRange[] {
    return ranges.filter(({ index }) => this.#wanted.has(index) && !this.#givenUp.has(index));
  }

  async #fetch(plan: SendPlan): Promise<string | undefined> {
    const { api, source, assembler, signal, onProgress } = this.#options;
    const intake = assembler.intake(...plan.ranges);
    const began = this.#now();
    let told = assembler.receivedBytes;
    const tell = (least: number): void => {
      if (assembler.receivedBytes - told < least) return;
      told = assembler.receivedBytes;
      onProgress();
    };
    // The log may bring blocks at the same time: only those of this exec tell that there is a way through.
    let brings = false;
    const onData = (chunk: Buffer): Promise<void> | undefined => {
      const stored = intake.write(chunk);
      brings ||= stored !== undefined;
      return stored?.then(() => tell(BLOCK_BYTES));
    };
    const doing = `fetch outputs from pod ${source.pod}`;
    const command = sendCommand(plan.request);
    const end = await runExec(api, { source, command, doing, signal, bytes: plan.bytes, onData });
    tell(1);
    const isWhole = end.received === plan.bytes;
    this.#brought ||= brings || isWhole;
    this.#alone = Math.max(0, this.#alone - 1);
    if (end.status?.kind === 'exit' && end.status.code === CHANGED) return this.#isolate(plan);
    this.#most = isWhole ? nextSize(this.#most, end.received, this.#now() - began) : this.#smaller();
    return isWhole || brings ? undefined : this.#reason(end);
  }

  /** One file that is not what the manifest says does not keep the others from coming. */
  #isolate({ ranges }: SendPlan): undefined {
    const [only] = ranges;
    if (ranges.length === 1 && only !== undefined) this.#sayChanged(only.index);
    else this.#alone = ranges.length;
  }

  #reason(end: ExecEnd): string {
    return `cannot fetch outputs from pod ${this.#options.source.pod}: ${reasonOf(end)}`;
  }

  async #unseal(): Promise<string | undefined> {
    const { api, source, assembler, signal } = this.#options;
    const { manifest } = assembler;
    const salt = await askForDigest(api, source, { verb: 'salt' }, signal);
    if (!(await assembler.unseal(salt))) return 'the pod does not tell what its list of outputs is sealed with';
    this.#unsealed = manifest;
    return undefined;
  }

  async #doubt(ranges: readonly FileRange[]): Promise<undefined> {
    const [{ index } = { index: -1 }] = ranges;
    const times = (this.#wrong.get(index) ?? 0) + 1;
    this.#wrong.set(index, times);
    if (times > MOST_FAILURES) {
      this.#givenUp.add(index);
      return undefined;
    }
    let differs = false;
    for (const range of ranges) {
      if (range.index === index && (await this.#drops(range))) differs = true;
    }
    if (!differs) this.#sayChanged(index);
    return undefined;
  }

  #sayChanged(index: number): void {
    this.#hasChanged = true;
    this.#givenUp.add(index);
    this.#options.assembler.sayChanged(index);
  }

  async #drops(range: FileRange): Promise<boolean> {
    const { api, source, assembler, signal } = this.#options;
    try {
      return await dropDifference(api, source, assembler, range, signal);
    } catch (error) {
      // The pod has an answer, and it is that the file is another one.
      if (error instanceof KubernetesError && !error.transient && error.statusCode === undefined) return false;
      throw error;
    }
  }

  #smaller(): number {
    return Math.max(LEAST_BYTES, Math.floor(this.#most / 2 / BLOCK_BYTES) * BLOCK_BYTES);
  }

  #isOver(): boolean {
    this.#failures += 1;
    if (this.#failures < MOST_FAILURES) return false;
    return this.#error === undefined || this.#now() - this.#contact >= PATIENCE_MS;
  }

  async #pause(): Promise<void> {
    const { api, signal } = this.#options;
    const ms = pauseMs(this.#failures, api.random, this.#error?.retryAfterMs);
    await wakeableSleep(api.clock, ms, signal);
  }

  /** `mayHeal` false: no further exec changes it. */
  #failed(reason: string, mayHeal = false): TransferEnd {
    return { kind: 'failed', reason, mayHeal, brought: this.#brought };
  }

  #now(): number {
    return this.#options.api.clock.now();
  }
}
