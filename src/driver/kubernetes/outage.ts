/**
 * More than one try and the pause after it take. What lies longer between two failures was no waiting: the machine slept, or
 * its clock was set.
 */
const LONGEST_TRY_MS = 60_000;

/** For how long each try has failed, by one clock. */
export class Outage {
  #lastAt: number | undefined;
  #ms = 0;

  /** The other side has answered, if only with silence over a connection that stands. */
  end(): void {
    this.#lastAt = undefined;
    this.#ms = 0;
  }

  /** A try has failed at `now`. Gives the milliseconds since the first of those that failed in a row. */
  fail(now: number): number {
    if (this.#lastAt !== undefined) this.#ms += Math.min(Math.max(0, now - this.#lastAt), LONGEST_TRY_MS);
    this.#lastAt = now;
    return this.#ms;
  }
}
