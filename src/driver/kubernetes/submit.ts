import type { V1Job, V1Secret } from '@kubernetes/client-node';
import { CnabError } from '../../errors.js';
import type { KubernetesApi } from './api.js';
import { deleteJob, isTimeUp } from './clean-up.js';
import { withDeadline } from './deadline.js';
import { AbortError, KubernetesError } from './kubernetes-error.js';
import { ANNOTATION, OUTPUTS_CONTAINER } from './names.js';
import type { RunPlan } from './plan.js';
import { resource, type JobReference } from './resources.js';
import type { RunView } from './run-view.js';
import { buildSecret } from './secret.js';

export interface SubmitOptions {
  readonly api: KubernetesApi;
  readonly namespace: string;
  readonly plan: RunPlan;
  readonly view: RunView;
  readonly signal: AbortSignal;
  /** Awaited before the first Secret is made, so before anything can run; where it rejects the Job goes again. */
  readonly onPosted: (job: JobReference) => Promise<void>;
}

/** A creation is never cut short: what became of it would be unknown. It has this long instead. */
const SUBMIT_MS = 90_000;

const never = new AbortController().signal;

/**
 * Creates Job and Secrets. Rejects with CnabError when the cluster refuses; then nothing has run, because without its
 * last Secret a pod starts nothing, and the Job is gone again. Where both are in doubt its code is `contact-lost`.
 * A signal that is aborted before the Job is posted gives AbortError; later, it is for the caller to stop the run.
 */
export async function submit(options: SubmitOptions): Promise<JobReference> {
  const { api, namespace, plan, view, signal } = options;
  const { name } = plan;
  let reference: JobReference = { namespace, name, uid: '' };
  let posted = false;
  try {
    if (signal.aborted) throw new AbortError(signal.reason);
    await withDeadline(api.clock, SUBMIT_MS, never, async (deadline) => {
      const object = await createJob(api, namespace, plan, deadline);
      posted = true;
      reference = { namespace, name, uid: object.metadata?.uid ?? '' };
      view.bind(reference.uid);
      checkSidecar(object);
      await options.onPosted(reference);
      await createSecrets(options, reference, deadline);
    });
    return reference;
  } catch (error) {
    const isUnsure = isTimeUp(error) || (error instanceof KubernetesError && error.maybeApplied);
    const left = posted || isUnsure ? await deleteJob(api, reference) : [];
    if (signal.aborted && left.length === 0) throw new AbortError(signal.reason);
    throw withRemains(error, left, posted && isUnsure);
  }
}

/** A POST whose answer was lost is not repeated blindly: a Job of that name is ours when it carries our run id. */
async function createJob(api: KubernetesApi, namespace: string, plan: RunPlan, signal: AbortSignal): Promise<V1Job> {
  const { name, job } = plan;
  const run = job.metadata?.annotations?.[ANNOTATION.run];
  try {
    const { object } = await api.create<V1Job>(resource.jobs(namespace), job, {
      doing: `create job ${name} in namespace ${namespace}`,
      signal,
      ...(plan.strict ? { query: { fieldValidation: 'Strict' } } : {}),
      isOurs: (existing) => existing.metadata?.annotations?.[ANNOTATION.run] === run,
    });
    return object;
  } catch (error) {
    // What an API server that does not know them makes of the hook: it drops restartPolicy before it validates.
    const said = error instanceof KubernetesError ? (error.serverMessage ?? '') : '';
    if (/initContainers\[\d+\]\.lifecycle: .*init containers/.test(said)) throw noSidecars(error);
    throw error;
  }
}

/** An API server that does not know native sidecars drops the field without a word, and the pod would hang for ever (KEP-753). */
function checkSidecar(job: V1Job): void {
  const sidecar = job.spec?.template?.spec?.initContainers?.find(({ name }) => name === OUTPUTS_CONTAINER);
  if (sidecar?.restartPolicy === 'Always') return;
  throw noSidecars();
}

function noSidecars(cause?: unknown): CnabError {
  return new CnabError(
    'unavailable',
    'the API server does not know native sidecars, by which outputs leave a pod: a run needs Kubernetes 1.29 or later, with its feature SidecarContainers on, so nothing was run',
    { suggestions: ['upgrade the cluster or turn the feature on, or name another one with --context'], cause },
  );
}

/** They belong to the Job, so they go with it, also when this process dies now. */
async function createSecrets(
  { api, plan: { inputs, labels } }: SubmitOptions,
  job: JobReference,
  signal: AbortSignal,
): Promise<void> {
  for (const planned of inputs.secrets) {
    await api.create<V1Secret>(resource.secrets(job.namespace), buildSecret(planned, job, labels), {
      doing: `create secret ${planned.name} in namespace ${job.namespace}`,
      signal,
      isOurs: (existing) => existing.metadata?.ownerReferences?.some(({ uid }) => uid === job.uid) ?? false,
      // Who runs bundles need not read Secrets, and the name holds the run's id.
      oursIfUnreadable: true,
    });
  }
}

/** Keeps the error's kind, and says in it what could not be removed. */
function withRemains(error: unknown, left: readonly string[], mayRun: boolean): unknown {
  const known = isTimeUp(error)
    ? new CnabError('unavailable', 'the cluster did not answer in time when the Job was created')
    : error;
  if (left.length === 0 || !(known instanceof CnabError)) return known;
  const { message, details, suggestions } = known;
  // With its last Secret, which may be there, the pod starts.
  const code = mayRun ? 'contact-lost' : known.code;
  return new CnabError(code, message, { details: [...details, ...left], suggestions, cause: known });
}
