import type { Clock } from '../clock.js';
import { CnabError } from '../../errors.js';
import type { KubernetesApi } from './api.js';
import { DeadlineError, withDeadline } from './deadline.js';
import { isAbort } from './kubernetes-error.js';
import { kubectl, type KubectlWay } from './kubectl.js';
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

/** Why `withinCleanUp` rejected, as a clause. Throws what is neither for the user nor the end of its time: a bug. */
export function cleanUpProblem(error: unknown): string {
  if (isTimeUp(error)) return 'the cluster did not answer in time';
  if (error instanceof CnabError) return error.message;
  throw error;
}

/** As `removeJob`, over a connection that is there. */
export function deleteJob(api: KubernetesApi, job: JobReference): Promise<string[]> {
  return removeJob(api.clock, job, () => Promise.resolve(api));
}

/**
 * Deletes the Job, and by its owner references pod and Secrets; returns when the server has answered. One that is gone is
 * as good as deleted. Gives warnings instead of rejecting: the run's result stands whatever becomes of its remains.
 */
export async function removeJob(
  clock: Clock,
  job: JobReference,
  connect: (signal: AbortSignal) => Promise<KubernetesApi>,
): Promise<string[]> {
  let api: KubernetesApi | undefined;
  try {
    await withinCleanUp(clock, async (signal) => askToDelete((api = await connect(signal)), job, signal));
    return [];
  } catch (error) {
    return [leftBehind(job, cleanUpProblem(error), api?.connection)];
  }
}

/** Returns when the server has answered. Rejects with KubernetesError. */
export async function askToDelete(
  api: KubernetesApi,
  { namespace, name, uid }: JobReference,
  signal: AbortSignal,
): Promise<void> {
  await api.delete(resource.job(namespace, name), {
    doing: `delete job ${name} in namespace ${namespace}`,
    ...(uid === '' ? {} : { uid }),
    signal,
  });
}

/** A warning. */
export function leftBehind({ namespace, name }: Omit<JobReference, 'uid'>, why: string, way: KubectlWay = {}): string {
  const command = kubectl(`delete job ${name} -n ${namespace}`, way);
  const left = `job ${name} is left in namespace ${namespace}: ${why}`;
  return command === undefined ? left : `${left}. Remove it with: ${command}`;
}
