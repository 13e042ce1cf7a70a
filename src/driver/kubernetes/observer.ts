import type { CoreV1Event, V1Job, V1Pod } from '@kubernetes/client-node';
import type { KubernetesApi } from './api.js';
import { AbortError, isAbort, isNotFound, KubernetesError } from './kubernetes-error.js';
import { LABEL } from './names.js';
import { Outage } from './outage.js';
import { hasStarted, invocationStatus } from './pod-status.js';
import { resource } from './resources.js';
import type { RunView } from './run-view.js';
import { watchList } from './watch.js';

/** How long a run goes on without a word from the API server before its outcome counts as unknown. */
const CONTACT_PATIENCE_MS = 5 * 60_000;
const RETRY_MS = 2000;
const FIRST_POLL_MS = 500;
/** Events tell why nothing starts, so they are asked for often until it has. */
const STARTING_POLL_MS = 1000;
/** A watch can be dead without a sign (a load balancer that forgot it). */
const RUNNING_POLL_MS = 10_000;

export interface ObserverOptions {
  readonly api: KubernetesApi;
  readonly namespace: string;
  readonly runId: string;
  readonly job: string;
  readonly view: RunView;
  readonly onTrouble: (sentence: string) => void;
}

/**
 * Feeds a RunView: a watch on the pods that carry the run's label, and a poll beside it. The watch is opened before the
 * Job exists, so it misses nothing, and a user who may not list pods is told before anything is created.
 */
export class Observer {
  readonly #options: ObserverOptions;
  readonly #stop = new AbortController();
  #running: Promise<unknown> = Promise.resolve();
  #lost: KubernetesError | undefined;
  /** For how long the watch has been refused, and the poll as well. */
  readonly #refused = new Outage();
  #bug: { readonly thrown: unknown } | undefined;

  constructor(options: ObserverOptions) {
    this.#options = options;
  }

  /** Set when the API server was silent for too long, or refused for so long. */
  get lost(): KubernetesError | undefined {
    // What is thrown here is no refusal of the cluster's; it reaches the user as our bug.
    if (this.#bug !== undefined) throw this.#bug.thrown;
    return this.#lost;
  }

  /** Resolves when the pods were listed once; the signal counts until then. Rejects with KubernetesError when that is refused. */
  async start(signal: AbortSignal): Promise<void> {
    const onAbort = (): void => this.#stop.abort(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    if (signal.aborted) onAbort();
    await new Promise<void>((resolve, reject) => {
      const watching = this.#watch(resolve).catch((error: unknown) => reject(error as Error));
      this.#running = Promise.all([watching, this.#poll()]);
    }).finally(() => signal.removeEventListener('abort', onAbort));
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  async #watch(onListed: () => void): Promise<void> {
    const { api, namespace, view, onTrouble } = this.#options;
    const { signal } = this.#stop;
    let listed = false;
    while (!signal.aborted) {
      try {
        const pods = watchList<V1Pod>(api, resource.pods(namespace), {
          ...this.#selection(),
          patienceMs: CONTACT_PATIENCE_MS,
          onTrouble: (error, forMs) => {
            if (forMs > RETRY_MS)
              onTrouble(`no contact with the cluster for ${Math.round(forMs / 1000)} s: ${error.message}`);
          },
        });
        for await (const event of pods) {
          this.#refused.end();
          if (event.type === 'LISTED') view.seePods(event.list);
          else view.seePod(event.object, event.type === 'DELETED');
          if (!listed) onListed();
          listed = true;
        }
        break;
      } catch (error) {
        if (!listed) throw error;
        if (!(error instanceof KubernetesError)) return this.#fail(error);
        // 401 in the middle of a run: somebody may log in again, and the watch goes on.
        const refusedMs = error.transient ? Infinity : this.#refused.fail(api.clock.now());
        if (refusedMs >= CONTACT_PATIENCE_MS) {
          this.#lost = error;
          view.wake();
          return;
        }
        onTrouble(error.message);
        await api.clock.sleep(RETRY_MS, signal).catch(() => undefined);
      }
    }
    if (!listed) throw new AbortError(signal.reason);
  }

  async #poll(): Promise<void> {
    const { api } = this.#options;
    const { signal } = this.#stop;
    let pause = FIRST_POLL_MS;
    while (!signal.aborted) {
      try {
        await api.clock.sleep(pause, signal);
        await this.#look();
      } catch (error) {
        if (isAbort(error)) return;
        // The watch judges the contact; a poll that is refused (events may be forbidden) is one that says nothing.
        if (!(error instanceof KubernetesError)) return this.#fail(error);
      }
      pause = hasStarted(this.#invocation()) ? RUNNING_POLL_MS : STARTING_POLL_MS;
    }
  }

  async #look(): Promise<void> {
    const { api, namespace, job, view } = this.#options;
    const { signal } = this.#stop;
    const jobUid = view.jobUid;
    if (jobUid === undefined) return;
    const once = { signal, attempts: 1 };
    const pods = await api.list<V1Pod>(resource.pods(namespace), { ...this.#selection(), attempts: 1 });
    // Where watching is forbidden and listing is not, the poll carries the run.
    this.#refused.end();
    view.seePods(pods);
    if (hasStarted(this.#invocation())) return;
    const pod = view.pod?.metadata?.uid;
    if (pod === undefined) {
      const found = await api
        .get<V1Job>(resource.job(namespace, job), { doing: `read job ${job}`, ...once })
        .catch(absent);
      view.seeJob(found);
    }
    const query = { fieldSelector: `involvedObject.uid=${pod ?? jobUid}` };
    const events = await api.list<CoreV1Event>(resource.events(namespace), {
      doing: `read the events of job ${job}`,
      query,
      ...once,
    });
    if (pod === undefined) view.seeJobEvents(events.items);
    else view.seePodEvents(events.items);
  }

  #invocation(): ReturnType<typeof invocationStatus> {
    const { pod } = this.#options.view;
    return pod === undefined ? undefined : invocationStatus(pod);
  }

  #selection(): { doing: string; query: { labelSelector: string }; signal: AbortSignal } {
    const { namespace, runId } = this.#options;
    const query = { labelSelector: `${LABEL.run}=${runId}` };
    return { doing: `watch the pods of the run in namespace ${namespace}`, query, signal: this.#stop.signal };
  }

  #fail(thrown: unknown): void {
    this.#bug = { thrown };
    this.#options.view.wake();
  }
}

function absent(error: unknown): undefined {
  if (isNotFound(error)) return undefined;
  throw error;
}
