import type { Assembler } from '../../frame/assemble.js';
import type { Clock } from '../clock.js';
import { isAbort } from './kubernetes-error.js';

/** How one go at fetching ended. */
export type Fetched = { readonly kind: 'complete' } | { readonly kind: 'failed'; readonly reason: string };

/** What can be asked of the sidecar by exec. */
export interface SidecarAccess {
  /** Brings files of the manifest into the assembler; rejects with what the assembler threw. */
  readonly fetch: (indices: readonly number[], signal: AbortSignal, onProgress: () => void) => Promise<Fetched>;
  /** Sends the sidecar the SIGTERM that the kubelet should have sent. */
  readonly terminate: (signal: AbortSignal) => Promise<void>;
}

export interface TransferOptions {
  readonly clock: Clock;
  readonly access: SidecarAccess;
  readonly assembler: Assembler;
  readonly onProgress: () => void;
  readonly onChange: () => void;
}

/** Goes that brought nothing, after which the way counts as closed; each has tried every range several times. */
const MOST_FRUITLESS = 2;
/** A file that changes while it is read brings bytes for ever. */
const MOST_GOES = 20;
const PAUSE_MS = 5000;

/** What does not come by the log, fetched by exec beside it. Never rejects; what a collaborator threw is kept for `failure`. */
export class Transfer {
  readonly #options: TransferOptions;
  readonly #stop = new AbortController();
  #state: 'idle' | 'open' | 'done' | 'given-up' = 'idle';
  #reason: string | undefined;
  #failure: { readonly thrown: unknown } | undefined;
  #running: Promise<void> = Promise.resolve();

  constructor(options: TransferOptions) {
    this.#options = options;
  }

  get state(): 'idle' | 'open' | 'done' | 'given-up' {
    return this.#state;
  }

  /** Why the last go brought not everything. */
  get reason(): string | undefined {
    return this.#reason;
  }

  get failure(): { readonly thrown: unknown } | undefined {
    return this.#failure;
  }

  begin(indices: readonly number[]): void {
    this.#state = 'open';
    this.#running = this.#run(indices)
      .catch((thrown: unknown) => {
        if (!isAbort(thrown)) this.#failure = { thrown };
        this.#state = 'given-up';
      })
      .then(() => this.#options.onChange());
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  async #run(indices: readonly number[]): Promise<void> {
    const { access, assembler, clock, onProgress } = this.#options;
    const { signal } = this.#stop;
    for (let goes = 1, fruitless = 0; ; goes += 1) {
      const before = assembler.receivedBytes;
      const end = await access.fetch(indices, signal, onProgress);
      if (end.kind === 'complete' || assembler.whole(indices)) {
        this.#state = 'done';
        return;
      }
      this.#reason = end.reason;
      fruitless = assembler.receivedBytes > before ? 0 : fruitless + 1;
      if (signal.aborted || fruitless >= MOST_FRUITLESS || goes >= MOST_GOES) break;
      await clock.sleep(PAUSE_MS, signal);
    }
    this.#state = 'given-up';
  }
}
