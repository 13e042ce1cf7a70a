import type { V1Pod } from '@kubernetes/client-node';
import type { KubernetesApi } from './api.js';
import { askToDelete, isTimeUp, withinCleanUp } from './clean-up.js';
import { isForbidden, KubernetesError } from './kubernetes-error.js';
import { resource, type JobReference } from './resources.js';
import { listPods } from './run-objects.js';
import type { RunView } from './run-view.js';

/**
 * Stops a run that has no verdict yet. The pod goes first, with our own grace: deleting the Job would give the run tool
 * the pod's whole hold time (seen on a cluster). Where there is no pod yet, or it may not be deleted, the Job goes; a pod
 * that came meanwhile is treated like one that was known. Resolves with why the cluster could not be told, undefined when it was.
 */
export async function stopRun(
  api: KubernetesApi,
  job: JobReference,
  view: RunView,
  runId: string,
  graceMs: number,
): Promise<string | undefined> {
  try {
    await withinCleanUp(api.clock, async (signal) => {
      const place = { namespace: job.namespace, runId };
      const look = async (): Promise<void> => view.seePods(await listPods(api, place, signal));
      // A pod that nobody has told of yet would go with the Job, and with it how it ended.
      if (view.pod === undefined) await look();
      if (view.pod === undefined) {
        await askToDelete(api, job, signal);
        await look();
      }
      if (view.pod !== undefined && !view.podGone) await stopPod(api, job, view.pod, graceMs, signal);
    });
    return undefined;
  } catch (error) {
    if (error instanceof KubernetesError) return error.message;
    if (isTimeUp(error)) return 'the cluster did not answer in time';
    throw error;
  }
}

/** Deletes the pod with our own grace or, where that is forbidden, its Job. Rejects with KubernetesError. */
export async function stopPod(
  api: KubernetesApi,
  job: JobReference,
  pod: V1Pod,
  graceMs: number,
  signal: AbortSignal,
): Promise<void> {
  await deletePod(api, pod, graceMs, signal).catch((error: unknown) => {
    if (!isForbidden(error)) throw error;
    return askToDelete(api, job, signal);
  });
}

/** The first grace period that a kubelet hears of is the one that counts; at least a second, because 0 means "at once, unseen". */
export async function deletePod(api: KubernetesApi, pod: V1Pod, graceMs: number, signal: AbortSignal): Promise<void> {
  const { namespace = '', name = '', uid } = pod.metadata ?? {};
  await api.delete(resource.pod(namespace, name), {
    doing: `delete pod ${name} in namespace ${namespace}`,
    gracePeriodSeconds: Math.max(1, Math.ceil(graceMs / 1000)),
    ...(uid === undefined ? {} : { uid }),
    signal,
  });
}
