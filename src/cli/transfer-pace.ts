const WINDOW_MS = 5000;
/** Before that a rate is guesswork. */
const SHORTEST_SPAN_MS = 1000;
/** Bytes are told of many times a second. */
const SAMPLE_MS = 200;

interface Sample {
  readonly at: number;
  readonly bytes: number;
}

/** How fast bytes come, over the last seconds: a mean since the start would hide that nothing comes any more. */
export class TransferPace {
  /** The oldest is the last one from before the window, or the first of all. */
  private samples: Sample[] = [];
  private first: Sample | undefined;
  private isMoving = false;

  /** `bytes`: received in all; what was there at the first call has not travelled now (a run that is taken up). */
  note(bytes: number, now: number): void {
    const last = this.samples.at(-1);
    if (bytes === last?.bytes) return;
    // What was waited for before the first byte (digests are made, a connection is opened) is no part of the transfer.
    const grows = last !== undefined && bytes > last.bytes;
    if (!grows || !this.isMoving) {
      this.isMoving = grows;
      this.first = { at: now, bytes };
      this.samples = [this.first];
      return;
    }
    const before = this.samples.at(-2);
    if (before !== undefined && last.at - before.at < SAMPLE_MS) this.samples.pop();
    this.samples.push({ at: now, bytes });
    while ((this.samples[1]?.at ?? now) <= now - WINDOW_MS) this.samples.shift();
  }

  /** Bytes per second; undefined where it is too early to tell. */
  rate(now: number): number | undefined {
    const from = now - WINDOW_MS;
    const last = this.samples.at(-1);
    const start = this.samples.findLast(({ at }) => at <= from) ?? this.samples[0];
    if (start === undefined || last === undefined || start === last) return this.samples.length > 1 ? 0 : undefined;
    const span = now - Math.max(start.at, from);
    return span < SHORTEST_SPAN_MS ? undefined : ((last.bytes - start.bytes) * 1000) / span;
  }

  /** Milliseconds since the last byte came; 0 before the first call. */
  silence(now: number): number {
    return now - (this.samples.at(-1)?.at ?? now);
  }

  /** Milliseconds until `total` is reached, if it goes on like this; undefined where that cannot be said. */
  left(total: number, now: number): number | undefined {
    const rate = this.rate(now);
    const last = this.samples.at(-1);
    if (rate === undefined || rate === 0 || last === undefined || this.first === undefined) return undefined;
    if (last.bytes >= total || now - this.first.at < 2 * SHORTEST_SPAN_MS) return undefined;
    return ((total - last.bytes) * 1000) / rate;
  }
}
