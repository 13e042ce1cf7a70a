import { CnabError } from '../../errors.js';
import type { Assembler, Assembly } from '../../frame/assemble.js';
import type { DriverIo, EndReason, Operation, OperationResult } from '../driver.js';
import type { DriverSettings } from '../settings.js';
import type { KubernetesApi } from './api.js';
import { collect, type Collected } from './collect.js';
import { withDeletionCause } from './deletion-cause.js';
import { outcomeOf, type Ending } from './ending.js';
import { heldUntil } from './hold.js';
import type { HeldSidecars } from './held-sidecars.js';
import type { JobFacts } from './job-facts.js';
import type { KeptState } from './kept-state.js';
import { kubectl } from './kubectl.js';
import { lingers } from './lingering.js';
import type { LogSource } from './log-reader.js';
import type { Observer } from './observer.js';
import type { PodOutcome } from './pod-verdict.js';
import { collecting, progressOf } from './progress.js';
import type { JobReference } from './resources.js';
import { buildResult, endReasonOf, goesOnResult } from './result.js';
import { RunEnding } from './run-ending.js';
import type { RunHold } from './run-hold.js';
import { RunStreams } from './run-streams.js';
import type { RunView } from './run-view.js';

/** A run as it is told: of one that was taken up its input files are not known. */
export type ToldRun = Pick<Operation, 'runId' | 'installation' | 'action' | 'outputs' | 'files'>;

export interface JobRunOptions {
  readonly api: KubernetesApi;
  readonly operation: ToldRun;
  readonly settings: DriverSettings;
  readonly io: DriverIo;
  readonly job: JobReference;
  readonly facts: JobFacts;
  /** The namespace enforces the Pod Security Standard `restricted`. */
  readonly isRestricted: boolean;
  readonly view: RunView;
  readonly observer: Observer;
  readonly state: KeptState;
  readonly assembler: Assembler;
  readonly warnings: readonly string[];
  /** See `RunEndingOptions`. */
  readonly again?: () => Promise<void>;
  /** See `RunEndingOptions`. */
  readonly posted?: number;
  /** See `RunEndingOptions`. */
  readonly hopeless?: string;
  readonly held: HeldSidecars;
  readonly hold: RunHold;
}

const never = new AbortController().signal;

/** A Job that was posted, by us or before us, until nothing more is wanted of it: verdict, outputs, log. */
export class JobRun {
  readonly #options: JobRunOptions;
  readonly #ending: RunEnding;
  readonly #warnings: string[];
  #streams: RunStreams | undefined;
  #heldUntil: number | undefined;

  constructor(options: JobRunOptions) {
    const { io, warnings } = options;
    this.#options = options;
    this.#warnings = [...warnings];
    this.#ending = new RunEnding({ ...options, signal: io.signal });
  }

