import { isDeepStrictEqual } from 'node:util';
import type { Clock } from '../../clock.js';
import { messageOf } from '../../../errors.js';
import { deleteObject } from './deletion.js';
import type { EventRecorder } from './event-recorder.js';
import { withoutFinalizer } from './garbage-collector.js';
import { finalOf, isFinished, jobStatus, tally, targetOf, TRACKING } from './job-status.js';
import { randomSuffix } from './object-names.js';
import { timestamp, type Job, type JobStatus } from './objects.js';
import type { Pod } from './pod-objects.js';
import type { Draft, ObjectStore } from './object-store.js';

export type CreatePod = (draft: Draft<Pod>) => Pod;

const FIRST_RETRY_MS = 1000;
const MAX_RETRY_MS = 360_000;

/** Makes the pods of Jobs, counts how they end and says how the Job ends; and deletes it when its time to live is over. */
export class JobController {
  readonly #closed = new AbortController();
  readonly #due = new Set<string>();
  readonly #retries = new Map<string, number>();
  readonly #timers = new Set<string>();
  readonly #stopListening: () => void;

  /** `createPod` throws an ApiError when the pod is not admitted. */
  constructor(
    private readonly store: ObjectStore,
    private readonly clock: Clock,
    private readonly events: EventRecorder,
    private readonly createPod: CreatePod,
    private readonly onBug: (error: unknown) => void,
  ) {
    this.#stopListening = store.listen(({ resource, object, type }) => {
      if (resource === 'jobs') {
        if (type === 'DELETED') this.#letGo(object as Job);
        else this.#enqueue(object.metadata.namespace ?? '', object.metadata.name);
      } else if (resource === 'pods') {
        const owner = object.metadata.ownerReferences?.find(({ controller, kind }) => controller && kind === 'Job');
        if (owner) this.#enqueue(object.metadata.namespace ?? '', owner.name);
      }
    });
  }

  close(): void {
    this.#closed.abort();
    this.#stopListening();
  }

  #enqueue(namespace: string, name: string): void {
    const key = `${namespace}/${name}`;
    if (this.#due.has(key)) return;
    this.#due.add(key);
    setImmediate(() => {
      this.#due.delete(key);
      const job = this.store.get('jobs', namespace, name);
      if (!job || this.#closed.signal.aborted) return;
      try {
        this.#sync(job);
      } catch (error) {
        this.onBug(error);
      }
    });
  }

  #after(ms: number, job: Job, what: string, act: () => void): void {
    const key = `${job.metadata.uid} ${what}`;
    if (this.#timers.has(key)) return;
    this.#timers.add(key);
    void this.clock.sleep(ms, this.#closed.signal).then(
      () => {
        this.#timers.delete(key);
        act();
      },
      () => undefined,
    );
  }

  #podsOf(job: Job): Pod[] {
    const owned = (pod: Pod): boolean =>
      pod.metadata.ownerReferences?.some(({ uid }) => uid === job.metadata.uid) ?? false;
    return this.store.list('pods', job.metadata.namespace).filter(owned);
  }

  /** The Job is gone: its pods need not be counted any more. */
  #letGo(job: Job): void {
    for (const pod of this.store.list('pods', job.metadata.namespace)) {
      const mine = pod.metadata.labels?.['batch.kubernetes.io/controller-uid'] === job.metadata.uid;
      if (mine) this.#release(pod);
    }
  }

  #release({ metadata }: Pod): void {
    this.store.update('pods', metadata.namespace, metadata.name, (pod) =>
      pod.metadata.uid === metadata.uid ? withoutFinalizer(pod, TRACKING) : pod,
    );
  }

  #setStatus(job: Job, change: Partial<JobStatus>): Job {
    const { namespace, name } = job.metadata;
    const next = this.store.update('jobs', namespace, name, (current) => {
      const status = jobStatus(current, change);
      return isDeepStrictEqual(status, current.status) ? current : { ...current, status };
    });
    return next ?? job;
  }

  #sync(found: Job): void {
    let job = found;
    const pods = this.#podsOf(job);
    if (isFinished(job) || job.metadata.deletionTimestamp !== undefined) {
      for (const pod of pods) this.#release(pod);
      if (isFinished(job)) this.#expire(job);
      return;
    }
    const now = this.clock.now();
    if (job.status.startTime === undefined) this.#watchDeadline(job);
    const { active, ready, terminating, uncounted, ended } = tally(pods);
    const counts = {
      succeeded: (job.status.succeeded ?? 0) + ended.succeeded.length,
      failed: (job.status.failed ?? 0) + ended.failed.length,
    };
    const target = targetOf(job, counts, now);
    if (target && active.length > 0) {
      for (const pod of active) this.#deletePod(job, pod);
      return;
    }
    const common = { active: active.length, ready, terminating, ...(target ? { conditions: [target] } : {}) };
    if (uncounted.length > 0) {
      const { succeeded, failed } = ended;
      const uncountedTerminatedPods = { ...(succeeded[0] ? { succeeded } : {}), ...(failed[0] ? { failed } : {}) };
      this.#setStatus(job, { ...common, uncountedTerminatedPods });
      for (const pod of uncounted) this.#release(pod);
    }
    const { parallelism, completions } = job.spec;
    const wanted = !target && active.length < parallelism && counts.succeeded + active.length < completions;
    const made = wanted && this.#makePod(job) ? 1 : 0;
    const startTime = job.status.startTime ?? timestamp(now);
    const counted = uncounted.length > 0 ? { uncountedTerminatedPods: {} } : {};
    job = this.#setStatus(job, { ...common, ...counts, ...counted, startTime, active: active.length + made });
    if (target && terminating === 0) this.#finish(job, target);
  }

  #finish(job: Job, target: NonNullable<ReturnType<typeof targetOf>>): void {
    const now = this.clock.now();
    const final = finalOf(target, now);
    const completed = final.type === 'Complete';
    this.#setStatus(job, {
      conditions: [target, final],
      ...(completed ? { completionTime: timestamp(now) } : {}),
    });
    if (completed) this.events.record(job, { reason: 'Completed', message: 'Job completed' });
    else this.events.record(job, { type: 'Warning', reason: final.reason ?? '', message: final.message ?? '' });
  }

  #deletePod(job: Job, pod: Pod): void {
    deleteObject(this.store, this.clock, 'pods', pod, {});
    const message = `Deleted pod: ${pod.metadata.name}`;
    this.events.record(job, { reason: 'SuccessfulDelete', message });
  }

  /** True when it was made; otherwise it is tried again after a pause. */
  #makePod(job: Job): boolean {
    const { namespace = '', name, uid } = job.metadata;
    if (this.#timers.has(`${uid} pod`)) return false;
    try {
      const pod = this.createPod(podDraft(job));
      this.#retries.delete(uid);
      this.events.record(job, { reason: 'SuccessfulCreate', message: `Created pod: ${pod.metadata.name}` });
      return true;
    } catch (error) {
      const message = `Error creating: ${messageOf(error)}`;
      this.events.record(job, { type: 'Warning', reason: 'FailedCreate', message });
      const delay = this.#retries.get(uid) ?? FIRST_RETRY_MS;
      this.#retries.set(uid, Math.min(delay * 2, MAX_RETRY_MS));
      this.#after(delay, job, 'pod', () => this.#enqueue(namespace, name));
      return false;
    }
  }

  #watchDeadline(job: Job): void {
    const { namespace = '', name } = job.metadata;
    const { activeDeadlineSeconds: deadline } = job.spec;
    if (deadline !== undefined) this.#after(deadline * 1000, job, 'deadline', () => this.#enqueue(namespace, name));
  }

  /** ttlSecondsAfterFinished, in the foreground as the TTL controller does it. */
  #expire(job: Job): void {
    const { ttlSecondsAfterFinished: ttl } = job.spec;
    if (ttl === undefined) return;
    this.#after(ttl * 1000, job, 'ttl', () => {
      const { namespace, name, uid } = job.metadata;
      const current = this.store.get('jobs', namespace, name);
      if (current?.metadata.uid !== uid) return;
      deleteObject(this.store, this.clock, 'jobs', current, { propagationPolicy: 'Foreground' });
    });
  }
}

function podDraft(job: Job): Draft<Pod> {
  const { name, namespace = '', uid } = job.metadata;
  const { metadata = {}, spec } = job.spec.template;
  const owner = { apiVersion: 'batch/v1', kind: 'Job', name, uid, controller: true, blockOwnerDeletion: true };
  return {
    kind: 'Pod',
    apiVersion: 'v1',
    metadata: {
      ...metadata,
      name: `${name.slice(0, 57)}-${randomSuffix()}`,
      generateName: `${name.slice(0, 57)}-`,
      namespace,
      generation: 1,
      finalizers: [TRACKING],
      ownerReferences: [owner],
    },
    spec: spec,
    status: { phase: 'Pending', qosClass: 'BestEffort' },
  };
}
