import type { Clock } from '../clock.js';
import type { LogReader } from './log-reader.js';

/** A stream without a byte for so long after the container's end has said all. */
const QUIET_MS = 60;
/** Below it a log was never rotated (10 MiB), so a second reading cannot miss what a first one would still have brought. */
const SAFE_BYTES = 8 * 1024 ** 2;

/**
 * A kubelet looks only once a second whether a followed container is still there, so a follow ends up to a second late
 * (seen on a kubelet: 0.8 s). Where nothing can be lost by it, the follow is given up and the rest is read at once.
 */
export class LogTail {
  #bytes = 0;
  #writing = 0;
  #last: number;

  constructor(
    private readonly clock: Clock,
    private readonly onLog: (chunk: Uint8Array) => void | Promise<void>,
  ) {
    this.#last = clock.now();
  }

  /** Hands a chunk on, and notes when. */
  readonly write = async (chunk: Uint8Array): Promise<void> => {
    this.#writing += 1;
    try {
      await this.onLog(chunk);
    } finally {
      this.#writing -= 1;
      this.#bytes += chunk.byteLength;
      this.#last = this.clock.now();
    }
  };

  /** Cuts the follow when the container has ended and the stream is quiet. Never rejects. */
  async hurry(reader: Pick<LogReader, 'reconnect'>, ended: AbortSignal, reading: Promise<unknown>): Promise<void> {
    const over = new AbortController();
    const stop = (): void => over.abort();
    reading.then(stop, stop);
    await aborted(ended, over.signal);
    while (!over.signal.aborted && this.#bytes < SAFE_BYTES) {
      await this.clock.sleep(QUIET_MS, over.signal).catch(() => undefined);
      if (over.signal.aborted || this.#writing > 0 || this.clock.now() - this.#last < QUIET_MS) continue;
      reader.reconnect('the container has ended');
      return;
    }
  }
}

/** Resolves when one of the signals is aborted. */
function aborted(...signals: readonly AbortSignal[]): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      for (const signal of signals) signal.removeEventListener('abort', done);
      resolve();
    };
    for (const signal of signals) signal.addEventListener('abort', done, { once: true });
    if (signals.some((signal) => signal.aborted)) done();
  });
}
