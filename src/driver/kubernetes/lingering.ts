import type { V1Pod } from '@kubernetes/client-node';
import type { Assembler } from '../../frame/assemble.js';
import { deliveryOf, type Way } from '../../frame/delivery.js';
import { INVOCATION_CONTAINER, OUTPUTS_CONTAINER } from './names.js';
import { isFinished, isRunning, isTerminating, sidecarStatus } from './pod-status.js';
import type { RunView } from './run-view.js';

/**
 * The pod of a run of which nothing more is wanted would not end by itself within a second or two: another container runs
 * beside ours, or the sidecar holds what nobody will fetch, or sends it once more.
 */
export function lingers(
  view: RunView,
  assembler: Pick<Assembler, 'manifest' | 'complete'>,
  way: Way,
): view is RunView & { readonly pod: V1Pod } {
  const { pod, podGone } = view;
  if (pod === undefined || podGone || isFinished(pod) || isTerminating(pod)) return false;
  if (othersRun(pod)) return true;
  if (!isRunning(sidecarStatus(pod))) return false;
  const { manifest, complete } = assembler;
  return !complete || (manifest !== undefined && deliveryOf(manifest, way).passes > 1);
}

function othersRun({ status }: V1Pod): boolean {
  const all = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])];
  return all.some(
    ({ name, state }) => name !== INVOCATION_CONTAINER && name !== OUTPUTS_CONTAINER && state?.running !== undefined,
  );
}
