import type { CoreV1Event, V1Job, V1Pod } from '@kubernetes/client-node';
import type { KubernetesList } from './api-types.js';
import { hasStarted, invocationStatus } from './pod-status.js';
import type { PodHistory } from './pod-verdict.js';

/** Pods that may be seen between the Job's creation and the answer to it. */
const MAX_EARLY = 16;

/**
 * What is known of one run in the cluster, bound to the first pod of its Job by UID. Fed by a watch and a poll that may
 * tell the same thing twice or out of order; whoever waits is woken by every change.
 */
export class RunView {
  #pod: V1Pod | undefined;
  #podGone = false;
  #started = false;
  #neverScheduled = false;
  #jobGone = false;
  #jobFailure: string | undefined;
  #hadPod = false;
  #podEvents: readonly CoreV1Event[] = [];
  #jobEvents: readonly CoreV1Event[] = [];
  #jobUid: string | undefined;
  #early: V1Pod[] = [];
  readonly #others = new Map<string, string>();
  readonly #listeners = new Set<() => void>();

  /** From now on the pods of this Job count, and those that were seen before its UID was known. */
  bind(jobUid: string): void {
    this.#jobUid = jobUid;
    const early = this.#early;
    this.#early = [];
    for (const pod of early) this.seePod(pod);
  }

  get jobUid(): string | undefined {
    return this.#jobUid;
  }

  /** The run's pod, as last seen; it stays known when it is gone. */
  get pod(): V1Pod | undefined {
    return this.#pod;
  }

  get podGone(): boolean {
    return this.#podGone;
  }

  /** The pod is gone, and its last state had no node: nothing of it has run. */
  get neverScheduled(): boolean {
    return this.#neverScheduled;
  }

  /** The Job is not there any more, or is on its way out. */
  get jobGone(): boolean {
    return this.#jobGone;
  }

  /** `reason: message` of the Job's Failed condition. For sentences only: the verdict is the pod's. */
  get jobFailure(): string | undefined {
    return this.#jobFailure;
  }

  /** A pod of the Job has ended, or was known to another process, whether or not it is still there. */
  get hadPod(): boolean {
    return this.#hadPod;
  }

  get history(): PodHistory {
    return { started: this.#started };
  }

  get podEvents(): readonly CoreV1Event[] {
    return this.#podEvents;
  }

  get jobEvents(): readonly CoreV1Event[] {
    return this.#jobEvents;
  }

  /** Names of further pods of the Job: Kubernetes may start one twice, and they must never be mixed up. */
  get otherPods(): readonly string[] {
    return [...this.#others.values()];
  }

  /** One pod as a watch event or an answer shows it. */
  seePod(pod: V1Pod, deleted = false): void {
    const uid = pod.metadata?.uid;
    if (this.#jobUid === undefined) this.#early = [...this.#early, pod].slice(-MAX_EARLY);
    if (uid === undefined || !this.#isOurs(pod)) return;
    this.#pod ??= pod;
    if (uid !== this.#pod.metadata?.uid) {
      this.#others.set(uid, pod.metadata?.name ?? uid);
    } else {
      if (!isOlder(pod.metadata?.resourceVersion, this.#pod.metadata?.resourceVersion)) this.#pod = pod;
      this.#started ||= hasStarted(invocationStatus(pod));
      this.#podGone ||= deleted;
      // Only the deletion's own message is the last state; a pod that a list lacks may have got a node meanwhile.
      if (deleted && pod.spec !== undefined) this.#neverScheduled = !pod.spec.nodeName;
    }
    this.wake();
  }

  /**
   * All pods of the Job: a pod that was known and is not among them is gone. An answer can be overtaken by a watch that
   * tells of a pod made after it: a list says nothing of what is newer than itself.
   */
  seePods({ items, metadata }: KubernetesList<V1Pod>): void {
    for (const pod of items) this.seePod(pod);
    const known = this.#pod;
    const isListed = items.some((pod) => pod.metadata?.uid === known?.metadata?.uid);
    if (known !== undefined && !isListed && !isOlder(metadata.resourceVersion, known.metadata?.resourceVersion)) {
      this.#podGone = true;
    }
    this.wake();
  }

  /** Undefined: the Job is not there. */
  seeJob(job: V1Job | undefined): void {
    const { uid, deletionTimestamp } = job?.metadata ?? {};
    this.#jobGone = uid === undefined || uid !== this.#jobUid || deletionTimestamp !== undefined;
    // FailureTarget (1.31) comes at once, Failed only when the pods have ended.
    const failed = job?.status?.conditions?.find(
      ({ type, status }) => (type === 'Failed' || type === 'FailureTarget') && status === 'True',
    );
    if (failed !== undefined) this.#jobFailure = [failed.reason, failed.message].filter(Boolean).join(': ');
    this.#hadPod ||= hasCounted(job);
    this.wake();
  }

  /** Another process has seen a pod of this run. */
  rememberPod(): void {
    this.#hadPod = true;
    this.wake();
  }

  seeJobEvents(events: readonly CoreV1Event[]): void {
    this.#jobEvents = events;
    this.wake();
  }

  seePodEvents(events: readonly CoreV1Event[]): void {
    this.#podEvents = events;
    this.wake();
  }

  /** Calls back after every change until the returned function is called. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Something else that waiters look at has changed. */
  wake(): void {
    for (const listener of [...this.#listeners]) listener();
  }

  /** A Job that is deleted without its pod (`--cascade=orphan`) leaves one that names no owner: what was ours once stays so. */
  #isOurs(pod: V1Pod): boolean {
    if (pod.metadata?.uid === this.#pod?.metadata?.uid) return true;
    const owners = pod.metadata?.ownerReferences ?? [];
    return this.#jobUid !== undefined && owners.some((owner) => owner.uid === this.#jobUid);
  }
}

/** The Job's controller counts a pod when it has ended, and before that notes its UID. */
function hasCounted(job: V1Job | undefined): boolean {
  const { succeeded = 0, failed = 0, uncountedTerminatedPods: uncounted } = job?.status ?? {};
  return succeeded + failed + (uncounted?.succeeded?.length ?? 0) + (uncounted?.failed?.length ?? 0) > 0;
}

/** Resource versions are decimal numbers that grow (KEP-5504); where one is not, the newer message counts as newer. */
function isOlder(version = '', than = ''): boolean {
  if (!/^\d+$/.test(version) || !/^\d+$/.test(than)) return false;
  return BigInt(version) < BigInt(than);
}
