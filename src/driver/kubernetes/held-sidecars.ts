import type { V1Pod } from '@kubernetes/client-node';
import { CnabError } from '../../errors.js';
import type { KubernetesApi } from './api.js';
import { isTimeUp, withinCleanUp } from './clean-up.js';
import { letSidecarEnd } from './exec-verbs.js';
import type { LogSource } from './log-request.js';
import { deletePod } from './stop.js';

/** For whoever still writes something down; the run is over. */
const GRACE_MS = 3000;

/**
 * Sidecars that hold outputs, and are told in the background that all has arrived. Before their Job is deleted they must
 * know: from then on nothing shortens the hold time of the pod.
 */
export class HeldSidecars {
  readonly #told = new Map<string, Promise<void>>();
  readonly #lingering = new Map<string, () => Promise<void>>();

  /**
   * Returns at once. A sidecar that cannot be told ends by itself when its hold time is over. `mayEnd` gives false, or rejects, where
   * what it holds may be wanted yet: by another process, or because the disk does not have it.
   */
  letGo(runId: string, api: KubernetesApi, source: LogSource, mayEnd: () => Promise<boolean>): void {
    const tell = async (): Promise<void> => {
      if (await mayEnd()) await withinCleanUp(api.clock, (signal) => letSidecarEnd(api, source, signal));
    };
    this.#told.set(
      runId,
      tell().catch(() => undefined),
    );
  }

  /**
   * The pod of a run that is over would go on: `settled` deletes it. With the Job alone it would get its whole hold time as
   * grace (seen on a cluster: a container that heeds no SIGTERM lived ten more minutes).
   */
  lingers(runId: string, api: KubernetesApi, pod: V1Pod): void {
    this.#lingering.set(runId, async () => {
      try {
        await withinCleanUp(api.clock, (signal) => deletePod(api, pod, GRACE_MS, signal));
      } catch (error) {
        // It then ends with its hold time; what is wrong with the cluster is told by the deletion of the Job.
        if (!(error instanceof CnabError) && !isTimeUp(error)) throw error;
      }
    });
  }

  /** Resolves when the run's sidecar was told, or could not be, and a pod that would go on is being deleted. */
  async settled(runId: string): Promise<void> {
    await this.#told.get(runId);
    this.#told.delete(runId);
    await this.#lingering.get(runId)?.();
    this.#lingering.delete(runId);
  }

  async allSettled(): Promise<void> {
    await Promise.all(this.#told.values());
  }
}
