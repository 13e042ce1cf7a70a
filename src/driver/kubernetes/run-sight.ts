import type { RunSight, WantedOutput } from '../driver.js';
import { decide, waitingFor } from './decision.js';
import { checkWanted, factsOf } from './job-facts.js';
import { hasStarted, invocationStatus, isTerminating } from './pod-status.js';
import type { FoundObjects } from './run-objects.js';
import type { RunView } from './run-view.js';

/**
 * How a run stands whose Job or pod is there, from one look at it. Pure; `clusterNow` as in `DecisionTimes`. Throws CnabError
 * `unavailable` where it was made for other outputs than `outputs`.
 */
export function sightOf(
  { view, spec, job }: FoundObjects,
  clusterNow: number | undefined,
  outputs?: readonly WantedOutput[],
): RunSight {
  if (outputs !== undefined) checkWanted(factsOf(spec, job.name), outputs, job.name);
  const { pod } = view;
  // No start time-out: whoever runs it judges that.
  const decision = decide(view, { now: 0, clusterNow, posted: 0, startTimeoutMs: 0 });
  if (decision?.kind === 'verdict') {
    const { exitCode, problem } = decision.outcome;
    if (exitCode !== undefined) return { phase: 'ended', exitCode, detail: `has ended with exit code ${exitCode}` };
    return {
      phase: 'ended',
      detail: `has ended without an exit code: ${problem?.message ?? 'the cluster gives no reason'}`,
    };
  }
  if (decision !== undefined) return { phase: 'waiting', detail: `cannot start: ${decision.message}` };
  if (pod === undefined) return { phase: 'waiting', detail: `is waiting for its pod${why(view)}` };
  const where = `in pod ${pod.metadata?.name}`;
  if (isTerminating(pod)) return { phase: 'running', detail: `is being stopped ${where}` };
  if (hasStarted(invocationStatus(pod))) return { phase: 'running', detail: `is running ${where}` };
  return { phase: 'waiting', detail: `is starting ${where}${why(view)}` };
}

function why(view: RunView): string {
  const reason = waitingFor(view);
  return reason === undefined ? '' : `: ${reason}`;
}
