import { messageOf } from '../../errors.js';
import type { Assembler } from '../../frame/assemble.js';
import type { EndReason, Operation } from '../driver.js';
import type { KubernetesApi } from './api.js';
import { isTimeUp } from './clean-up.js';
import { withDeadline } from './deadline.js';
import { decide, type Decision } from './decision.js';
import type { Ending } from './ending.js';
import type { JobFacts } from './job-facts.js';
import type { KeptState } from './kept-state.js';
import { KubernetesError } from './kubernetes-error.js';
import type { Observer } from './observer.js';
import { isTerminating } from './pod-status.js';
import { podVerdict, vanishedVerdict } from './pod-verdict.js';
import type { JobReference } from './resources.js';
import { endReasonOf } from './result.js';
import { listPods } from './run-objects.js';
import type { RunView } from './run-view.js';
import { sidecarFault } from './sidecar-fault.js';
import { stopRun } from './stop.js';
import { until } from './until.js';
import { wakeableSleep } from './wait.js';

export interface RunEndingOptions {
  readonly api: KubernetesApi;
  readonly operation: Pick<Operation, 'runId' | 'files'>;
  readonly facts: Pick<JobFacts, 'startTimeoutMs' | 'gracePeriodMs' | 'shellImage'>;
  /** When the Job was made, in milliseconds since 1970. Absent: now. */
  readonly posted?: number;
  readonly job: JobReference;
  readonly view: RunView;
  readonly observer: Pick<Observer, 'lost'>;
  readonly state: KeptState;
  readonly assembler: Pick<Assembler, 'fault'>;
  /** Where the pod is refused for want of the restricted shape: called before this Job goes, because another one follows. */
  readonly again?: () => Promise<void>;
  /** Why it will never start, where that is known. */
  readonly hopeless?: string;
  /** Of the run: a stop, or somebody who leaves. */
  readonly signal: AbortSignal;
}

/** How the wait for a run was over. `left`: it goes on, and nobody here waits for it any more. */
export type RunEnded =
  { readonly kind: 'left' } | { readonly kind: 'ended'; readonly ending: Ending; readonly stopped?: EndReason };

/** What a pod may need beyond its grace period until its last status is told. */
const STOP_MARGIN_MS = 30_000;
const LOOK_MS = 15_000;
const AGAIN_MS = 1000;

const never = new AbortController().signal;

/** Waits for what ends a run: its verdict, a start that will not come, a stop, or silence. */
export class RunEnding {
  readonly warnings: string[] = [];
  readonly #options: RunEndingOptions;
  readonly #posted: number;

  constructor(options: RunEndingOptions) {
    this.#options = options;
    this.#posted = options.posted ?? options.api.clock.now();
  }

