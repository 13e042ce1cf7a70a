import { messageOf } from '../errors.js';

/** What a screen may be behind once it is not waited for; it is kept in memory. */
const MOST_BEHIND = 1024 * 1024;

export type Show = (chunk: Uint8Array) => void | Promise<void>;

/**
 * Hands a log to the screen, one piece after the other. Whoever brings the log waits until the screen has taken it, so that a slow
 * one slows the stream; but not once somebody wants an end: a screen that is paused keeps no run from being stopped and recorded.
 */
export class ShownLog {
  readonly #show: Show;
  readonly #signal: AbortSignal;
  #taken: Promise<void> = Promise.resolve();
  #behind = 0;
  #failure: string | undefined;

  /** `signal`: aborted when somebody wants an end. */
  constructor(show: Show, signal: AbortSignal) {
    this.#show = show;
    this.#signal = signal;
  }

  /** Why a part was not shown; undefined while all was, or is still to be. */
  get failure(): string | undefined {
    return this.#failure;
  }

  /** What the screen refuses ends the showing. */
  offer(bytes: Uint8Array): void {
    if (this.#failure !== undefined) return;
    if (this.#signal.aborted && this.#behind + bytes.length > MOST_BEHIND) {
      this.#failure = 'the screen took no more of it';
      return;
    }
    this.#behind += bytes.length;
    this.#taken = this.#taken.then(async () => {
      try {
        if (this.#failure === undefined) await this.#show(bytes);
      } catch (error) {
        this.#failure ??= messageOf(error);
      } finally {
        this.#behind -= bytes.length;
      }
    });
  }

  /** Resolves when the screen has taken all, or is waited for no more. */
  async taken(): Promise<void> {
    if (this.#signal.aborted) return;
    await new Promise<void>((resolve) => {
      const done = (): void => {
        this.#signal.removeEventListener('abort', done);
        resolve();
      };
      this.#signal.addEventListener('abort', done, { once: true });
      void this.#taken.then(done);
    });
  }
}
