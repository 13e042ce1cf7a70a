import type { V1Job } from '@kubernetes/client-node';
import { CnabError } from '../../errors.js';
import type { OperationResult, RunState } from '../driver.js';
import type { Clock } from '../clock.js';
import type { KubernetesApi } from './api.js';
import { withinCleanUp } from './clean-up.js';
import { withDeadline } from './deadline.js';
import { BEAT_MS, holderOf, processOf, type Holder } from './holder.js';
import { putHolder } from './hold-run.js';
import { isAbort, isConflict, isForbidden, isNotFound } from './kubernetes-error.js';
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
  readonly #clock: Clock;
  readonly #since: Moment;
  #stop = new AbortController();
  #beating: Promise<void> = Promise.resolve();
  #on: { readonly api: KubernetesApi; readonly job: JobReference } | undefined;
  /** It is told there that this process is on the run. */
  #isTold = false;
  #takenBy: Holder | undefined;

  /** Begins to hold it now. `holder` absent: nothing is told. */
  constructor(holder: Holder | undefined, clock: Clock) {
    this.#holder = holder;
    this.#clock = clock;
    this.#since = momentOf(clock);
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
    if (this.#holder === undefined) return;
    this.#on = { api, job };
    if (!beats) return;
    const { signal } = (this.#stop = new AbortController());
    this.#isTold = true;
    this.#beating = this.#beat(api, job, this.#holder, signal);
  }

  /** Tells no more. `leaves`: the Job stays, and nobody is on it from now on. Never rejects. */
  async end({ leaves }: { readonly leaves: boolean }): Promise<void> {
    this.#stop.abort();
    await this.#beating;
    const isTold = this.#isTold;
    this.#isTold = false;
    if (!leaves || !isTold || this.#on === undefined || this.isLost) return;
    const { api, job } = this.#on;
    // Whoever comes then waits until this process has been silent for long enough.
    const left = withDeadline(api.clock, LEAVE_MS, never, (signal) => this.#put(api, job, undefined, signal));
    await left.catch(() => undefined);
  }

  /**
   * Whether what the run still has on the cluster is for this process to end: false where another one has taken it. A machine that
   * slept wakes with its outputs at hand and its next beat yet to come, so the Job is asked, once the run is older than a beat:
   * one that ends soon costs no request. Rejects with KubernetesError, and as `withinCleanUp`, where it does not answer.
   */
  async isOurs(): Promise<boolean> {
    if (this.#on === undefined || this.isLost) return !this.isLost;
    const { api, job } = this.#on;
    if (elapsed(this.#clock, this.#since) < BEAT_MS) return true;
    const options = { doing: doingOf(job) };
    const read = (signal: AbortSignal): Promise<V1Job> =>
      api.get<V1Job>(resource.job(job.namespace, job.name), { ...options, signal });
    try {
      const found = await withinCleanUp(api.clock, read);
      return found.metadata?.uid !== job.uid || !this.#isTaken(found);
    } catch (error) {
      // Nobody is on a Job that is gone; and who may not read it has never heard of others either.
      if (isNotFound(error) || isForbidden(error)) return true;
      throw error;
    }
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
    reference: JobReference,
    holder: Holder | undefined,
    signal: AbortSignal,
  ): Promise<boolean> {
    const once = { signal, timeoutMs: REQUEST_MS, attempts: 1 };
    const { namespace, name, uid } = reference;
    for (let attempt = 1; ; attempt += 1) {
      const job = await api.get<V1Job>(resource.job(namespace, name), { doing: doingOf(reference), ...once });
      if (job.metadata?.uid !== uid || this.#isTaken(job)) return false;
      try {
        await putHolder(api, job, holder, once);
        return true;
      } catch (error) {
        if (!isConflict(error) || attempt >= ATTEMPTS) throw error;
      }
    }
  }

  /** Another process stands in the Job. */
  #isTaken(job: V1Job): boolean {
    const found = holderOf(job);
    if (found === undefined || found.id === this.#holder?.id) return false;
    this.#takenBy = found;
    this.#lost.abort({ kind: 'leave' });
    return true;
  }
}

/** By both clocks of a machine: one stands still while it sleeps, the other can be set. */
interface Moment {
  readonly wall: number;
  readonly steady: number;
}

function momentOf(clock: Clock): Moment {
  return { wall: clock.now(), steady: performance.now() };
}

/** Milliseconds, by the clock that tells of more. */
function elapsed(clock: Clock, since: Moment): number {
  const now = momentOf(clock);
  return Math.max(Math.abs(now.wall - since.wall), now.steady - since.steady);
}

function doingOf({ namespace, name }: JobReference): string {
  return `read job ${name} in namespace ${namespace}`;
}
