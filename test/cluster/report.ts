import type { V1ContainerStatus, V1Pod } from '@kubernetes/client-node';
import type { Api } from './api.js';

/** Pods, events and the last lines of every log in a namespace, as text. Never rejects. */
export async function reportNamespace(api: Api, namespace: string): Promise<string> {
  try {
    const [pods, jobs, events] = await Promise.all([api.pods(namespace), api.jobs(namespace), api.events(namespace)]);
    const logs = await Promise.all(pods.map((pod) => reportPod(api, namespace, pod)));
    return [
      `--- namespace ${namespace}: ${jobs.length} jobs, ${pods.length} pods`,
      ...logs,
      '--- events:',
      ...events.map(
        ({ reason, message, involvedObject, count }) =>
          `${involvedObject.kind ?? ''} ${involvedObject.name ?? ''}: ${reason ?? ''} ${message ?? ''} (${count ?? 1})`,
      ),
    ].join('\n');
  } catch (error) {
    return `--- namespace ${namespace} cannot be looked at: ${String(error)}`;
  }
}

async function reportPod(api: Api, namespace: string, pod: V1Pod): Promise<string> {
  const name = pod.metadata?.name ?? '';
  const { phase, reason, message, initContainerStatuses = [], containerStatuses = [] } = pod.status ?? {};
  const lines = [`pod ${name}: ${[phase, reason, message].filter(Boolean).join(', ')}`];
  for (const status of [...initContainerStatuses, ...containerStatuses]) {
    lines.push(`  ${status.name}: ${stateText(status)}`);
    lines.push((await api.log(namespace, name, status.name)).replace(/^/gm, '    | ').slice(0, 4000));
  }
  return lines.join('\n');
}

function stateText({ state, lastState, restartCount }: V1ContainerStatus): string {
  const last =
    lastState === undefined || Object.keys(lastState).length === 0 ? '' : `, before: ${JSON.stringify(lastState)}`;
  return `${JSON.stringify(state)}${last}, ${restartCount} restarts`;
}
