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

/** Passes on what is new: a run is looked at many times a second, and most of the time it stands where it stood. */
export class ProgressTeller {
  #last = '';

  constructor(private readonly onProgress: (progress: Progress) => void) {}

  tell(progress: Progress): void {
    const { phase, detail, receivedBytes, totalBytes } = progress;
    const now = JSON.stringify([phase, detail, receivedBytes, totalBytes]);
    if (now === this.#last) return;
    this.#last = now;
    this.onProgress(progress);
  }
}

export function collecting(assembler: Assembler): Progress {
  const { receivedBytes, totalBytes } = assembler;
  return { phase: 'collecting', receivedBytes, ...(totalBytes === undefined ? {} : { totalBytes }) };
}
