import type { V1Job } from '@kubernetes/client-node';
import type { KubernetesApi } from './api.js';
import { isTimeUp, withinCleanUp } from './clean-up.js';
import { isNotFound, KubernetesError } from './kubernetes-error.js';
import { isTerminating } from './pod-status.js';
import type { PodOutcome } from './pod-verdict.js';
import { resource, type JobReference } from './resources.js';
import type { RunView } from './run-view.js';

/**
 * Says who deleted the pod of a run that did not succeed and that nobody here stopped: the Job's own deadline, which is
 * a time-out, or someone else by way of the Job or of the pod. The verdict stays what the pod says.
 */
export async function withDeletionCause(
  api: KubernetesApi,
  job: JobReference,
  view: RunView,
  outcome: PodOutcome,
): Promise<PodOutcome> {
  const { problem } = outcome;
  const deleted = view.pod !== undefined && (view.podGone || isTerminating(view.pod));
  if (problem === undefined || outcome.exitCode === undefined || !deleted || !(await lookAtJob(api, job, view)))
    return outcome;
  if (view.jobFailure?.startsWith('DeadlineExceeded') === true) {
    return {
      ...outcome,
      problem: { code: 'timed-out', message: `${problem.message} (the deadline of its Job was over)` },
    };
  }
  if (!problem.message.endsWith('its pod was deleted')) return outcome;
  const who = view.jobGone ? 'its Job was deleted by someone else' : 'by someone else';
  return { ...outcome, problem: { ...problem, message: `${problem.message} (${who})` } };
}

/** False when the cluster did not say. */
export async function lookAtJob(
  api: KubernetesApi,
  { namespace, name }: Omit<JobReference, 'uid'>,
  view: RunView,
): Promise<boolean> {
  try {
    const path = resource.job(namespace, name);
    view.seeJob(
      await withinCleanUp(api.clock, (signal) => api.get<V1Job>(path, { doing: `read job ${name}`, signal })),
    );
    return true;
  } catch (error) {
    if (isNotFound(error)) view.seeJob(undefined);
    else if (!(error instanceof KubernetesError) && !isTimeUp(error)) throw error;
    return isNotFound(error);
  }
}
