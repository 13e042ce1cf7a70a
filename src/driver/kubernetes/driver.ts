import type { Target } from '../../claim/target.js';
import { CnabError } from '../../errors.js';
import type { Way } from '../../frame/delivery.js';
import type { Clock } from '../clock.js';
import type {
  BegunRun,
  Driver,
  DriverIo,
  FoundRun,
  Operation,
  OperationResult,
  RunEnd,
  RunInputs,
  RunSight,
} from '../driver.js';
import type { DriverSettings } from '../settings.js';
import { absentResult } from './absent-run.js';
import type { KubernetesApi } from './api.js';
import { freeBytesOf, type FreeBytes } from './assembler.js';
import { attemptRun } from './attempt.js';
import { checkOperation } from './check.js';
import { openCluster, type Cluster } from './cluster.js';
import type { Connection } from './connection.js';
import { findRuns } from './find-runs.js';
import { followLog } from './follow-log.js';
import { HeldSidecars } from './held-sidecars.js';
import { Holds, type NamedProcess } from './holds.js';
import { keeping, KeptState } from './kept-state.js';
import { isAbort } from './kubernetes-error.js';
import { leaving } from './leaving.js';
import { planRun, previewRun, type Attempt, type RunPlan } from './plan.js';
import { ProgressTeller } from './progress.js';
import { goesOnResult, notRunResult, stopError, stopReasonOf } from './result.js';
import { releaseRun } from './release.js';
import { readInputs } from './run-inputs.js';
import { findRun, goneError, placeOf, readJob } from './run-objects.js';
import { sightOf } from './run-sight.js';
import { takeUp, type TakeUpOptions } from './take-up.js';
import { kubernetesTarget } from './target.js';
import { watchRun } from './watch-run.js';
import { expectedWay } from './way.js';

export interface KubernetesDriverOptions {
  readonly settings: DriverSettings;
  /** Called once, when the cluster is first needed. */
  readonly connect: (signal: AbortSignal) => Promise<Connection>;
  readonly clock: Clock;
  /** Absent: asks the file system. */
  readonly freeBytes?: FreeBytes;
  /** Absent: no other machine sees the runs, and their Jobs name nobody. */
  readonly process?: NamedProcess;
  /** Further annotations of Job and pod. */
  readonly annotationsOf?: (operation: Operation) => Readonly<Record<string, string>>;
}

/** Runs an operation as one Kubernetes Job and brings its outputs back from a sidecar, by its log or by exec. */
export class KubernetesDriver implements Driver {
  readonly #options: KubernetesDriverOptions;
  #connection: Connection | undefined;
  #cluster: Cluster | undefined;
  readonly #held = new HeldSidecars();
  readonly #holds: Holds;
  /** Runs whose end was seen here. */
  readonly #ended = new Set<string>();

  constructor(options: KubernetesDriverOptions) {
    this.#options = options;
    this.#holds = new Holds(options.process, options.clock);
  }

  async target(signal: AbortSignal): Promise<Target> {
    try {
      const { api, place } = await this.#open(signal);
      return kubernetesTarget(api.connection, place);
    } catch (error) {
      if (isAbort(error) && signal.aborted) throw stopError(stopReasonOf(signal), 'nothing was run');
      throw error;
    }
  }

  handles(imageType: string): boolean {
    return imageType === 'oci' || imageType === 'docker';
  }

