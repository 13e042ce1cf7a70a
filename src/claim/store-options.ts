import type { ProcessProbe } from './owner.js';

/** Time as the store needs it; `driver/clock.ts` has one. */
export interface StoreClock {
  /** Milliseconds since the epoch. */
  now(): number;
  sleep(ms: number): Promise<void>;
}

/** What a file store is made of; the process facts go into its locks. */
export interface StoreOptions extends ProcessProbe {
  /** Absolute path of the folder that holds everything; made on the first write. */
  readonly home: string;
  readonly clock: StoreClock;
  /** `size` random bytes, for ids; the system's when absent. */
  readonly random?: (size: number) => Uint8Array;
}
