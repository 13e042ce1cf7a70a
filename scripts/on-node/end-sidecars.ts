import type { Case } from '../../test/cluster/case.js';
import { eventually } from '../../test/cluster/eventually.js';
import { ownNode } from '../../test/cluster/node.js';

/**
 * Kills the sidecars of runs that are over, and waits until their pods are gone: what comes next is not to share the node with them. By
 * the log a sidecar makes its three passes also when nobody wants them any more, five minutes for 256 MiB, and nothing that the API
 * offers shortens that. Rejects where a pod stays for a minute.
 */
export async function endSidecars({ api, namespace }: Case): Promise<void> {
  await eventually('the pods of the runs are gone', 60, async () => {
    const pods = await api.pods(namespace);
    const ofRuns = pods.filter(({ metadata }) => metadata?.name?.startsWith('cnab-'));
    const containers = ofRuns.flatMap(({ status }) => [
      ...(status?.initContainerStatuses ?? []),
      ...(status?.containerStatuses ?? []),
    ]);
    for (const { containerID, state } of containers) {
      if (containerID !== undefined && state?.running !== undefined) await killIfThere(containerID);
    }
    return ofRuns.length === 0;
  });
}

/** The status is some seconds behind: its control group may be gone already. */
async function killIfThere(containerId: string): Promise<void> {
  const node = ownNode();
  const there = (await node?.cgroups(containerId, 'pids'))?.length;
  if (node !== undefined && there !== undefined && there > 0) await node.killContainer(containerId);
}
