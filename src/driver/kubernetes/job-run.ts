import { CnabError, messageOf } from '../../errors.js';
import type { Way } from '../../frame/delivery.js';
import { Assembler, type Assembly } from '../../frame/assemble.js';
import type { DriverIo, Operation, OperationResult, EndReason } from '../driver.js';
import type { DriverSettings } from '../settings.js';
import type { KubernetesApi } from './api.js';
import { deleteJob } from './clean-up.js';
import { collect, type Collected } from './collect.js';
import { decide, type Decision } from './decision.js';
import { withDeletionCause } from './deletion-cause.js';
import { outcomeOf, type Ending } from './ending.js';
import type { Observer } from './observer.js';
import { vanishedVerdict, type PodOutcome } from './pod-verdict.js';
import { collecting, progressOf } from './progress.js';
import type { JobReference } from './resources.js';
import { buildResult, stopReasonOf } from './result.js';
import { podShape } from './security.js';
import { RunStreams } from './run-streams.js';
import type { RunView } from './run-view.js';
import { outputLimits } from './way.js';
import { sidecarFault } from './sidecar-fault.js';
import { stopRun } from './stop.js';
import { until } from './until.js';

export interface JobRunOptions {
  readonly api: KubernetesApi;
  readonly operation: Operation;
  readonly settings: DriverSettings;
  readonly way: Way;
  readonly io: DriverIo;
  readonly job: JobReference;
  readonly view: RunView;
  readonly observer: Observer;
  readonly warnings: readonly string[];
}

/** What a pod may need beyond its grace period until its last status is told. */
const STOP_MARGIN_MS = 30_000;

const never = new AbortController().signal;

/** A Job that was posted, until nothing more is wanted of it: verdict, outputs, log. */
export class JobRun {
  readonly #options: JobRunOptions;
  readonly #assembler: Assembler;
  readonly #streams: RunStreams;
  readonly #warnings: string[];
  readonly #posted: number;
  #collecting = false;

