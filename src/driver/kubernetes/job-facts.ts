import type { V1PodSpec } from '@kubernetes/client-node';
import { CnabError } from '../../errors.js';
import type { Way } from '../../frame/delivery.js';
import { OUTPUTS_MOUNT } from '../../frame/sidecar.js';
import type { WantedOutput } from '../driver.js';
import { OUTPUTS_CONTAINER } from './names.js';

/** What a run's Job was made with, as it stands in the spec of its pod: whoever takes the run up goes by it. */
export interface JobFacts {
  /** Absolute paths, in order of their index. */
  readonly wanted: readonly string[];
  readonly way: Way;
  /** Of the sidecar. */
  readonly shellImage: string;
  readonly limits: { readonly maxOutputBytes: number; readonly maxTotalBytes: number };
  /** How long the sidecar may live on after the run tool has ended. */
  readonly holdTimeMs: number;
  /** Counts from the Job's creation; 0: no limit. */
  readonly startTimeoutMs: number;
  /** What the run tool gets between SIGTERM and SIGKILL when it is stopped. */
  readonly gracePeriodMs: number;
  /** The whole pod runs as this user. */
  readonly uid?: number;
}

/** Throws CnabError `unavailable` for a pod that is none of ours. Pure. */
export function factsOf(spec: V1PodSpec | undefined, job: string): JobFacts {
  const sidecar = spec?.initContainers?.find(({ name }) => name === OUTPUTS_CONTAINER);
  const values = new Map(sidecar?.env?.map(({ name, value = '' }) => [name, value.replaceAll('$$', '$')]));
  const number = (name: string): number => {
    const value = values.get(name) ?? '';
    if (!/^\d{1,16}$/.test(value)) throw foreign(job, name);
    return Number(value);
  };
  const wanted = Array.from({ length: Math.min(number('CNAB_WANTED'), values.size) }, (_, index) => {
    return `${OUTPUTS_MOUNT}/${values.get(`CNAB_WANTED_${index}`)}`;
  });
  const uid = spec?.securityContext?.runAsUser;
  return {
    wanted,
    shellImage: sidecar?.image ?? '',
    way: {
      via: values.get('CNAB_VIA') === 'exec' ? 'exec' : 'log',
      maxLogBytes: number('CNAB_MAX_LOG'),
      inLog: values.get('CNAB_UNLOGGED') === '' ? 'all' : 'not-sensitive',
    },
    limits: { maxOutputBytes: number('CNAB_MAX_FILE'), maxTotalBytes: number('CNAB_MAX_TOTAL') },
    holdTimeMs: (spec?.terminationGracePeriodSeconds ?? 0) * 1000,
    startTimeoutMs: number('CNAB_START_TIMEOUT'),
    gracePeriodMs: number('CNAB_GRACE_PERIOD'),
    ...(uid === undefined ? {} : { uid }),
  };
}

/** The record and the Job must speak of the same outputs: an index is all that stands in the log. Throws CnabError `unavailable`. */
export function checkWanted({ wanted }: JobFacts, outputs: readonly WantedOutput[], job: string): void {
  if (wanted.length === outputs.length && outputs.every(({ path }, index) => wanted[index] === path)) return;
  throw new CnabError(
    'unavailable',
    `job ${job} was made for other outputs than the record of this run names, so it cannot be taken up`,
    { suggestions: ['take it up with the home that it was begun with, or from an empty one'] },
  );
}

function foreign(job: string, name: string): CnabError {
  return new CnabError(
    'unavailable',
    `job ${job} was not made by a cnab that can be gone on with here: it has no ${name}`,
  );
}
