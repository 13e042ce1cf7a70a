import type { V1Pod } from '@kubernetes/client-node';
import { SMALL_BYTES, type Way } from '../../frame/delivery.js';
import type { KubernetesApi } from './api.js';
import { cleanUpProblem, isTimeUp, withinCleanUp } from './clean-up.js';
import { withDeadline } from './deadline.js';
import { signalSidecar } from './exec-verbs.js';
import { KubernetesError } from './kubernetes-error.js';
import { OUTPUTS_CONTAINER } from './names.js';
import { isTerminating } from './pod-status.js';
import { deletePod } from './stop.js';

const SIGNAL_MS = 15_000;
const AGAIN_MS = 10_000;
/** Enough for a small dump, which comes even where the other container has to be killed first: 2 s are left to the sidecar then. */
const SMALL_GRACE_MS = 3000;

export interface RescueOptions {
  readonly api: KubernetesApi;
  readonly way: Way;
  /** Nobody waits for the outputs any longer. */
  readonly signal: AbortSignal;
}

/** Sees to it that a sidecar which the kubelet has not signalled learns of the invocation's end. */
export class Rescue {
  readonly #options: RescueOptions;
  #isOver = false;
  #dueAt = 0;
  #refusal: string | undefined;
  #problem: string | undefined;

  constructor(options: RescueOptions) {
    this.#options = options;
  }

  /** It can be tried: it was not, or the cluster could not be reached. `now`: by the API's clock. */
  isDue(now: number): boolean {
    return !this.#isOver && now >= this.#dueAt;
  }

  get warnings(): readonly string[] {
    const refused = `the outputs sidecar could not be told that the bundle has ended, so the whole pod was: ${this.#refusal}`;
    return [
      ...(this.#refusal === undefined ? [] : [refused]),
      ...(this.#problem === undefined ? [] : [`the pod could not be made to end: ${this.#problem}`]),
    ];
  }

  /**
   * By an exec, which leaves the sidecar all its time. Where that is refused, or is not the way, by the deletion of the pod: the
   * kubelet ends the other containers first, and the sidecar has what they leave of the grace period. The first one that a
   * kubelet hears of counts (a shorter one that follows is not heeded, as tried with 1.37), so it is the pod's own, the hold
   * time, unless all that the log may carry is small. The price: a container that ignores SIGTERM is waited for so long.
   */
  async attempt(pod: V1Pod): Promise<void> {
    const { api, way } = this.#options;
    try {
      if (!isTerminating(pod) && !(await this.#signals(pod))) {
        const own = (pod.spec?.terminationGracePeriodSeconds ?? 0) * 1000;
        const graceMs = way.via === 'log' && way.maxLogBytes <= SMALL_BYTES ? SMALL_GRACE_MS : own;
        await withinCleanUp(api.clock, (signal) => deletePod(api, pod, Math.max(graceMs, SMALL_GRACE_MS), signal));
      }
      this.#isOver = true;
      this.#problem = undefined;
    } catch (error) {
      if (!isTimeUp(error) && !(error instanceof KubernetesError)) throw error;
      this.#problem = cleanUpProblem(error);
      this.#isOver = error instanceof KubernetesError && !error.transient;
      this.#dueAt = api.clock.now() + AGAIN_MS;
    }
  }

  /** False where that is not the way, or is refused. Rejects as `signalSidecar` does with what may heal. */
  async #signals(pod: V1Pod): Promise<boolean> {
    const { api, way, signal } = this.#options;
    if (way.via === 'log' || this.#refusal !== undefined) return false;
    const { namespace = '', name = '' } = pod.metadata ?? {};
    const source = { namespace, pod: name, container: OUTPUTS_CONTAINER };
    try {
      await withDeadline(api.clock, SIGNAL_MS, signal, (inTime) => signalSidecar(api, source, inTime));
      return true;
    } catch (error) {
      if (!(error instanceof KubernetesError) || error.transient) throw error;
      this.#refusal = error.message;
      return false;
    }
  }
}
