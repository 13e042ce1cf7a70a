import type { V1Pod } from '@kubernetes/client-node';
import type { Assembler } from '../../frame/assemble.js';
import { deliveryOf, type Way } from '../../frame/delivery.js';
import type { KubernetesApi } from './api.js';
import { lookAtJob } from './deletion-cause.js';
import { FruitlessReading } from './fruitless.js';
import { INVOCATION_CONTAINER } from './names.js';
import { outputsReason } from './outputs-reason.js';
import { isFinished, isRunning, sidecarStatus } from './pod-status.js';
import { holds } from './progress.js';
import { Rescue } from './rescue.js';
import type { JobReference } from './resources.js';
import type { RunStreams } from './run-streams.js';
import type { RunView } from './run-view.js';
import { until } from './until.js';

/** The kubelet signals the sidecar within a second of the invocation's end; an injected container keeps it from doing so. */
const INJECTED_MS = 5000;
/** The same without such a container: a node under load may take its time. */
const UNSIGNALLED_MS = 60_000;
/** The sidecar was heard so short a time ago that its word would have come. */
const HEARD_MS = 45_000;
/** Silence of the bundle's log that is no longer waited out when everything else is there. */
const LOG_TAIL_MS = 30_000;
/** What the sidecar may take beyond its hold time, and a last reading of its log, before they are given up. */
const MARGIN_MS = 30_000;

export interface CollectOptions {
  readonly api: KubernetesApi;
  readonly job: JobReference;
  readonly view: RunView;
  readonly streams: RunStreams;
  readonly assembler: Assembler;
  readonly way: Way;
  /** Milliseconds since 1970: until then the sidecar has what it was not yet asked for. */
  readonly heldUntil: number;
  readonly signal: AbortSignal;
}

export interface Collected {
  /** Why outputs are missing, where that has one cause. */
  readonly outputsReason?: string;
  /** The signal ended it before everything was there. */
  readonly cut: boolean;
  /** What is missing can be fetched by a later process; `until` where that has an end that is known. */
  readonly outstanding?: { readonly until?: number };
  readonly warnings: readonly string[];
}

/**
 * After the verdict: waits until the outputs are proven or lost and the bundle's log has ended. Never longer than the
 * sidecar can live, unless bytes still come.
 */
export function collect(options: CollectOptions): Promise<Collected> {
  return new Collection(options).run();
}

class Collection {
  readonly #options: CollectOptions;
  readonly #began: number;
  readonly #rescue: Rescue;
  #outputsAt: number | undefined;
  #lastReadingAt: number | undefined;
  readonly #reading: FruitlessReading;

  constructor(options: CollectOptions) {
    this.#options = options;
    this.#began = options.api.clock.now();
    this.#reading = new FruitlessReading(this.#began);
    this.#rescue = new Rescue(options);
  }

