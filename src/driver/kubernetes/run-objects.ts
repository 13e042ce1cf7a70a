import type { V1Job, V1Pod, V1PodSpec } from '@kubernetes/client-node';
import { CnabError } from '../../errors.js';
import type { BegunRun, RunState } from '../driver.js';
import type { KubernetesApi } from './api.js';
import type { KubernetesList } from './api-types.js';
import { isNotFound } from './kubernetes-error.js';
import { ANNOTATION, LABEL } from './names.js';
import { resource, type JobReference } from './resources.js';
import { RunView } from './run-view.js';

/** Where a run is looked for. */
export interface RunPlace {
  readonly runId: string;
  readonly namespace: string;
  /** Names that its Job may have; the first that is there counts. */
  readonly jobs: readonly string[];
}

/** Where the run's state says that it is; nowhere where it says nothing. */
export function placeOf({ runId, state }: Pick<BegunRun, 'runId' | 'state'>): RunPlace {
  return { runId, namespace: state.namespace ?? '', jobs: state.job === undefined ? [] : [state.job] };
}

export function goneError({ state: { job, namespace } }: Pick<BegunRun, 'state'>): CnabError {
  const what = job === undefined ? 'the run was never made' : `job ${job} is not in namespace ${namespace}`;
  return new CnabError('not-found', `${what}, so there is nothing of it to be read`);
}

/** The run's Job; undefined when there is none of these names that carries the run's id. Rejects with KubernetesError. */
export async function readJob(api: KubernetesApi, place: RunPlace, signal: AbortSignal): Promise<V1Job | undefined> {
  const { namespace, runId } = place;
  for (const name of place.jobs) {
    const options = { doing: `read job ${name} in namespace ${namespace}`, signal };
    const job = await api.get<V1Job>(resource.job(namespace, name), options).catch((error: unknown) => {
      if (isNotFound(error)) return undefined;
      throw error;
    });
    if (job?.metadata?.uid !== undefined && job.metadata.annotations?.[ANNOTATION.run] === runId) return job;
  }
  return undefined;
}

/** Pods that carry the run's label. Rejects with KubernetesError. */
export async function listPods(
  api: KubernetesApi,
  { namespace, runId }: Pick<RunPlace, 'namespace' | 'runId'>,
  signal: AbortSignal,
): Promise<KubernetesList<V1Pod>> {
  const doing = `list the pods of the run in namespace ${namespace}`;
  const query = { labelSelector: `${LABEL.run}=${runId}` };
  return api.list<V1Pod>(resource.pods(namespace), { doing, query, signal });
}

/** UID of the Job that made the pod. */
export function ownerUid(pod: V1Pod): string | undefined {
  return pod.metadata?.ownerReferences?.find(({ kind }) => kind === 'Job')?.uid;
}

/** What is there of a run that was begun. */
export interface FoundObjects {
  readonly view: RunView;
  readonly job: JobReference;
  /** Undefined where only a pod is left. */
  readonly object: V1Job | undefined;
  /** Of the run's pod. */
  readonly spec: V1PodSpec | undefined;
}

/** One look at a run; undefined when nothing of it is there. `state`: as it was saved last. Rejects with KubernetesError. */
export async function findRun(
  api: KubernetesApi,
  place: RunPlace,
  state: RunState,
  signal: AbortSignal,
): Promise<FoundObjects | undefined> {
  if (place.jobs.length === 0) return undefined;
  // The Job first: it counts only pods that were there before it was read.
  const found = await readJob(api, place, signal);
  const isOurs = state.jobUid === undefined || found?.metadata?.uid === state.jobUid;
  const object = isOurs ? found : undefined;
  const pods = await listPods(api, place, signal);
  const [pod] = pods.items;
  const uid = object?.metadata?.uid ?? state.jobUid ?? (pod === undefined ? undefined : ownerUid(pod));
  const name = object?.metadata?.name ?? state.job ?? place.jobs[0];
  const isAny = object !== undefined || pods.items.some((each) => ownerUid(each) === uid);
  if (!isAny || uid === undefined || name === undefined) return undefined;
  const view = new RunView();
  view.bind(uid);
  if (state.podUid !== undefined) view.rememberPod();
  view.seePods(pods);
  view.seeJob(object);
  const spec = object?.spec?.template.spec ?? view.pod?.spec;
  return { view, job: { namespace: place.namespace, name, uid }, object, spec };
}
