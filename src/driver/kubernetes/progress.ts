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
    detail: waitingFor(view) ?? (pod === undefined ? 'for the pod' : 'for the pod to start'),
  };
}

export function collecting(assembler: Assembler): Progress {
  const { receivedBytes, totalBytes } = assembler;
  return { phase: 'collecting', receivedBytes, ...(totalBytes === undefined ? {} : { totalBytes }) };
}
