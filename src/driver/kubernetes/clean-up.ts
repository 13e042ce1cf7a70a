import type { Clock } from '../clock.js';
import { messageOf } from '../../errors.js';
import type { KubernetesApi } from './api.js';
import { DeadlineError, withDeadline } from './deadline.js';
import { isAbort } from './kubernetes-error.js';
import { resource, type JobReference } from './resources.js';

/** Clean-up has a time of its own: the signal that stopped the run must not stop it too. */
const CLEAN_UP_MS = 15_000;

const never = new AbortController().signal;

/** Runs `work` within the clean-up's own time, whatever became of the run's signal. */
export function withinCleanUp<T>(clock: Clock, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  return withDeadline(clock, CLEAN_UP_MS, never, work);
}

/** True for what `withinCleanUp` rejects with when its time is over. */
export function isTimeUp(error: unknown): boolean {
  return error instanceof DeadlineError || isAbort(error);
}

/**
 * Deletes the Job, and by its owner references pod and Secrets; returns when the server has answered. Gives warnings
 * instead of rejecting: the run's result stands whatever becomes of its remains.
 */
export async function deleteJob(api: KubernetesApi, job: JobReference): Promise<string[]> {
  const { namespace, name, uid } = job;
  try {
    await withinCleanUp(api.clock, (signal) =>
      api.delete(resource.job(namespace, name), {
        doing: `delete job ${name} in namespace ${namespace}`,
        ...(uid === '' ? {} : { uid }),
        signal,
      }),
    );
    return [];
  } catch (error) {
    const why = isTimeUp(error) ? 'the cluster did not answer in time' : messageOf(error);
    return [
      `job ${name} is left in namespace ${namespace}: ${why}. Remove it with: kubectl delete job ${name} -n ${namespace}`,
    ];
  }
}
