import type { KubernetesApi } from './api.js';
import { withinCleanUp } from './clean-up.js';
import { letSidecarEnd } from './exec-verbs.js';
import type { LogSource } from './log-request.js';

/**
 * Sidecars that hold outputs, and are told in the background that all has arrived. Before their Job is deleted they must
 * know: from then on nothing shortens the hold time of the pod.
 */
export class HeldSidecars {
  readonly #told = new Map<string, Promise<void>>();

  /** Returns at once. A sidecar that cannot be told ends by itself when its hold time is over. */
  letGo(runId: string, api: KubernetesApi, source: LogSource): void {
    const told = withinCleanUp(api.clock, (signal) => letSidecarEnd(api, source, signal));
    this.#told.set(
      runId,
      told.catch(() => undefined),
    );
  }

  /** Resolves when the run's sidecar was told, or could not be. */
  async settled(runId: string): Promise<void> {
    await this.#told.get(runId);
    this.#told.delete(runId);
  }

  async allSettled(): Promise<void> {
    await Promise.all(this.#told.values());
  }
}
