import type { V1Job } from '@kubernetes/client-node';
import type { Clock } from '../clock.js';
import type { BegunRun, Driver } from '../driver.js';
import type { KubernetesApi } from './api.js';
import type { CallOptions } from './api-types.js';
import { heldError, holderOf, holderText, processOf, SILENCE_MS, type Holder } from './holder.js';
import { isConflict, isForbidden, isNotFound } from './kubernetes-error.js';
import { ANNOTATION } from './names.js';
import { resource } from './resources.js';
import { placeOf, readJob } from './run-objects.js';

/** A holder is looked at so often while it is waited for a sign of its. */
const LOOK_MS = 1000;
/** The Job changes while its pod starts and ends. */
const ATTEMPTS = 10;

export type How = Parameters<Driver['hold']>[1];

/**
 * Puts `own` into the Job of a run as its holder, where no other process is on it: one that tells that it lives is watched until
 * it does or has been silent for too long, so no two clocks are compared. Where Jobs may not be patched nothing is
 * put there, and false given. Rejects with `RunHeld`, KubernetesError, AbortError.
 */
export async function holdRun(
  api: KubernetesApi,
  run: Pick<BegunRun, 'runId' | 'state'>,
  own: Holder,
  { signal, onProgress, takeOver }: How,
): Promise<boolean> {
  const place = placeOf(run);
  const read = (): Promise<V1Job | undefined> => readJob(api, place, signal);
  const isFree = (holder: Holder | undefined): holder is undefined =>
    takeOver || holder === undefined || holder.id === own.id || holder.id === run.state.holder;
  let silent: string | undefined;
  for (let attempt = 1; ; attempt += 1) {
    const job = await read();
    if (job === undefined) return true;
    const other = holderOf(job);
    if (!isFree(other) && holderText(other) !== silent) {
      if (!other.beats) throw heldError(run.runId, other);
      const detail = `for a sign of ${processOf(other)}, at most ${SILENCE_MS / 1000}s: it may still be on it`;
      onProgress({ phase: 'waiting', detail });
      if (await showsLife(other, read, api.clock, signal)) throw heldError(run.runId, other);
      silent = holderText(other);
    }
    try {
      // Refused where the Job is no longer the one that was judged.
      await putHolder(api, job, own, { signal });
      return true;
    } catch (error) {
      if (isConflict(error) && attempt < ATTEMPTS) continue;
      if (isNotFound(error)) return true;
      // Who may not say that he is on a run is on it all the same.
      if (isForbidden(error)) return false;
      throw error;
    }
  }
}

/** Whether a holder shows a new sign of life; one that has left, or was replaced by another, does not. */
async function showsLife(
  holder: Holder,
  read: () => Promise<V1Job | undefined>,
  clock: Clock,
  signal: AbortSignal,
): Promise<boolean> {
  const due = clock.now() + SILENCE_MS;
  while (clock.now() < due) {
    await clock.sleep(LOOK_MS, signal);
    const job = await read();
    const now = job === undefined ? undefined : holderOf(job);
    if (now?.id !== holder.id) return false;
    if (now.beat !== holder.beat) return true;
  }
  return false;
}

/** Undefined: nobody. Rejects with KubernetesError: a 409 where the Job has changed since it was read. */
export async function putHolder(
  api: KubernetesApi,
  { metadata: { namespace = '', name = '', resourceVersion = '' } = {} }: V1Job,
  holder: Holder | undefined,
  options: Omit<CallOptions, 'doing' | 'query'>,
): Promise<void> {
  const text = holder === undefined ? null : holderText(holder);
  const patch = { metadata: { resourceVersion, annotations: { [ANNOTATION.holder]: text } } };
  const doing = `say on job ${name} in namespace ${namespace} who is on its run`;
  await api.patch(resource.job(namespace, name), patch, { ...options, doing });
}
