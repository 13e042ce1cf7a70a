import type { ContainerLog } from './container-log.js';
import { timestamp } from './objects.js';
import type { Pod } from './pod-objects.js';
import type { Change } from './object-store.js';
import type { PodNode } from './pod-node.js';
import { PodWorker } from './pod-worker.js';

/** The node: a worker for every pod that was bound to it, its logs, and the end of deleted pods. */
export class Kubelet {
  readonly #workers = new Map<string, PodWorker>();
  readonly #stopListening: () => void;

  constructor(private readonly node: PodNode) {
    this.#stopListening = node.store.listen((change) => this.#hear(change));
  }

  /** The log that `pods/log` reads; undefined when there is none (any more). */
  log(pod: Pod, container: string, previous: boolean): ContainerLog | undefined {
    const record = this.#workers.get(pod.metadata.uid)?.container(container);
    return previous ? record?.previousLog : record?.log;
  }

  worker(uid: string): PodWorker | undefined {
    return this.#workers.get(uid);
  }

  /** Kills everything at once and resolves when nothing runs any more. */
  async close(): Promise<void> {
    this.#stopListening();
    const workers = [...this.#workers.values()];
    for (const worker of workers) {
      worker.stop(0);
      for (const record of worker.state.containers) record.process?.kill('SIGKILL');
    }
    await Promise.all(workers.map((worker) => worker.done.catch(() => undefined)));
    for (const worker of workers) worker.remove();
    this.#workers.clear();
  }

  #hear({ resource, type, object }: Change): void {
    if (resource === 'secrets' && type === 'ADDED') {
      for (const worker of this.#workers.values()) {
        if (worker.state.pod.metadata.namespace === object.metadata.namespace) worker.secretArrived();
      }
    }
    if (resource !== 'pods') return;
    const pod = object as Pod;
    const { uid, deletionTimestamp, deletionGracePeriodSeconds } = pod.metadata;
    const worker = this.#workers.get(uid);
    if (type === 'DELETED') {
      // A forced deletion removes the object while containers run: they get the least grace there is.
      worker?.stop(1000);
      void worker?.done.catch(() => undefined).then(() => this.#forget(uid));
    } else if (worker) {
      if (deletionTimestamp !== undefined) worker.stop((deletionGracePeriodSeconds ?? 0) * 1000);
      if (deletionTimestamp !== undefined)
        void worker.done.then(
          () => this.#finishDeletion(uid),
          () => undefined,
        );
    } else if (pod.spec.nodeName === this.node.settings.nodeName && deletionTimestamp === undefined) {
      const started = new PodWorker(this.node, pod);
      this.#workers.set(uid, started);
      started.done.catch(this.node.onBug);
    }
  }

  #forget(uid: string): void {
    this.#workers.get(uid)?.remove();
    this.#workers.delete(uid);
  }

  /** Nothing runs any more: deletes the object for good, as the kubelet does with a grace period of 0. */
  #finishDeletion(uid: string): void {
    const pod = this.#workers.get(uid)?.state.pod;
    if (!pod) return;
    const { namespace, name } = pod.metadata;
    this.node.store.update('pods', namespace, name, (current) => {
      const { metadata } = current;
      if (metadata.uid !== uid || metadata.deletionGracePeriodSeconds === 0) return current;
      const deletionTimestamp = timestamp(this.node.clock.now());
      return { ...current, metadata: { ...metadata, deletionTimestamp, deletionGracePeriodSeconds: 0 } };
    });
  }
}
