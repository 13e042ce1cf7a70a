import type { Assembler } from '../../frame/assemble.js';
import type { Clock } from '../clock.js';
import { isAbort } from './kubernetes-error.js';
import type { SidecarAccess } from './sidecar-access.js';

export interface TransferOptions {
  readonly clock: Clock;
  readonly access: SidecarAccess;
  readonly assembler: Assembler;
  readonly onProgress: () => void;
  readonly onChange: () => void;
}

/** Each waits a minute for contact by itself. */
const MOST_GOES = 5;
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

  /** Why the last go brought not everything: a clause. */
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
    for (let goes = 1; ; goes += 1) {
      const end = await access.fetch(indices, signal, onProgress);
      if (end.kind === 'complete' || assembler.whole(indices)) break;
      this.#reason = end.reason;
      if (!end.mayHeal || goes >= MOST_GOES) {
        this.#state = 'given-up';
        return;
      }
      await clock.sleep(PAUSE_MS, signal);
    }
    this.#reason = undefined;
    this.#state = 'done';
  }
}