  /** `restricted`: the pod was refused for want of the restricted shape, and nothing has run. */
  async toTheEnd(): Promise<OperationResult | 'restricted'> {
    const { view, io } = this.#options;
    const forget = view.onChange(() => this.#tell());
    try {
      // What refuses the pod is still told; from there on the run needs nobody.
      const mayDetach = io.detach === true && (await this.#ending.podSeen());
      if (mayDetach && endReasonOf(io.signal) === undefined) return this.#goesOn();
      return await this.#attended();
    } finally {
      forget();
      await this.#streams?.stop();
      await this.#options.assembler.finish().catch(() => undefined);
    }
  }

  async #attended(): Promise<OperationResult | 'restricted'> {
    const { api, job, view, io, assembler, operation, held, hold } = this.#options;
    const { way } = this.#options.facts;
    const onProgress = (): void => this.#tell();
    // What comes by exec alone comes no second time: it outlives a power failure before the sidecar may forget it.
    const mayEnd = async (): Promise<boolean> => {
      await assembler.sync();
      return hold.isOurs();
    };
    const onComplete = (source: LogSource): void => held.letGo(operation.runId, api, source, mayEnd);
    const parts = { api, view, assembler, way, onLog: io.onLog, onProgress, onComplete };
    const streams = (this.#streams = new RunStreams(parts));
    await this.#ending.podSeen();
    const end = await this.#ending.wait();
    if (end.kind === 'left') return this.#goesOn();
    const { ending, stopped } = end;
    if (ending.kind === 'restricted' && this.#options.again !== undefined) return 'restricted';
    const told = outcomeOf(ending, view.history);
    const isStopped = stopped !== undefined || ending.kind === 'lost';
    const outcome = isStopped ? told : await withDeletionCause(api, job, view, told);
    const collected = await this.#collect(streams, ending, outcome, stopped);
    await streams.stop();
    if (collected.cut && endReasonOf(io.signal) === undefined) return this.#goesOn();
    const assembly = await this.#assembly();
    io.onProgress({ phase: 'cleaning-up' });
    this.#rethrow(streams.failure);
    return this.#result(ending, outcome, stopped, collected, assembly);
  }

  async #collect(
    streams: RunStreams,
    ending: Ending,
    outcome: PodOutcome,
    stopped: EndReason | undefined,
  ): Promise<Collected> {
    const { api, job, view, facts, io, assembler } = this.#options;
    if (ending.kind !== 'verdict' || outcome.ran === 'no') return { cut: false, warnings: [] };
    const now = api.clock.now();
    // Of a pod that is lost little is to be expected.
    const ahead = api.serverAhead ?? 0;
    const until = heldUntil(view.pod, facts.holdTimeMs, now + ahead) - ahead;
    this.#heldUntil = outcome.status === 'unknown' ? now : until;
    this.#tell();
    return collect({
      api,
      job,
      view,
      streams,
      assembler,
      way: facts.way,
      heldUntil: this.#heldUntil,
      // A run that was stopped has its grace period to bring what it can.
      signal: stopped === undefined ? io.signal : never,
    });
  }

  #result(
    ending: Ending,
    outcome: PodOutcome,
    stopped: EndReason | undefined,
    collected: Collected,
    assembly: Assembly | undefined,
  ): OperationResult {
    const { api, view, operation, settings, io, facts, job, isRestricted, assembler, held, state } = this.#options;
    const { cut, outstanding, outputsReason, warnings } = collected;
    // What may still be wanted stays: a run that goes on without us, and outputs that can be fetched.
    const isWanted = ending.kind === 'lost' || (stopped === undefined && outstanding !== undefined);
    const keep = isWanted || view.otherPods.length > 0 || (state.now.keepJob === true && view.pod !== undefined);
    if (!keep && lingers(view, assembler, facts.way)) held.lingers(operation.runId, api, view.pod);
    const reason = cut ? endReasonOf(io.signal) : undefined;
    const { name, namespace } = job;
    const command = kubectl(`describe job ${name} -n ${namespace}`, api.connection);
    const look = command === undefined ? '' : `; look at it with: ${command}`;
    return buildResult(operation, {
      outcome,
      ...(outputsReason === undefined ? {} : { outputsReason }),
      ...(stopped === undefined ? {} : { stopped }),
      ...(reason === undefined ? {} : { cut: reason }),
      ...(outcome.ran === 'no' || assembly === undefined ? {} : { assembly }),
      ...(isWanted && outstanding !== undefined ? { outstanding } : {}),
      logComplete: outcome.ran === 'no' || this.#streams?.log.isComplete === true,
      warnings: [...this.#warnings, ...this.#ending.warnings, ...warnings, ...otherPods(view)],
      podPatch: settings.podPatch,
      suggestions: [
        ...asWhom(outcome, facts, isRestricted),
        // The command that takes it up is told by who knows how to write it for this target.
        ...(isWanted && assembler.shortage !== undefined ? ['make room on that disk first'] : []),
        ...(keep ? [`job ${name} is left in namespace ${namespace}${look}`] : []),
      ],
      keep,
    });
  }

  #goesOn(): OperationResult {
    return goesOnResult(this.#options.view.history, [...this.#warnings, ...this.#ending.warnings]);
  }

  /** Undefined where the disk fails: the outputs are lost then, and the verdict stands. */
  async #assembly(): Promise<Assembly | undefined> {
    try {
      return await this.#options.assembler.finish();
    } catch (error) {
      if (!(error instanceof CnabError)) throw error;
      this.#warnings.push(error.message);
      return undefined;
    }
  }

  /** A full disk is told; everything else that a callback throws is a bug, and is not swallowed. */
  #rethrow(failure: { readonly thrown: unknown } | undefined): void {
    if (failure === undefined) return;
    if (!(failure.thrown instanceof CnabError)) throw failure.thrown;
    this.#warnings.push(failure.thrown.message);
  }

  /** The bundle's last words come before the outputs are spoken of. */
  #tell(): void {
    const { io, view, assembler, operation, facts } = this.#options;
    const { isOpen = false, isDone = false } = this.#streams?.log ?? {};
    const isOut = isDone || !isOpen;
    const { outputs } = operation;
    const until = this.#heldUntil;
    io.onProgress(until !== undefined && isOut ? collecting(assembler, outputs, facts.way, until) : progressOf(view));
  }
}

function otherPods({ otherPods: names }: RunView): string[] {
  if (names.length === 0) return [];
  return [`Kubernetes started more than one pod for this run; what ${names.join(', ')} did is not part of the result`];
}

/** Most bundles are written for root; what fails where nobody may be root is told with that. */
function asWhom({ problem }: PodOutcome, { uid }: JobFacts, isRestricted: boolean): string[] {
  if (!isRestricted || uid === undefined || problem?.code !== 'bundle-failed') return [];
  return [
    `it ran as user ${uid}, because the namespace enforces the Pod Security level "restricted": a bundle that needs root needs another namespace`,
  ];
}
