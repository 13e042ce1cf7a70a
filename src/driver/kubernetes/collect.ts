import type { V1Pod } from '@kubernetes/client-node';
import type { Assembler } from '../../frame/assemble.js';
import { messageOf } from '../../errors.js';
import type { KubernetesApi } from './api.js';
import { withinCleanUp } from './clean-up.js';
import { INVOCATION_CONTAINER } from './names.js';
import { isFinished, isTerminating, joined, sidecarStatus } from './pod-status.js';
import type { RunStreams } from './run-streams.js';
import type { RunView } from './run-view.js';
import { deletePod } from './stop.js';
import { until } from './until.js';

/** The kubelet signals the sidecar within a second of the invocation's end; an injected container keeps it from doing so. */
const INJECTED_MS = 5000;
/** The same without such a container: a node under load may take its time. */
const UNSIGNALLED_MS = 60_000;
/** What a pod held open by an injected container is deleted with: enough for a small dump. */
const RESCUE_GRACE_MS = 3000;
/** Silence of the bundle's log that is no longer waited out when everything else is there. */
const LOG_TAIL_MS = 30_000;
/** What the sidecar may take beyond its hold time before it is given up. */
const MARGIN_MS = 30_000;

export interface CollectOptions {
  readonly api: KubernetesApi;
  readonly view: RunView;
  readonly streams: RunStreams;
  readonly assembler: Assembler;
  readonly holdTimeMs: number;
  readonly signal: AbortSignal;
}

export interface Collected {
  /** Why outputs are missing, where that has one cause. */
  readonly reason?: string;
  /** The signal ended it. */
  readonly cut: boolean;
  readonly warnings: readonly string[];
}

/**
 * After the verdict: waits until the outputs are proven or lost and the bundle's log has ended. Never longer than the
 * sidecar can live.
 */
export async function collect(options: CollectOptions): Promise<Collected> {
  const { api, view, streams, assembler, signal } = options;
  const { clock } = api;
  const began = clock.now();
  const warnings: string[] = [];
  let rescued = false;
  let outputsAt: number | undefined;
  for (;;) {
    const next = await until(view, clock, signal, () => {
      const waited = clock.now() - began;
      if (outputsDone(streams, view)) outputsAt ??= clock.now();
      if (outputsAt !== undefined) {
        const silent = clock.now() - Math.max(outputsAt, streams.logTakenAt);
        if (logDone(streams, view) || silent >= LOG_TAIL_MS) return 'done';
      }
      if (!rescued && !assembler.mainEnded && outputsAt === undefined && waited >= patience(view.pod)) return 'rescue';
      return waited >= options.holdTimeMs + MARGIN_MS ? 'done' : undefined;
    });
    if (next !== 'rescue') {
      const reason = assembler.complete
        ? undefined
        : (sidecarReason(view) ?? streams.outputsReason ?? unfinished(next));
      return { ...(reason === undefined ? {} : { reason }), cut: next === undefined, warnings };
    }
    rescued = true;
    warnings.push(...(await rescue(api, view.pod)));
  }
}

/** A sidecar that never ran has no log to wait for, nor has a pod that is gone. */
function outputsDone(streams: RunStreams, view: RunView): boolean {
  if (streams.outputsDone) return true;
  const sidecar = view.pod === undefined ? undefined : sidecarStatus(view.pod);
  return !streams.outputsOpen && (view.podGone || sidecar?.state?.running === undefined);
}

/** A container that never ran has no log, and its status would have said so by now. */
function logDone(streams: RunStreams, view: RunView): boolean {
  return streams.logDone || (!streams.logOpen && (view.podGone || (view.pod !== undefined && isFinished(view.pod))));
}

function unfinished(next: 'done' | undefined): string {
  return next === 'done' ? 'the outputs sidecar did not end in its time' : 'the collection was cut short';
}

/** What the sidecar's own status says about an early end; undefined when it says nothing. */
function sidecarReason({ pod }: RunView): string | undefined {
  const state = pod === undefined ? undefined : sidecarStatus(pod)?.state;
  const { terminated, waiting } = state ?? {};
  if (terminated?.reason === 'OOMKilled') return 'the outputs sidecar was killed for want of memory (OOMKilled)';
  if (terminated !== undefined && terminated.exitCode !== 0) {
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

/** An injected container that goes on (a service mesh's proxy) keeps the pod from ending, and so the sidecar from being signalled. */
function patience(pod: V1Pod | undefined): number {
  const others = pod?.status?.containerStatuses?.filter(({ name }) => name !== INVOCATION_CONTAINER) ?? [];
  return others.some(({ state }) => state?.running !== undefined) ? INJECTED_MS : UNSIGNALLED_MS;
}

async function rescue(api: KubernetesApi, pod: V1Pod | undefined): Promise<string[]> {
  if (pod === undefined || isTerminating(pod)) return [];
  try {
    await withinCleanUp(api.clock, (signal) => deletePod(api, pod, RESCUE_GRACE_MS, signal));
    return [];
  } catch (error) {
    return [`the pod could not be made to end: ${messageOf(error)}`];
  }
}