  /** Resolves when the pod is there and noted, or when none will come; true: it is there. */
  async podSeen(): Promise<boolean> {
    const { api, view, signal } = this.#options;
    await until(view, api.clock, signal, () => view.pod ?? this.#look());
    await this.#savePod();
    return view.pod !== undefined && this.#look() === undefined;
  }

  async wait(): Promise<RunEnded> {
    const { signal, state, again } = this.#options;
    const begun = state.now.stop;
    if (begun !== undefined && !this.#endedByItself()) return await this.#stopped(begun);
    const ending = await this.#end();
    if (ending?.kind === 'restricted' && again !== undefined) return ended(await this.#makeWay(ending, again));
    if (ending?.kind === 'not-started' || ending?.kind === 'restricted') return ended(await this.#giveUp(ending));
    if (ending !== undefined) return ended(ending);
    const reason = endReasonOf(signal);
    return reason === undefined ? { kind: 'left' } : await this.#stopped(reason);
  }

  /**
   * What ends it; undefined where the signal does. That it has not started in its time is believed only of a state that is as
   * new: who slept, or was cut off, would stop a bundle that has long been running.
   */
  async #end(): Promise<Ending | undefined> {
    const { api, job, view, operation, signal } = this.#options;
    for (;;) {
      const ending = await until(view, api.clock, signal, () => this.#look());
      if (ending?.kind !== 'not-started' || ending.late !== true) return ending;
      try {
        const place = { namespace: job.namespace, runId: operation.runId };
        view.seePods(await withDeadline(api.clock, LOOK_MS, signal, (inTime) => listPods(api, place, inTime)));
        const still = this.#look();
        if (still !== undefined) return still;
      } catch (error) {
        if (signal.aborted) return undefined;
        // Whether the cluster can be reached at all is for the observer to judge.
        if (!(error instanceof KubernetesError) && !isTimeUp(error)) throw error;
        await wakeableSleep(api.clock, AGAIN_MS, signal);
      }
    }
  }

  /** A stop that was asked for and never reached the cluster changes nothing of a run that has ended. */
  #endedByItself(): boolean {
    const { view } = this.#options;
    return view.pod !== undefined && !isTerminating(view.pod) && podVerdict(view.pod, view.history) !== undefined;
  }

  async #stopped(reason: EndReason): Promise<RunEnded> {
    const { state } = this.#options;
    // Before the cluster is told: whoever takes the run up after us completes the stop.
    if (state.now.stop === undefined) await this.#save(() => state.add({ stop: reason }));
    const lost = await this.#stop();
    // What could not be stopped is not canceled: it goes on, and its outcome is unknown.
    return lost === undefined ? { ...ended(await this.#lastWord()), stopped: reason } : ended(lost);
  }

  async #makeWay(ending: Decision & { readonly kind: 'restricted' }, again: () => Promise<void>): Promise<Ending> {
    const { state, job } = this.#options;
    await this.#save(again);
    const last = await this.#giveUp(ending);
    if (last.kind !== 'restricted') await this.#save(() => state.add({ job: job.name, jobUid: job.uid }));
    return last;
  }

  /** What does not start now could do so at the last moment, or later where its Job is left: it goes, and its last word counts. */
  async #giveUp(ending: Exclude<Decision, { kind: 'verdict' }>): Promise<Ending> {
    const { view } = this.#options;
    const canStart = view.pod === undefined || (ending.kind === 'not-started' && ending.late === true);
    const lost = await this.#stop(`${ending.message}; `);
    if (lost !== undefined) return lost;
    const last = canStart ? await this.#lastWord() : ending;
    return view.history.started ? last : ending;
  }

  /** Undefined when the cluster was told. */
  async #stop(why = ''): Promise<Ending | undefined> {
    const { api, job, view, operation, facts } = this.#options;
    const failure = await stopRun(api, job, view, operation.runId, facts.gracePeriodMs);
    if (failure === undefined) return undefined;
    return {
      kind: 'lost',
      message: `${why}the run could not be stopped, and may go on as job ${job.name}: ${failure}`,
    };
  }

  /** How a run that was told to stop ends, within its grace period. */
  async #lastWord(): Promise<Ending> {
    const { api, view, facts } = this.#options;
    const { clock } = api;
    if (view.pod === undefined && !view.hadPod) return { kind: 'not-started', message: 'the run was stopped' };
    const due = clock.now() + facts.gracePeriodMs + STOP_MARGIN_MS;
    const unknown = vanishedVerdict('it did not end within its grace period', view.history);
    const ending = await until(view, clock, never, () => {
      const seen = this.#look();
      const isEnd = seen !== undefined && !('late' in seen);
      return isEnd ? seen : clock.now() < due ? undefined : 'unknown';
    });
    return ending === undefined || ending === 'unknown' ? { kind: 'verdict', outcome: unknown } : ending;
  }

  #look(): Ending | undefined {
    const { api, view, observer, operation, facts, job, assembler, hopeless } = this.#options;
    const { startTimeoutMs } = facts;
    const times = { now: api.clock.now(), clusterNow: api.serverNow, posted: this.#posted, startTimeoutMs };
    const decision = decide(view, times);
    if (decision !== undefined) return decision;
    const { lost } = observer;
    if (lost !== undefined) {
      const message = `contact with the cluster was lost, and the run may go on there as job ${job.name}: ${lost.message}`;
      return { kind: 'lost', message };
    }
    if (view.history.started) return undefined;
    const fault = hopeless ?? sidecarFault(assembler.fault, operation, facts);
    return fault === undefined ? undefined : { kind: 'not-started', message: fault };
  }

  async #savePod(): Promise<void> {
    const { view, state } = this.#options;
    const { name, uid } = view.pod?.metadata ?? {};
    if (name === undefined || uid === undefined || state.now.podUid === uid) return;
    await this.#save(() => state.add({ pod: name, podUid: uid }));
  }

  /** The bundle runs by now; it is worth more than a note on where it runs. */
  async #save(save: () => Promise<void>): Promise<void> {
    await save().catch((error: unknown) => {
      this.warnings.push(`the state of the run could not be saved: ${messageOf(error)}`);
    });
  }
}

function ended(ending: Ending): RunEnded & { readonly kind: 'ended' } {
  return { kind: 'ended', ending };
}
