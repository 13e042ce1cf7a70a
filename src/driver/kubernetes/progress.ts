import type { Assembler } from '../../frame/assemble.js';
import type { Progress } from '../driver.js';
import { waitingFor } from './decision.js';
import { hasStarted, invocationStatus } from './pod-status.js';
import type { RunView } from './run-view.js';

/** What to tell people about a run that has no verdict yet. Pure. */
export function progressOf(view: RunView): Progress {
  const { pod } = view;
  if (pod !== undefined && hasStarted(invocationStatus(pod))) return { phase: 'running' };
  return {
    phase: 'waiting',
    detail: waitingFor(view) ?? pulling(view) ?? (pod === undefined ? 'for the pod' : 'for the pod to start'),
  };
}

export function collecting(assembler: Assembler): Progress {
  const { receivedBytes, totalBytes } = assembler;
  return { phase: 'collecting', receivedBytes, ...(totalBytes === undefined ? {} : { totalBytes }) };
}

/** The kubelet says so in events only: `Pulling image "…"`, and later `Successfully pulled image "…" in …`. */
function pulling(view: RunView): string | undefined {
  const pulls = view.podEvents.filter(({ reason }) => reason === 'Pulling' || reason === 'Pulled');
  const pulled = pulls.filter(({ reason }) => reason === 'Pulled').length;
  const [last] = pulls.filter(({ reason }) => reason === 'Pulling').slice(-1);
  return pulls.length > pulled * 2 || pulled === 0 ? last?.message?.replace(/^Pulling/, 'pulling') : undefined;
}