  constructor(options: JobRunOptions) {
    const { api, operation, settings, way, io, view, warnings } = options;
    this.#options = options;
    this.#warnings = [...warnings];
    this.#posted = api.clock.now();
    this.#assembler = new Assembler({
      runId: operation.runId,
      wanted: operation.outputs.length,
      staging: io.staging,
      limits: outputLimits(settings, way),
    });
    this.#streams = new RunStreams({
      api,
      view,
      assembler: this.#assembler,
      onLog: io.onLog,
      onProgress: () => this.#tell(),
    });
  }

  /** `restricted`: the pod was refused for want of the restricted shape, and this Job is gone. */
  async toTheEnd(isRestricted: boolean): Promise<OperationResult | 'restricted'> {
    const { api, job, view, operation, io, settings } = this.#options;
    const forget = view.onChange(() => this.#tell());
    try {
      const { ending, stopped } = await this.#ending();
      if (ending.kind === 'restricted' && !isRestricted) {
        this.#warnings.push(...(await deleteJob(api, job)));
        return 'restricted';
      }
      const told = outcomeOf(ending, view.history);
      const isStopped = stopped !== undefined || ending.kind === 'lost';
      const outcome = isStopped ? told : await withDeletionCause(api, job, view, told);
      const collected = await this.#collect(ending, outcome, stopped);
      await this.#streams.stop();
      const assembly = await this.#assembly();
      const cut = collected.cut ? stopReasonOf(io.signal) : undefined;
      // What may still be wanted stays: a run that goes on without us, and outputs that were not awaited.
      const kept = settings.keepJob && view.pod !== undefined;
      const keep = kept || ending.kind === 'lost' || cut !== undefined || view.otherPods.length > 0;
      io.onProgress({ phase: 'cleaning-up' });
      this.#rethrowFailure();
      return buildResult(operation, {
        outcome,
        ...(stopped === undefined ? {} : { stopped }),
        ...(cut === undefined ? {} : { cut }),
        ...(outcome.ran === 'no' || assembly === undefined ? {} : { assembly }),
        ...(collected.reason === undefined ? {} : { outputsReason: collected.reason }),
        logComplete: outcome.ran === 'no' || this.#streams.logComplete,
        warnings: [...this.#warnings, ...collected.warnings, ...this.#otherPods()],
        podPatch: settings.podPatch,
        suggestions: [...asWhom(outcome, isRestricted, settings), ...(keep ? [this.#leftInPlace()] : [])],
        keep,
      });
    } finally {
      forget();
      await this.#streams.stop();
    }
  }

  /** Waits for what ends the run: its verdict, a start that will not come, a stop, or silence. */
  async #ending(): Promise<{ ending: Ending; stopped?: EndReason }> {
    const { api, view, io } = this.#options;
    const { clock } = api;
    await until(view, clock, io.signal, () => view.pod ?? this.#look());
    await this.#savePod();
    const ending = await until(view, clock, io.signal, () => this.#look());
    if (ending?.kind === 'not-started' || ending?.kind === 'restricted') return { ending: await this.#giveUp(ending) };
    if (ending !== undefined) return { ending };
    const stopped = (await this.#stop()) ?? (await this.#lastWord());
    // What could not be stopped is not canceled: it goes on, and its outcome is unknown.
    return stopped.kind === 'lost' ? { ending: stopped } : { ending: stopped, stopped: stopReasonOf(io.signal) };
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
    const { api, job, view, operation, settings } = this.#options;
    const failure = await stopRun(api, job, view, operation.runId, settings.gracePeriodMs);
    if (failure === undefined) return undefined;
    return {
      kind: 'lost',
      message: `${why}the run could not be stopped, and may go on as job ${job.name}: ${failure}`,
    };
  }

  /** How a run that was told to stop ends, within its grace period. */
  async #lastWord(): Promise<Ending> {
    const { api, view, settings } = this.#options;
    const { clock } = api;
    if (view.pod === undefined) return { kind: 'not-started', message: 'the run was stopped' };
    const due = clock.now() + settings.gracePeriodMs + STOP_MARGIN_MS;
    const unknown = vanishedVerdict('it did not end within its grace period', view.history);
    const ending = await until(view, clock, never, () => {
      const seen = this.#look();
      const isEnd = seen !== undefined && !('late' in seen);
      return isEnd ? seen : clock.now() < due ? undefined : 'unknown';
    });
    return ending === undefined || ending === 'unknown' ? { kind: 'verdict', outcome: unknown } : ending;
  }

  #look(): Ending | undefined {
    const { api, view, observer, operation, settings, job } = this.#options;
    const times = { now: api.clock.now(), posted: this.#posted, startTimeoutMs: settings.startTimeoutMs };
    const decision = decide(view, times);
    if (decision !== undefined) return decision;
    const { lost } = observer;
    if (lost !== undefined) {
      const message = `contact with the cluster was lost, and the run may go on there as job ${job.name}: ${lost.message}`;
      return { kind: 'lost', message };
    }
    const fault = view.history.started ? undefined : sidecarFault(this.#assembler.fault, operation, settings);
    return fault === undefined ? undefined : { kind: 'not-started', message: fault };
  }

  async #collect(ending: Ending, outcome: PodOutcome, stopped: EndReason | undefined): Promise<Collected> {
    const { api, view, settings, io } = this.#options;
    if (ending.kind !== 'verdict' || outcome.ran === 'no') return { cut: false, warnings: [] };
    this.#collecting = true;
    return await collect({
      api,
      view,
      streams: this.#streams,
      assembler: this.#assembler,
      // Of a pod that is lost little is to be expected.
      holdTimeMs: outcome.status === 'unknown' ? 0 : settings.holdTimeMs,
      signal: stopped === undefined ? io.signal : never,
    });
  }

  /** Undefined where the disk fails: the outputs are lost then, and the verdict stands. */
  async #assembly(): Promise<Assembly | undefined> {
    try {
      return await this.#assembler.finish();
    } catch (error) {
      if (!(error instanceof CnabError)) throw error;
      this.#warnings.push(error.message);
      return undefined;
    }
  }

  async #savePod(): Promise<void> {
    const { view, io, job } = this.#options;
    const { name, uid } = view.pod?.metadata ?? {};
    if (name === undefined || uid === undefined) return;
    try {
      await io.onState({ namespace: job.namespace, job: job.name, jobUid: job.uid, pod: name, podUid: uid });
    } catch (error) {
      // The bundle runs by now; it is worth more than a note on where it runs.
      this.#warnings.push(`the state of the run could not be saved: ${messageOf(error)}`);
    }
  }

  /** A full disk is told; everything else that a callback throws is a bug, and is not swallowed. */
  #rethrowFailure(): void {
    const { failure } = this.#streams;
    if (failure === undefined) return;
    if (!(failure.thrown instanceof CnabError)) throw failure.thrown;
    this.#warnings.push(failure.thrown.message);
  }

  #otherPods(): string[] {
    const { otherPods } = this.#options.view;
    if (otherPods.length === 0) return [];
    return [
      `Kubernetes started more than one pod for this run; what ${otherPods.join(', ')} did is not part of the result`,
    ];
  }

  #leftInPlace(): string {
    const { name, namespace } = this.#options.job;
    return `job ${name} is left in namespace ${namespace}; look at it with: kubectl describe job ${name} -n ${namespace}`;
  }

  /** The bundle's last words come before the outputs are spoken of. */
  #tell(): void {
    const { io, view } = this.#options;
    const { logOpen, logDone } = this.#streams;
    const isOut = logDone || !logOpen;
    io.onProgress(this.#collecting && isOut ? collecting(this.#assembler) : progressOf(view));
  }
}

/** Most bundles are written for root; what fails where nobody may be root is told with that. */
function asWhom(outcome: PodOutcome, isRestricted: boolean, { runAsUser }: DriverSettings): string[] {
  const shape = podShape(isRestricted, runAsUser);
  if (!isRestricted || shape.kind === 'open' || outcome.problem?.code !== 'bundle-failed') return [];
  return [
    `it ran as user ${shape.uid}, because the namespace enforces the Pod Security level "restricted": a bundle that needs root needs another namespace`,
  ];
}
