import type { V1Job } from '@kubernetes/client-node';
import type { Way } from '../../frame/delivery.js';
import type { Operation } from '../driver.js';
import type { DriverSettings } from '../settings.js';
import { planInputs, type InputPlan } from './inputs.js';
import { buildJob, runLabels } from './job.js';
import { jobName } from './names.js';
import { patchJob } from './pod-patch.js';
import { buildSecret } from './secret.js';
import { podShape } from './security.js';

export interface Attempt {
  /** 1, or 2 after a refusal of the pod. */
  readonly number: number;
  /** The pod has the shape that the Pod Security Standard `restricted` wants. */
  readonly restricted: boolean;
}

/** Everything that a run puts into the cluster. */
export interface RunPlan {
  readonly name: string;
  readonly job: V1Job;
  readonly inputs: InputPlan;
  /** Of Job, pod and Secrets. */
  readonly labels: Readonly<Record<string, string>>;
  /** Fields that the server does not know are refused, not dropped: somebody wrote them by hand. */
  readonly strict: boolean;
}

export interface RunPlanParts {
  readonly operation: Operation;
  readonly settings: DriverSettings;
  readonly attempt: Attempt;
  readonly way: Way;
  readonly annotations: Readonly<Record<string, string>>;
}

/** Pure: the same operation gives the same plan. Throws CnabError `invalid` where the pod patch does not hold. */
export function planRun({ operation, settings, attempt, way, annotations }: RunPlanParts): RunPlan {
  const name = jobName(operation, attempt.number);
  const inputs = planInputs(operation, name);
  const shape = podShape(attempt.restricted, settings.runAsUser);
  const job = buildJob({ operation, settings, name, inputs, shape, way, annotations });
  const { podPatch } = settings;
  return {
    name,
    job: podPatch === undefined ? job : patchJob(job, podPatch),
    inputs,
    labels: runLabels(operation, settings),
    strict: podPatch !== undefined,
  };
}

const MASK = '******';

/** The objects as they would be created, in that order, for people: no Secret shows a value. */
export function previewRun({ job, name, inputs, labels }: RunPlan, namespace: string | undefined): readonly object[] {
  const owner = { name, uid: 'UID-OF-THE-JOB' };
  const secrets = inputs.secrets.map((planned) => {
    const secret = buildSecret(planned, owner, labels);
    return { ...secret, data: Object.fromEntries([...planned.entries.keys()].map((key) => [key, MASK])) };
  });
  return [job, ...secrets].map((object) => ({
    ...object,
    metadata: { ...object.metadata, ...(namespace === undefined ? {} : { namespace }) },
  }));
}
