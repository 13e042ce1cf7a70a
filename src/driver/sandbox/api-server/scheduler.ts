import { arch } from 'node:os';
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
    const refusal = refuse(pod) ?? noFit(pod, nodeName);
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

function noFit(pod: Pod, nodeName: string): string | undefined {
  const labels: Readonly<Record<string, string>> = {
    'kubernetes.io/arch': arch() === 'x64' ? 'amd64' : arch(),
    'kubernetes.io/hostname': nodeName,
    'kubernetes.io/os': 'linux',
  };
  if (Object.entries(pod.spec.nodeSelector ?? {}).every(([key, value]) => labels[key] === value)) return undefined;
  const why = "0/1 nodes are available: 1 node(s) didn't match Pod's node affinity/selector.";
  return `${why} preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling.`;
}
