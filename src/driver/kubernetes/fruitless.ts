/** What a slow reader needs for a log file that is as large as they come. */
const FRUITLESS_MS = 45_000;
/** Twice the reader's longest pause: a connection that is there says something more often, if only what is known already. */
const OUTAGE_MS = 20_000;

/**
 * The reading of a log that has its end: it is read again and again, and brings only what is there. Times in milliseconds of one
 * clock; looked at once a second or more often.
 */
export class FruitlessReading {
  #received = 0;
  #newAt: number;
  #backAt = 0;
  #heardAt = 0;

  constructor(now: number) {
    this.#newAt = now;
  }

  /** When something new came last; at first, when it was begun. */
  get newAt(): number {
    return this.#newAt;
  }

  /** `heardAt`: when the log last said anything. `received`: bytes of outputs that are on disk. */
  look(now: number, heardAt: number, received: number): void {
    // Who was cut off has read nothing meanwhile: the time begins anew.
    const isBack = this.#heardAt > 0 && heardAt - this.#heardAt >= OUTAGE_MS;
    if (isBack) this.#backAt = now;
    if (received !== this.#received) this.#newAt = now;
    this.#received = received;
    this.#heardAt = heardAt;
  }

  /** Nothing new will come. */
  get isOver(): boolean {
    return this.#heardAt - Math.max(this.#newAt, this.#backAt) >= FRUITLESS_MS;
  }
}