  check(operation: Operation): void {
    checkOperation(operation, this.#options.settings);
    // Refuses a pod patch that does not hold.
    this.#plan(operation, { number: 1, restricted: false }, expectedWay(operation, this.#options.settings));
  }

  /** As for a namespace that enforces nothing, where `target` has not looked at it. */
  preview(operation: Operation): readonly object[] {
    this.check(operation);
    const place = this.#cluster?.place;
    const attempt = { number: 1, restricted: place?.restricted === true };
    return previewRun(this.#plan(operation, attempt, expectedWay(operation, this.#options.settings)), place?.namespace);
  }

  /**
   * The life of one Job. Where the cluster refuses its pod for want of the restricted shape, nothing has run, and a second
   * Job in that shape follows.
   */
  async run(operation: Operation, io: DriverIo): Promise<OperationResult> {
    const teller = new ProgressTeller(io.onProgress);
    const hold = this.#holds.on(operation.runId, io.detach !== true);
    const told: DriverIo = { ...io, signal: hold.over(io.signal), onProgress: (progress) => teller.tell(progress) };
    const state = new KeptState({ ...hold.state, ...keeping(this.#options.settings) }, io.onState);
    try {
      this.check(operation);
      teller.tell({ phase: 'preparing' });
      const cluster = await this.#open(io.signal);
      const { restricted } = cluster.place;
      const attempt = (attempt: Attempt): Promise<OperationResult | 'restricted'> => {
        const planOf = (way: Way): RunPlan => this.#plan(operation, attempt, way);
        return attemptRun({ ...this.#shared(), hold, operation, cluster, io: told, teller, state, attempt, planOf });
      };
      const first = await attempt({ number: 1, restricted });
      if (first !== 'restricted') return await this.#seen(operation, first);
      const second = await attempt({ number: 2, restricted: true });
      if (second !== 'restricted') return await this.#seen(operation, second);
      throw new Error('a refused pod was asked for a third time');
    } catch (error) {
      if (isAbort(error) && io.signal.aborted) {
        const reason = stopReasonOf(io.signal);
        const error = stopError(reason, `${operation.action} was stopped before anything ran`);
        return notRunResult(error, reason.kind === 'timeout' ? 'failed' : 'canceled');
      }
      if (error instanceof CnabError) return notRunResult(error, error.code === 'contact-lost' ? 'unknown' : 'failed');
      throw error;
    }
  }

  /** The same from where the process that began the run left off. */
  async resume(run: BegunRun, io: DriverIo): Promise<OperationResult> {
    const { namespace } = run.state;
    // Not even the intent to make a Job was saved.
    if (namespace === undefined) return absentResult(run, this.#options.clock.now());
    const teller = new ProgressTeller(io.onProgress);
    const hold = this.#holds.on(run.runId);
    const told: DriverIo = { ...io, signal: hold.over(io.signal), onProgress: (progress) => teller.tell(progress) };
    const state = new KeptState({ ...run.state, ...hold.state }, io.onState);
    const signal = leaving(told.signal);
    try {
      teller.tell({ phase: 'preparing' });
      const { api } = await this.#open(signal);
      const parts = { ...this.#shared(), hold, run, api, namespace, io: told, teller, state, signal };
      return await this.#seen(run, await takeUp(parts));
    } catch (error) {
      if (isAbort(error) && signal.aborted) return await this.#seen(run, goesOnResult({ started: false }, []));
      throw error;
    }
  }

  async hold(run: Pick<BegunRun, 'runId' | 'state'>, how: Parameters<Driver['hold']>[1]): Promise<void> {
    await this.#holds.take((await this.#open(how.signal)).api, run, how);
  }

  async find(installation: string, signal: AbortSignal): Promise<readonly FoundRun[]> {
    const { api, place } = await this.#open(signal);
    return findRuns(api, place.namespace, installation, signal);
  }

  async inputs(run: Pick<BegunRun, 'runId' | 'state'>, signal: AbortSignal): Promise<RunInputs> {
    const { api } = await this.#open(signal);
    const job = await readJob(api, placeOf(run), signal);
    if (job === undefined) throw goneError(run);
    return readInputs(api, job, signal);
  }

  async look(run: Parameters<Driver['look']>[0], signal: AbortSignal): Promise<RunSight> {
    const { api } = await this.#open(signal);
    const found = await findRun(api, placeOf(run), run.state, signal);
    if (found === undefined) return { phase: 'absent', detail: 'is not on the cluster' };
    return sightOf(found, api.serverNow, run.outputs);
  }

  async follow(
    run: Pick<BegunRun, 'runId' | 'state'>,
    io: Pick<DriverIo, 'signal' | 'onLog'>,
  ): Promise<{ readonly complete: boolean }> {
    const { api } = await this.#open(io.signal);
    const found = await findRun(api, placeOf(run), run.state, io.signal);
    if (found === undefined) throw goneError(run);
    return followLog(api, run.runId, found, io);
  }

  async watch(run: Pick<BegunRun, 'runId' | 'state'>, io: Pick<DriverIo, 'signal' | 'onProgress'>): Promise<RunEnd> {
    const { api } = await this.#open(io.signal);
    const found = await findRun(api, placeOf(run), run.state, io.signal);
    if (found === undefined) throw goneError(run);
    return watchRun(api, run.runId, found, io);
  }

  async release(run: Pick<BegunRun, 'runId' | 'state'>): Promise<readonly string[]> {
    const { clock, settings } = this.#options;
    const connect = async (signal: AbortSignal): Promise<KubernetesApi> => (await this.#open(signal)).api;
    const hasEnded = this.#ended.has(run.runId);
    const graceMs = settings.gracePeriodMs;
    return releaseRun(run, { clock, connect, hasEnded, graceMs, holds: this.#holds, held: this.#held });
  }

  async close(): Promise<void> {
    await Promise.all([this.#held.allSettled(), this.#holds.close()]);
    this.#connection?.close();
  }

  #seen(run: Pick<Operation, 'runId' | 'action'>, result: OperationResult): Promise<OperationResult> {
    if (result.status !== 'running' && result.keep !== true) this.#ended.add(run.runId);
    return this.#holds.after(run, result);
  }

  #shared(): Pick<TakeUpOptions, 'settings' | 'held' | 'freeBytes'> {
    const { settings, freeBytes = freeBytesOf } = this.#options;
    return { settings, held: this.#held, freeBytes };
  }

  #plan(operation: Operation, attempt: Attempt, way: Way): RunPlan {
    const { settings, annotationsOf } = this.#options;
    return planRun({ operation, settings, attempt, way, annotations: annotationsOf?.(operation) ?? {} });
  }

  async #open(signal: AbortSignal): Promise<Cluster> {
    const { settings, clock, connect } = this.#options;
    if (this.#cluster !== undefined) return this.#cluster;
    // Not kept when it fails: a later call may find a cluster.
    this.#connection ??= await connect(signal);
    this.#cluster = await openCluster(this.#connection, settings, clock, signal);
    return this.#cluster;
  }
}