  async run(): Promise<Collected> {
    const { api, job, view, streams, signal } = this.#options;
    for (;;) {
      const next = await until(view, api.clock, signal, () => this.#next());
      switch (next) {
        case 'rescue':
          if (view.pod !== undefined) await this.#rescue.attempt(view.pod);
          break;
        case 'read-once-more':
          this.#lastReadingAt = api.clock.now();
          streams.outputs.finish();
          break;
        default:
          await streams.stop();
          // Whether somebody else has settled the run, which no watch tells. Who leaves or stops may be killed a moment later,
          // and the reason is known then.
          if (next !== undefined && !this.#options.assembler.complete) await lookAtJob(api, job, view);
          return this.#collected(next === undefined);
      }
    }
  }

  #next(): 'rescue' | 'read-once-more' | 'done' | undefined {
    const { api, view, streams, assembler } = this.#options;
    const now = api.clock.now();
    // Nobody else does where the log says nothing any more.
    streams.transfer.look();
    this.#reading.look(now, streams.heardAt, assembler.receivedBytes);
    if (this.#outputsOver()) {
      this.#outputsAt ??= now;
      const silent = streams.log.isTaking ? 0 : now - Math.max(this.#outputsAt, streams.log.takenAt);
      return logDone(streams, view) || silent >= LOG_TAIL_MS ? 'done' : undefined;
    }
    if (this.#isUnsignalled(now) && this.#rescue.isDue(now)) return 'rescue';
    const due = Math.max(this.#options.heldUntil, this.#reading.newAt) + MARGIN_MS;
    if (!this.#sidecarRuns() && this.#reading.isOver) return 'done';
    if (now < due) return undefined;
    if (this.#lastReadingAt === undefined) return 'read-once-more';
    return now - this.#lastReadingAt >= MARGIN_MS ? 'done' : undefined;
  }

  /** Nothing more will come, or is wanted. */
  #outputsOver(): boolean {
    const { streams, assembler, view } = this.#options;
    if (assembler.complete || assembler.shortage !== undefined) return true;
    const { state } = streams.transfer;
    if (state === 'open') return false;
    if (streams.outputs.isDone) return !this.#bringsRest();
    // All has come and a file is another one than was announced: nothing makes it whole, and the sidecar holds on.
    const hasTried = state !== 'idle' && assembler.manifest !== undefined && !assembler.needsSalt;
    if (hasTried && assembler.missing().length === 0) return true;
    // A sidecar that never ran has no log to wait for, nor has a pod that is gone.
    if (!streams.outputs.isOpen && (view.podGone || !this.#sidecarRuns())) return true;
    return state === 'given-up' && assembler.whole(this.#byLogInstead());
  }

  /** The log brings no more, and what it should have brought can still be fetched beside the rest. */
  #bringsRest(): boolean {
    const { streams, assembler } = this.#options;
    if (streams.transfer.state !== 'done' || streams.outputs.failure !== undefined) return false;
    return this.#sidecarRuns() && assembler.missing().length > 0;
  }

  #sidecarRuns(): boolean {
    const { pod, podGone } = this.#options.view;
    return pod !== undefined && !podGone && isRunning(sidecarStatus(pod));
  }

  /** What the sidecar sends by its log when it has not heard of an exec for long enough: as in `sidecar.sh`, what fits. */
  #byLogInstead(): readonly number[] {
    const { assembler, way } = this.#options;
    let room = way.maxLogBytes;
    return (assembler.manifest?.entries ?? []).flatMap((entry) => {
      if (entry.kind !== 'file' || entry.size > room) return [];
      room -= entry.size;
      return [entry.index];
    });
  }

  #isUnsignalled(now: number): boolean {
    const { view, streams, assembler } = this.#options;
    if (view.pod === undefined || assembler.mainEnded) return false;
    const waited = now - this.#began;
    if (hasInjected(view.pod)) return waited >= INJECTED_MS;
    // Where the connection is dead the sidecar may well have said that it was signalled.
    return waited >= UNSIGNALLED_MS && now - streams.heardAt < HEARD_MS;
  }

  #collected(isCut: boolean): Collected {
    const { api, assembler, view, streams, heldUntil, way } = this.#options;
    const { manifest, complete, shortage } = assembler;
    const delivery = manifest === undefined ? undefined : deliveryOf(manifest, way);
    const isHeld = delivery !== undefined && holds(delivery);
    const isDisk = streams.outputs.failure !== undefined || streams.transfer.failure !== undefined;
    const isUnread = streams.outputs.value?.isUnread === true;
    const base = { cut: isCut && !complete, warnings: complete ? [] : this.#rescue.warnings };
    if (complete) return base;
    const reason = outputsReason({
      view,
      // What comes by the log alone is not held for anybody: its sidecar ends by itself.
      isHeld: delivery !== undefined && delivery.byExec.length > 0,
      assembler,
      heldUntil: heldUntil + (api.serverAhead ?? 0),
      transfer: streams.transfer.reason,
      log: streams.outputs.value?.reason,
      isCut,
    });
    // A small dump stays in the log as long as the pod is there; all else goes with the sidecar.
    const isReadable = isCut || isDisk || isUnread || shortage !== undefined;
    const isThere = this.#sidecarRuns() || (!isHeld && !view.podGone && isReadable);
    if (!isThere || assembler.isSpent) return { ...base, outputsReason: reason };
    return { ...base, outputsReason: reason, outstanding: isHeld ? { until: heldUntil } : {} };
  }
}

/** A container that never ran has no log, and its status would have said so by now. */
function logDone({ log }: RunStreams, { pod, podGone }: RunView): boolean {
  return log.isDone || (!log.isOpen && (podGone || (pod !== undefined && isFinished(pod))));
}

/** A container that goes on beside ours (a service mesh's proxy) keeps the pod from ending, and so the sidecar from being signalled. */
function hasInjected(pod: V1Pod | undefined): boolean {
  const others = pod?.status?.containerStatuses?.filter(({ name }) => name !== INVOCATION_CONTAINER) ?? [];
  return others.some(({ state }) => state?.running !== undefined);
}
