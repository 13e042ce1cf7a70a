import type { V1Job } from '@kubernetes/client-node';
import { CnabError } from '../../errors.js';
import type { OperationResult, RunState } from '../driver.js';
import type { KubernetesApi } from './api.js';
import { withDeadline } from './deadline.js';
import { BEAT_MS, holderOf, processOf, type Holder } from './holder.js';
import { putHolder } from './hold-run.js';
import { isAbort, isConflict, isNotFound } from './kubernetes-error.js';
import { resource, type JobReference } from './resources.js';

/** One request of a beat. */
const REQUEST_MS = 10_000;
/** Somebody may be waiting for this process to go. */
const LEAVE_MS = 3000;
/** The Job changes while its pod starts and ends. */
const ATTEMPTS = 5;

const never = new AbortController().signal;

/**
 * The hold of this process on one run, from its Job on: it tells that it lives until it is let go, where it may, and notices when
 * another process has taken the run from it.
 */
export class RunHold {
  readonly #lost = new AbortController();
  readonly #holder: Holder | undefined;
  #stop = new AbortController();
  #beating: Promise<void> = Promise.resolve();
  /** Where it is told that this process is on the run. */
  #told: { readonly api: KubernetesApi; readonly job: JobReference } | undefined;
  #takenBy: Holder | undefined;

  /** `holder` absent: nothing is told. */
  constructor(holder: Holder | undefined) {
    this.#holder = holder;
  }

  get holder(): Holder | undefined {
    return this.#holder;
  }

  /** Of the run, as it is saved. */
  get state(): Pick<RunState, 'holder'> {
    return this.#holder === undefined ? {} : { holder: this.#holder.id };
  }

  /** Another process is on the run. */
  get isLost(): boolean {
    return this.#takenBy !== undefined;
  }

  /**
   * Begins to tell; what was told of an earlier Job of the run ends. The Job names this process already: a run that ends soon costs
   * no request. `beats` false: it may not be told.
   */
  begin(api: KubernetesApi, job: JobReference, { beats }: Pick<Holder, 'beats'>): void {
    this.#stop.abort();
    if (this.#holder === undefined || !beats) return;
    const { signal } = (this.#stop = new AbortController());
    this.#told = { api, job };
    this.#beating = this.#beat(api, job, this.#holder, signal);
  }

  /** Tells no more. `leaves`: the Job stays, and nobody is on it from now on. Never rejects. */
  async end({ leaves }: { readonly leaves: boolean }): Promise<void> {
    this.#stop.abort();
    await this.#beating;
    const told = this.#told;
    this.#told = undefined;
    if (!leaves || told === undefined || this.isLost) return;
    const { api, job } = told;
    // Whoever comes then waits until this process has been silent for long enough.
    const left = withDeadline(api.clock, LEAVE_MS, never, (signal) => this.#put(api, job, undefined, signal));
    await left.catch(() => undefined);
  }

  /** A signal that is aborted with `signal`, and with the reason `leave` where the run is taken from this process. */
  over(signal: AbortSignal): AbortSignal {
    const both = new AbortController();
    for (const each of [signal, this.#lost.signal]) {
      if (each.aborted) both.abort(each.reason);
      else each.addEventListener('abort', () => both.abort(each.reason), { once: true });
    }
    return both.signal;
  }

  /** What is to be said of a run that goes on without us because another process has it. */
  told(action: string, result: OperationResult): OperationResult {
    const taker = this.#takenBy;
    if (taker === undefined || result.status !== 'running') return result;
    const who = `${processOf(taker)} has taken the run over at ${taker.since}`;
    const error = new CnabError('contact-lost', `${who}: how ${action} ends, and its outputs, are recorded there.`);
    return { ...result, error };
  }

  async #beat(api: KubernetesApi, job: JobReference, holder: Holder, signal: AbortSignal): Promise<void> {
    try {
      let beat = holder.beat;
      do {
        await api.clock.sleep(BEAT_MS, signal);
        beat += 1;
      } while (await this.#tell(api, job, { ...holder, beat }, signal));
    } catch (error) {
      if (!isAbort(error)) throw error;
    }
  }

  /** One sign of life. False where no further one is of use: the Job is gone, or another process has the run. */
  async #tell(api: KubernetesApi, job: JobReference, holder: Holder, signal: AbortSignal): Promise<boolean> {
    try {
      return await this.#put(api, job, holder, signal);
    } catch (error) {
      if (isAbort(error)) throw error;
      // The next one may come through: a run outlives a login that has expired, and it is not worth ending for a sign of life.
      return !isNotFound(error);
    }
  }

  /** False where the Job is gone, or names another process. Rejects as a request does. */
  async #put(
    api: KubernetesApi,
    { namespace, name, uid }: JobReference,
    holder: Holder | undefined,
    signal: AbortSignal,
  ): Promise<boolean> {
    const once = { signal, timeoutMs: REQUEST_MS, attempts: 1 };
    const doing = `read job ${name} in namespace ${namespace}`;
    for (let attempt = 1; ; attempt += 1) {
      const job = await api.get<V1Job>(resource.job(namespace, name), { doing, ...once });
      if (job.metadata?.uid !== uid) return false;
      const found = holderOf(job);
      if (found !== undefined && found.id !== this.#holder?.id) {
        this.#takenBy = found;
        this.#lost.abort({ kind: 'leave' });
        return false;
      }
      try {
        await putHolder(api, job, holder, once);
        return true;
      } catch (error) {
        if (!isConflict(error) || attempt >= ATTEMPTS) throw error;
      }
    }
  }
}
