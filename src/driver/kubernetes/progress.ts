import type { Assembler } from '../../frame/assemble.js';
import { deliveryOf, type Delivery, type Way } from '../../frame/delivery.js';
import type { Progress, WantedOutput } from '../driver.js';
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

const ORDER: readonly Progress['phase'][] = ['preparing', 'waiting', 'running', 'collecting', 'cleaning-up'];

/**
 * Passes on what is new and no step back: a run is looked at many times a second, most of the time it stands where it
 * stood, and what is seen late (a change of the pod while it is removed) is over.
 */
export class ProgressTeller {
  #last = '';
  #phase: Progress['phase'] = 'preparing';

  constructor(private readonly onProgress: (progress: Progress) => void) {}

  tell(progress: Progress): void {
    const { phase, detail, receivedBytes, totalBytes, output, heldUntil } = progress;
    const now = JSON.stringify([phase, detail, receivedBytes, totalBytes, output, heldUntil]);
    if (now === this.#last || ORDER.indexOf(phase) < ORDER.indexOf(this.#phase)) return;
    this.#last = now;
    this.#phase = phase;
    this.onProgress(progress);
  }

  /** What is amiss at the phase that is reached. */
  readonly trouble = (detail: string): void => this.tell({ phase: this.#phase, detail });
}

/** `heldUntil` is told where the outputs go with the sidecar: what is small stays in the log as long as the pod is there. */
export function collecting(
  assembler: Assembler,
  outputs: readonly WantedOutput[],
  way: Way,
  heldUntil: number,
): Progress {
  const { receivedBytes, totalBytes, arriving, manifest, complete } = assembler;
  const output = arriving === undefined ? undefined : outputs[arriving]?.name;
  const isHeld = manifest !== undefined && !complete && holds(deliveryOf(manifest, way));
  return {
    phase: 'collecting',
    receivedBytes,
    ...(totalBytes === undefined ? {} : { totalBytes }),
    ...(output === undefined ? {} : { output }),
    ...(isHeld ? { heldUntil } : {}),
  };
}

/** What is delivered so can be had only while the sidecar lives. */
export function holds({ byExec, passes }: Delivery): boolean {
  return byExec.length > 0 || passes > 1;
}
