import { MINIMUM_GRACE_MS } from './kubelet-settings.js';
import { fieldPathOf, type PodContainer, type PodNode, type PodState } from './pod-node.js';
import type { RunningContainer } from './container-runtime.js';

/** SIGTERM, and SIGKILL when the grace period (at least 2 s) is over. Resolves when the container has ended. */
export async function stopContainer(node: PodNode, container: RunningContainer, graceMs: number): Promise<void> {
  const over = new AbortController();
  container.kill('SIGTERM');
  const killed = node.clock.sleep(Math.max(graceMs, MINIMUM_GRACE_MS), over.signal).then(
    () => container.kill('SIGKILL'),
    () => undefined,
  );
  await container.exited;
  over.abort();
  await killed;
}

/**
 * Stops all containers of a pod. The regular ones get SIGTERM at once; then the sidecars, last one first, each with what
 * is left of the same grace period (KEP-753). Nothing can shorten or lengthen it any more.
 */
export async function stopPod(node: PodNode, state: PodState, graceMs: number): Promise<void> {
  const begin = node.clock.now();
  const left = (): number => graceMs - (node.clock.now() - begin);
  const stop = async (record: PodContainer): Promise<void> => {
    if (record.process) await stopContainer(node, record.process, left());
  };
  for (const record of state.containers) {
    if (!record.process) continue;
    const message = `Stopping container ${record.container.name}`;
    node.events.record(state.pod, { reason: 'Killing', message, fieldPath: fieldPathOf(record) });
  }
  await Promise.all(state.containers.filter((record) => record.role !== 'sidecar').map(stop));
  for (const record of state.containers.filter(({ role }) => role === 'sidecar').reverse()) await stop(record);
}
