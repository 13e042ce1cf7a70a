import type { V1Pod } from '@kubernetes/client-node';
import type { Assembler } from '../../frame/assemble.js';
import type { KubernetesApi } from './api.js';
import { BundleLog } from './bundle-log.js';
import { LogReader, type LogSource } from './log-reader.js';
import { INVOCATION_CONTAINER, OUTPUTS_CONTAINER } from './names.js';
import { readOutputs } from './outputs-reader.js';
import { hasStarted, invocationStatus, isFinished, sidecarStatus } from './pod-status.js';
import type { RunView } from './run-view.js';

export interface RunStreamsOptions {
  readonly api: KubernetesApi;
  readonly view: RunView;
  readonly assembler: Assembler;
  readonly onLog: (chunk: Uint8Array) => void | Promise<void>;
  readonly onProgress: () => void;
}

type Stream<T> =
  { readonly state: 'idle' } | { readonly state: 'open' } | { readonly state: 'done'; readonly value: T };

/**
 * The two logs of a run, each opened as soon as its container has started: the sidecar's with the outputs, and the
 * bundle's own. Never rejects; what a reader threw is kept for `failure`.
 */
export class RunStreams {
  readonly #options: RunStreamsOptions;
  readonly #stop = new AbortController();
  readonly #sidecarEnded = new AbortController();
  readonly #invocationEnded = new AbortController();
  readonly #open: Promise<void>[] = [];
  readonly #forget: () => void;
  #outputs: Stream<string | undefined> = { state: 'idle' };
  #log: Stream<boolean> = { state: 'idle' };
  #logReader: LogReader | undefined;
  #logTakenAt = 0;
  #failure: { readonly thrown: unknown } | undefined;

  constructor(options: RunStreamsOptions) {
    this.#options = options;
    this.#forget = options.view.onChange(() => this.#look());
    this.#look();
  }

  /** What a collaborator threw (a disk that is full, a bug); undefined when all goes well. */
  get failure(): { readonly thrown: unknown } | undefined {
    return this.#failure;
  }

  /** The sidecar's log was read as far as it goes, or needs no reading any more. */
  get outputsDone(): boolean {
    return this.#outputs.state === 'done';
  }

  /** The sidecar's log is being read, or was. */
  get outputsOpen(): boolean {
    return this.#outputs.state !== 'idle';
  }

  /** Why the outputs are not complete; undefined when they are, or the reading has not ended. */
  get outputsReason(): string | undefined {
    return this.#outputs.state === 'done' ? this.#outputs.value : undefined;
  }

  /** The bundle's log is being read, or was. */
  get logOpen(): boolean {
    return this.#log.state !== 'idle';
  }

  get logDone(): boolean {
    return this.#log.state === 'done';
  }

  /** When a part of the bundle's log was last handed on; 0: never. */
  get logTakenAt(): number {
    return this.#logTakenAt;
  }

  /** Whether every byte of the bundle's log was handed on; false while it is still read. */
  get logComplete(): boolean {
    return this.#log.state === 'done' && this.#log.value;
  }

  /** Ends both readings. Idempotent. */
  async stop(): Promise<void> {
    this.#forget();
    this.#stop.abort();
    await Promise.all(this.#open);
  }

  #look(): void {
    const { view } = this.#options;
    const { pod } = view;
    if (pod === undefined) return;
    const over = view.podGone || isFinished(pod);
    const invocation = invocationStatus(pod);
    const sidecar = sidecarStatus(pod);
    const invocationOver = over || invocation?.state?.terminated !== undefined;
    if (invocationOver) this.#invocationEnded.abort();
    // Before the invocation has ended a sidecar that died is started again, and its log goes on.
    if (over || (invocationOver && sidecar?.state?.running === undefined)) this.#sidecarEnded.abort();
    if (this.#outputs.state === 'idle' && hasStarted(sidecar)) {
      this.#outputs = { state: 'open' };
      this.#run(this.#readOutputs(pod));
    }
    if (this.#log.state === 'idle' && hasStarted(invocation)) {
      this.#log = { state: 'open' };
      this.#run(this.#readLog(pod));
    }
  }

  #run(reading: Promise<void>): void {
    const { view } = this.#options;
    const kept = reading.catch((thrown: unknown) => {
      this.#failure ??= { thrown };
    });
    this.#open.push(kept.then(() => view.wake()));
  }

  async #readOutputs(pod: V1Pod): Promise<void> {
    const { api, assembler, onProgress } = this.#options;
    let value: string | undefined = 'the outputs could not be stored';
    try {
      value = await readOutputs({
        api,
        assembler,
        onProgress,
        // The bundle may rightly say nothing for hours, so only the sidecar's heartbeats tell that a way is dead.
        onSilence: () => this.#logReader?.reconnect("the sidecar's log was silent for too long"),
        source: sourceOf(pod, OUTPUTS_CONTAINER),
        signal: this.#stop.signal,
        ended: this.#sidecarEnded.signal,
      });
    } finally {
      this.#outputs = { state: 'done', value };
    }
  }

  async #readLog(pod: V1Pod): Promise<void> {
    const { api, onLog } = this.#options;
    const log = new BundleLog(onLog);
    let value = false;
    try {
      const reader = new LogReader(api, {
        source: sourceOf(pod, INVOCATION_CONTAINER),
        signal: this.#stop.signal,
        ended: this.#invocationEnded.signal,
        resume: 'exact',
        onBytes: async (chunk) => {
          await log.write(chunk);
          this.#logTakenAt = api.clock.now();
        },
        onGap: (reason) => log.mark(reason),
      });
      this.#logReader = reader;
      const end = await reader.run();
      value = end.kind === 'ended' && end.gaps === 0;
      // A pod that is gone was stopped or deleted; what came before is as whole as the log that it had.
      if (end.kind === 'failed') await log.mark(end.error?.message ?? 'it can no longer be read');
    } finally {
      this.#log = { state: 'done', value };
    }
  }
}

function sourceOf(pod: V1Pod, container: string): LogSource {
  return { namespace: pod.metadata?.namespace ?? '', pod: pod.metadata?.name ?? '', container };
}
