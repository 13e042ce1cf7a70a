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
  RunInputs,
  RunSight,
} from '../driver.js';
import type { DriverSettings } from '../settings.js';
import { checkOperation } from './check.js';
import { removeJob } from './clean-up.js';
import { openCluster, type Cluster } from './cluster.js';
import type { Connection } from './connection.js';
import { environmentWarnings } from './environment.js';
import { JobRun } from './job-run.js';
import { isAbort } from './kubernetes-error.js';
import { jobName } from './names.js';
import { Observer } from './observer.js';
import { planRun, previewRun, type Attempt, type RunPlan } from './plan.js';
import { ProgressTeller } from './progress.js';
import { checkRights } from './rights.js';
import type { JobReference } from './resources.js';
import { notRunResult, stopError, stopReasonOf } from './result.js';
import { RunView } from './run-view.js';
import { submit } from './submit.js';
import { kubernetesTarget } from './target.js';
import { asksForExec, chooseWay, expectedWay } from './way.js';

export interface KubernetesDriverOptions {
  readonly settings: DriverSettings;
  /** Called once, when the cluster is first needed. */
  readonly connect: (signal: AbortSignal) => Promise<Connection>;
  readonly clock: Clock;
  /** Further annotations of Job and pod. */
  readonly annotationsOf?: (operation: Operation) => Readonly<Record<string, string>>;
}

/** Runs an operation as one Kubernetes Job and brings its outputs back through the log of a sidecar. */
export class KubernetesDriver implements Driver {
  readonly #options: KubernetesDriverOptions;
  #connection: Connection | undefined;
  #cluster: Cluster | undefined;

  constructor(options: KubernetesDriverOptions) {
    this.#options = options;
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
    try {
      this.check(operation);
      teller.tell({ phase: 'preparing' });
      const cluster = await this.#open(io.signal);
      const first = await this.#attempt(operation, io, teller, cluster, {
        number: 1,
        restricted: cluster.place.restricted,
      });
      if (first !== 'restricted') return first;
      const second = await this.#attempt(operation, io, teller, cluster, { number: 2, restricted: true });
      if (second !== 'restricted') return second;
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

  resume(_run: BegunRun, _io: DriverIo): Promise<OperationResult> {
    throw new Error('resume: in the making');
  }

  find(_installation: string, _signal: AbortSignal): Promise<readonly FoundRun[]> {
    throw new Error('find: in the making');
  }

  inputs(_run: Pick<BegunRun, 'runId' | 'state'>, _signal: AbortSignal): Promise<RunInputs> {
    throw new Error('inputs: in the making');
  }

  follow(
    _run: Pick<BegunRun, 'runId' | 'state'>,
    _io: Pick<DriverIo, 'signal' | 'onLog'>,
  ): Promise<{ complete: boolean }> {
    throw new Error('follow: in the making');
  }

  look(_run: Pick<BegunRun, 'runId' | 'state'>, _signal: AbortSignal): Promise<RunSight> {
    throw new Error('look: in the making');
  }

  /** Without the Job's UID in its state nothing of the run was ever made, or `run` has removed it. */
  async release({ state: { namespace, job, jobUid } }: Pick<BegunRun, 'runId' | 'state'>): Promise<readonly string[]> {
    if (namespace === undefined || job === undefined || jobUid === undefined) return [];
    const { clock } = this.#options;
    const reference = { namespace, name: job, uid: jobUid };
    return removeJob(clock, reference, async (signal) => (await this.#open(signal)).api);
  }

  close(): Promise<void> {
    this.#connection?.close();
    return Promise.resolve();
  }

  /** One Job from its plan to its result. Rejects only where nothing has run and nothing is left. */
  async #attempt(
    operation: Operation,
    io: DriverIo,
    teller: ProgressTeller,
    { api, place }: Cluster,
    attempt: Attempt,
  ): Promise<OperationResult | 'restricted'> {
    const { settings } = this.#options;
    const { namespace } = place;
    const name = jobName(operation, attempt.number);
    const view = new RunView();
    const observer = new Observer({
      api,
      namespace,
      runId: operation.runId,
      job: name,
      view,
      onTrouble: teller.trouble,
    });
    try {
      const rights = checkRights(api, namespace, asksForExec(operation, settings), io.signal);
      const [watched, allowed] = await Promise.allSettled([observer.start(io.signal), rights]);
      // All that is lacking in one sentence, rather than the one thing that the watch ran into.
      for (const part of [allowed, watched]) if (part.status === 'rejected') throw part.reason;
      const { user } = api.connection;
      const { mayExec } = await rights;
      const way = chooseWay(operation, settings, { mayExec, namespace, ...(user === undefined ? {} : { user }) });
      const plan = this.#plan(operation, attempt, way);
      await io.onState({ namespace, job: name });
      const onPosted = ({ uid }: JobReference): Promise<void> => io.onState({ namespace, job: name, jobUid: uid });
      const submitted = await submit({ api, namespace, plan, view, signal: io.signal, onPosted });
      const warnings = environmentWarnings(operation.environment);
      const told: DriverIo = { ...io, onProgress: (progress) => teller.tell(progress) };
      const run = new JobRun({ api, operation, settings, way, io: told, job: submitted, view, observer, warnings });
      return await run.toTheEnd(attempt.restricted);
    } finally {
      await observer.stop();
    }
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
