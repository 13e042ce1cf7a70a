import type { Clock } from '../../clock.js';
import type { EventRecorder } from './event-recorder.js';
import type { Pod } from './pod-objects.js';
import type { ObjectStore } from './object-store.js';
import { condition } from './pod-status.js';

/**
 * Binds every new pod to the one node, but those that `refuse` has a sentence for. Returns how to end it.
 */
export function schedulePods(
  store: ObjectStore,
  clock: Clock,
  events: EventRecorder,
  nodeName: string,
  refuse: (pod: Pod) => string | undefined,
): () => void {
  return store.listen(({ resource, type, object }) => {
    if (resource !== 'pods' || type !== 'ADDED') return;
    const pod = object as Pod;
    if (pod.spec.nodeName !== undefined) return;
    const { namespace, name } = pod.metadata;
    const refusal = refuse(pod);
    if (refusal === undefined) {
      store.update('pods', namespace, name, (current) => ({
        ...current,
        spec: { ...current.spec, nodeName },
        status: { ...current.status, conditions: [condition(undefined, 'PodScheduled', ['True'], clock.now())] },
      }));
      const message = `Successfully assigned ${namespace}/${name} to ${nodeName}`;
      events.record(pod, { reason: 'Scheduled', message, action: 'Binding' });
    } else {
      const draft = ['False', 'Unschedulable', refusal] as const;
      store.update('pods', namespace, name, (current) => ({
        ...current,
        status: { ...current.status, conditions: [condition(undefined, 'PodScheduled', draft, clock.now())] },
      }));
      const action = 'Scheduling';
      events.record(pod, { type: 'Warning', reason: 'FailedScheduling', message: refusal, action });
    }
  });
}
