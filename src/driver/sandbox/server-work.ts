import type { Clock } from '../clock.js';
import { ApiError } from './api-server/api-error.js';
import type { Interception } from './api-server/faults.js';
import type { ApiServer } from './api-server/server.js';

/** How long a server without work waits for more. */
const IDLE_MS = 5_000;

/**
 * Whether a server is still wanted: as long as there is a Job or a pod, and for a while after the last request. A Job that
 * is complete is work, too: the log of its pod may hold what nobody has fetched yet.
 */
export class Work {
  #lastRequest: number;
  #isOver = false;

  constructor(private readonly clock: Clock) {
    this.#lastRequest = clock.now();
  }

  /** For `Faults.intercept`: once it is over nothing is begun that nobody would find again. */
  request(): Interception | undefined {
    this.#lastRequest = this.clock.now();
    if (!this.#isOver) return undefined;
    const message = "the sandbox's API server is about to end";
    return { status: 503, body: new ApiError(503, 'ServiceUnavailable', message).status };
  }

  refuse(): void {
    this.#isOver = true;
  }

  /** From then on requests are refused. */
  async untilIdle(server: Pick<ApiServer, 'idle'>, signal: AbortSignal): Promise<void> {
    const aborted = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
    while (!signal.aborted) {
      await Promise.race([server.idle(), aborted]);
      const rest = this.#lastRequest + IDLE_MS - this.clock.now();
      if (rest <= 0) break;
      await this.clock.sleep(rest, signal).catch(() => undefined);
    }
    this.refuse();
  }
}
