import type { V1Pod } from '@kubernetes/client-node';
import type { KubernetesApi } from './api.js';
import { isTimeUp, withinCleanUp } from './clean-up.js';
import { KubernetesError } from './kubernetes-error.js';
import { LABEL } from './names.js';
import { resource, type JobReference } from './resources.js';
import type { RunView } from './run-view.js';

/**
 * Stops a run that has no verdict yet. The pod goes first, with our own grace: deleting the Job would give the run tool
 * the pod's whole hold time (seen on a cluster). Where there is no pod yet, the Job goes, so that none comes; one that
 * came meanwhile is treated as the first. Resolves with what could not be done, as sentences.
 */
export async function stopRun(
  api: KubernetesApi,
  job: JobReference,
  view: RunView,
  runId: string,
  graceMs: number,
): Promise<string[]> {
  const { namespace, name, uid } = job;
  try {
    await withinCleanUp(api.clock, async (signal) => {
      if (view.pod === undefined) {
        await api.delete(resource.job(namespace, name), {
          doing: `delete job ${name} in namespace ${namespace}`,
          uid,
          signal,
        });
        const query = { labelSelector: `${LABEL.run}=${runId}` };
        const pods = await api.list<V1Pod>(resource.pods(namespace), {
          doing: `list the pods of job ${name}`,
          query,
          signal,
        });
        view.seePods(pods.items);
      }
      if (view.pod !== undefined && !view.podGone) await deletePod(api, view.pod, graceMs, signal);
    });
    return [];
  } catch (error) {
    if (error instanceof KubernetesError) return [error.message];
    if (isTimeUp(error)) return [`job ${name} could not be stopped: the cluster did not answer in time`];
    throw error;
  }
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
