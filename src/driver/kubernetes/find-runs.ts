import type { V1Job, V1ObjectMeta, V1Pod } from '@kubernetes/client-node';
import { isRunId } from '../../frame/grammar.js';
import type { FoundRun } from '../driver.js';
import type { KubernetesApi } from './api.js';
import { keeping } from './kept-state.js';
import { isForbidden } from './kubernetes-error.js';
import { ANNOTATION, LABEL, labelValue } from './names.js';
import { resource } from './resources.js';

/** Runs whose Job, or whose pod where Jobs may not be listed, carries the installation's name; newest first. Rejects with KubernetesError. */
export async function findRuns(
  api: KubernetesApi,
  namespace: string,
  installation: string,
  signal: AbortSignal,
): Promise<readonly FoundRun[]> {
  const labelSelector = `${LABEL.managedBy}=cnab,${LABEL.installation}=${labelValue(installation)}`;
  const options = {
    doing: `list the runs of ${installation} in namespace ${namespace}`,
    query: { labelSelector },
    signal,
  };
  const runs = await api.list<V1Job>(resource.jobs(namespace), options).then(
    ({ items }) => items.flatMap((job) => runOfJob(namespace, installation, job)),
    async (error: unknown) => {
      if (!isForbidden(error)) throw error;
      const { items } = await api.list<V1Pod>(resource.pods(namespace), options);
      return items.flatMap((pod) => runOfPod(namespace, installation, pod));
    },
  );
  const newestFirst = [...runs].sort((a, b) => b.created - a.created || (a.runId < b.runId ? 1 : -1));
  // A run may have two Jobs while the first one, whose pod was refused, is on its way out.
  return newestFirst.filter(({ runId }, index) => newestFirst.findIndex((run) => run.runId === runId) === index);
}

function runOfJob(namespace: string, installation: string, { metadata }: V1Job): FoundRun[] {
  if (metadata?.name === undefined || metadata.uid === undefined) return [];
  return runOf(installation, metadata, { namespace, job: metadata.name, jobUid: metadata.uid });
}

function runOfPod(namespace: string, installation: string, { metadata }: V1Pod): FoundRun[] {
  const owner = metadata?.ownerReferences?.find(({ kind }) => kind === 'Job');
  if (metadata?.name === undefined || metadata.uid === undefined || owner === undefined) return [];
  const state = { namespace, job: owner.name, jobUid: owner.uid, pod: metadata.name, podUid: metadata.uid };
  return runOf(installation, metadata, state);
}

/** A label can be a hash of the name, so the annotation decides; and others can write into the namespace too. */
function runOf(installation: string, metadata: V1ObjectMeta, state: FoundRun['state']): FoundRun[] {
  const { annotations = {}, labels = {}, creationTimestamp } = metadata;
  const keepJob = annotations[ANNOTATION.keepJob] === 'true';
  const runId = annotations[ANNOTATION.run];
  const action = annotations[ANNOTATION.action];
  if (runId === undefined || !isRunId(runId) || runId !== labels[LABEL.run] || action === undefined) return [];
  if (annotations[ANNOTATION.installation] !== installation) return [];
  const created = Date.parse(String(creationTimestamp));
  return [
    {
      ...{ runId, action, created: Number.isNaN(created) ? 0 : created },
      ...(annotations[ANNOTATION.stateless] === 'true' ? { stateless: true as const } : {}),
      state: { ...state, ...keeping({ keepJob }) },
    },
  ];
}
