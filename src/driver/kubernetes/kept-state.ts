import type { RunState } from '../driver.js';
import type { DriverSettings } from '../settings.js';

/** What is to be known of a run for as long as there is one. */
export function keeping({ keepJob }: Pick<DriverSettings, 'keepJob'>): Pick<RunState, 'keepJob'> {
  return keepJob ? { keepJob } : {};
}

/** The state of one run as it is saved: it grows, and keeps what an earlier process knew. */
export class KeptState {
  #now: RunState;
  readonly #save: (state: RunState) => Promise<void>;

  constructor(known: RunState, save: (state: RunState) => Promise<void>) {
    this.#now = known;
    this.#save = save;
  }

  get now(): RunState {
    return this.#now;
  }

  /** Rejects with what `save` rejects with; what was added is known all the same, and is saved with the next. */
  async add(more: RunState): Promise<void> {
    this.#now = { ...this.#now, ...more };
    await this.#save(this.#now);
  }

  /** The run is made anew under another name: what is known of the Job before it no longer holds. */
  async renew(namespace: string, job: string): Promise<void> {
    const { stop, holder, keepJob = false } = this.#now;
    this.#now = {
      ...{ namespace, job },
      ...keeping({ keepJob }),
      ...(holder === undefined ? {} : { holder }),
      ...(stop === undefined ? {} : { stop }),
    };
    await this.#save(this.#now);
  }
}
