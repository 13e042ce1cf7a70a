import { createHash } from 'node:crypto';
import type { Clock } from '../../clock.js';
import type { ClusterEvent, KubernetesObject } from './objects.js';
import { timestamp } from './objects.js';
import type { ObjectStore } from './object-store.js';

export interface EventText {
  readonly type?: 'Normal' | 'Warning';
  readonly reason: string;
  readonly message: string;
  /** `spec.containers{invocation}`. */
  readonly fieldPath?: string;
  /** Makes it an Event of events.k8s.io, as the scheduler writes them: no count, no first and last time. */
  readonly action?: string;
}

/** Writes Events about objects; the same words again raise the count of the Event that is there. */
export class EventRecorder {
  constructor(
    private readonly store: ObjectStore,
    private readonly clock: Clock,
    private readonly component: string,
    private readonly host?: string,
  ) {}

  record(about: KubernetesObject, text: EventText): void {
    const { name, uid, namespace = 'default', resourceVersion } = about.metadata;
    const { type = 'Normal', reason, message, fieldPath, action } = text;
    const key = JSON.stringify([this.component, uid, type, reason, message, fieldPath]);
    const id = createHash('sha256').update(key).digest('hex').slice(0, 16);
    const now = timestamp(this.clock.now());
    const eventName = `${name}.${id}`;
    const again = this.store.update('events', namespace, eventName, (event) => ({
      ...event,
      ...(event.count === undefined ? {} : { count: event.count + 1, lastTimestamp: now }),
    }));
    if (again) return;
    const event: Omit<ClusterEvent, 'metadata'> = {
      kind: 'Event',
      apiVersion: 'v1',
      involvedObject: {
        kind: about.kind,
        namespace,
        name,
        uid,
        apiVersion: about.apiVersion,
        resourceVersion,
        ...(fieldPath === undefined ? {} : { fieldPath }),
      },
      reason,
      message,
      type,
      reportingComponent: this.component,
      reportingInstance: this.host ?? '',
      ...(action === undefined ? this.#counted(now) : this.#timed(action)),
    };
    this.store.create('events', { ...event, metadata: { name: eventName, namespace } });
  }

  #counted(now: string): Pick<ClusterEvent, 'source' | 'firstTimestamp' | 'lastTimestamp' | 'count' | 'eventTime'> {
    const source = { component: this.component, ...(this.host === undefined ? {} : { host: this.host }) };
    return { source, firstTimestamp: now, lastTimestamp: now, count: 1, eventTime: null };
  }

  #timed(action: string): Pick<ClusterEvent, 'source' | 'firstTimestamp' | 'lastTimestamp' | 'eventTime' | 'action'> {
    const eventTime = new Date(this.clock.now()).toISOString().replace('Z', '000Z');
    return { source: {}, firstTimestamp: null, lastTimestamp: null, eventTime, action };
  }
}
