import type { Assembler } from '../../frame/assemble.js';
import { deliveryOf, type Way } from '../../frame/delivery.js';
import type { Clock } from '../clock.js';
import type { FetchOutputs } from './fetch-outputs.js';
import { isAbort } from './kubernetes-error.js';
import type { LogSource } from './log-request.js';
import { OUTPUTS_CONTAINER } from './names.js';
import { isRunning, sidecarStatus } from './pod-status.js';
import type { RunView } from './run-view.js';

export interface TransferOptions {
  readonly clock: Clock;
  readonly view: RunView;
  readonly assembler: Assembler;
  readonly way: Way;
  readonly from: (source: LogSource) => FetchOutputs;
  readonly onProgress: () => void;
  /** Everything is proven and stored, and the sidecar would go on holding it. Once. */
  readonly onComplete: (source: LogSource) => void;
}

/** In a row, and without a block. Each waits a minute for contact by itself, and ends at once where execs begin and bring nothing. */
const MOST_GOES = 4;
/** Doubled each time: half a minute in all, in which a proxy has read its configuration, or a node can fork again. */
const PAUSE_MS = 5000;
/** More than a beat of the sidecar: what of its one pass has not come by then was damaged on the way. */
const QUIET_MS = 20_000;

/**
 * What does not come by the log, fetched by exec beside it from the moment on at which the manifest tells of it. That is
 * before the verdict where the pod is being deleted: its status tells nothing then until the sidecar has ended too. What
 * the log's one pass did not bring whole follows by exec: a sidecar that holds sends it no second time.
 * Never rejects; what a collaborator threw is kept for `failure`.
 */
export class Transfer {
  readonly #options: TransferOptions;
  readonly #stop = new AbortController();
  readonly #forget: () => void;
  #state: 'idle' | 'open' | 'done' | 'given-up' = 'idle';
  #told = false;
  #received = 0;
  #receivedAt = 0;
  #reason: string | undefined;
  #failure: { readonly thrown: unknown } | undefined;
  #running: Promise<void> = Promise.resolve();

  constructor(options: TransferOptions) {
    this.#options = options;
    this.#forget = options.view.onChange(() => this.look());
  }

  get state(): 'idle' | 'open' | 'done' | 'given-up' {
    return this.#state;
  }

  /** Why the last go brought not everything: a clause. */
  get reason(): string | undefined {
    return this.#reason;
  }

  get failure(): { readonly thrown: unknown } | undefined {
    return this.#failure;
  }

  /** Something may have changed that the view does not tell of: more of the log has come. */
  look(): void {
    const { assembler, way, from, onComplete } = this.#options;
    const { manifest } = assembler;
    if (manifest === undefined || way.via === 'log' || this.#stop.signal.aborted) return;
    const { byExec } = deliveryOf(manifest, way);
    const source = byExec.length === 0 ? undefined : this.#sidecar();
    if (source === undefined) return;
    if (assembler.complete) {
      if (!this.#told) onComplete(source);
      this.#told = true;
    } else if (this.#state === 'idle' && assembler.shortage === undefined && !assembler.whole(byExec)) {
      this.#begin(from(source), byExec);
    } else if (this.#state === 'done' && this.#isQuiet()) {
      const rest = new Set(assembler.missing().map(({ index }) => index));
      if (rest.size > 0) this.#begin(from(source), [...rest]);
    }
  }

  #isQuiet(): boolean {
    const { assembler, clock } = this.#options;
    const now = clock.now();
    if (this.#receivedAt === 0 || assembler.receivedBytes !== this.#received) {
      this.#received = assembler.receivedBytes;
      this.#receivedAt = now;
    }
    return now - this.#receivedAt >= QUIET_MS;
  }

  async stop(): Promise<void> {
    this.#forget();
    this.#stop.abort();
    await this.#running;
  }

  /** Undefined while there is none that could answer. */
  #sidecar(): LogSource | undefined {
    const { pod, podGone } = this.#options.view;
    const { namespace, name } = pod?.metadata ?? {};
    if (pod === undefined || podGone || namespace === undefined || name === undefined) return undefined;
    return isRunning(sidecarStatus(pod)) ? { namespace, pod: name, container: OUTPUTS_CONTAINER } : undefined;
  }

  #begin(fetch: FetchOutputs, indices: readonly number[]): void {
    this.#state = 'open';
    this.#running = this.#run(fetch, indices)
      .catch((thrown: unknown) => {
        if (!isAbort(thrown)) this.#failure = { thrown };
        this.#state = 'given-up';
      })
      .then(() => this.#options.view.wake());
  }

  async #run(fetch: FetchOutputs, indices: readonly number[]): Promise<void> {
    const { assembler, clock, onProgress } = this.#options;
    const { signal } = this.#stop;
    for (let goes = 1; ; goes += 1) {
      const end = await fetch(indices, signal, onProgress);
      if (end.kind === 'complete' || assembler.whole(indices)) break;
      this.#reason = end.reason;
      if (end.brought) goes = 1;
      if (!end.mayHeal || goes >= MOST_GOES) {
        this.#state = 'given-up';
        return;
      }
      await clock.sleep(PAUSE_MS * 2 ** (goes - 1), signal);
    }
    this.#reason = undefined;
    this.#state = 'done';
  }
}
