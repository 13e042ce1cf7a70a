import type { Assembler } from '../../frame/assemble.js';
import { formatBytes } from '../../frame/problem.js';
import { joined, sidecarStatus } from './pod-status.js';
import type { RunView } from './run-view.js';

/** What is known about outputs that did not arrive. */
export interface MissingOutputs {
  readonly view: RunView;
  /** The sidecar keeps them until it is told that they have arrived. */
  readonly isHeld: boolean;
  readonly assembler: Pick<Assembler, 'shortage'>;
  /** Milliseconds since 1970, by the cluster's clock. */
  readonly heldUntil: number;
  /** Why what comes by exec did not. */
  readonly transfer: string | undefined;
  /** Why the sidecar's log did not bring more. */
  readonly log: string | undefined;
  /** Somebody stopped waiting. */
  readonly isCut: boolean;
}

/** The one cause, as a clause. Pure. */
export function outputsReason({ view, isHeld, assembler, heldUntil, transfer, log, isCut }: MissingOutputs): string {
  const { shortage } = assembler;
  if (shortage !== undefined) {
    const { needed, free } = shortage;
    return `they need ${formatBytes(needed)} more on the disk of this machine, and ${formatBytes(free)} are free`;
  }
  if (view.jobGone) return `its Job is gone: ${TAKEN}, or somebody deleted it`;
  if (isHeld && isLetGo(view)) return `the outputs sidecar was let go by a process that had them all: ${LET_GO}`;
  const early = sidecarReason(view, heldUntil);
  if (early !== undefined) return early;
  if (isCut) return 'the collection was cut short';
  return transfer ?? log ?? 'the outputs sidecar did not end in its time';
}

const TAKEN = 'another process has taken the run up, and has them';
/** It tells the sidecar once they are on its disk. */
const LET_GO = 'another one that has taken the run up, or an earlier one whose folder of the run is gone';

/** Only one that is told so ends well before its time; who tells it has all. */
function isLetGo({ pod }: RunView): boolean {
  return pod !== undefined && sidecarStatus(pod)?.state?.terminated?.exitCode === 0;
}

/** A sidecar that is killed for its time ends within seconds of it. */
const KILL_MS = 15_000;

/** What the sidecar's own status says about an early end; undefined when it says nothing. */
function sidecarReason({ pod }: RunView, heldUntil: number): string | undefined {
  const state = pod === undefined ? undefined : sidecarStatus(pod)?.state;
  const { terminated, waiting } = state ?? {};
  if (terminated?.reason === 'OOMKilled') return 'the outputs sidecar was killed for want of memory (OOMKilled)';
  if (terminated !== undefined && terminated.exitCode !== 0) {
    const at = Date.parse(String(terminated.finishedAt));
    if (terminated.exitCode === 137 && Math.abs(at - heldUntil) <= KILL_MS) {
      return 'the time was over for which the pod holds its outputs (--hold-time)';
    }
    return joined(
      `the outputs sidecar ended with exit code ${terminated.exitCode}`,
      terminated.reason,
      terminated.message,
    );
  }
  if (waiting !== undefined)
    return joined('the outputs sidecar was not running when the bundle ended', waiting.reason, waiting.message);
  return undefined;
}
