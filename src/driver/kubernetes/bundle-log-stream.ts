import type { KubernetesApi } from './api.js';
import { BundleLog } from './bundle-log.js';
import { ContainerStream } from './container-stream.js';
import { LogReader } from './log-reader.js';
import { INVOCATION_CONTAINER } from './names.js';
import { invocationStatus } from './pod-status.js';
import type { RunView } from './run-view.js';

export interface BundleLogStreamOptions {
  readonly api: KubernetesApi;
  readonly view: RunView;
  readonly onLog: (chunk: Uint8Array) => void | Promise<void>;
}

/** The bundle's own log, from its beginning; a line of ours stands where a part of it may be missing. */
export class BundleLogStream {
  readonly #stream: ContainerStream<boolean>;
  #reader: LogReader | undefined;
  #takenAt = 0;
  #isTaking = false;

  constructor({ api, view, onLog }: BundleLogStreamOptions) {
    this.#stream = new ContainerStream({
      view,
      container: INVOCATION_CONTAINER,
      statusOf: invocationStatus,
      isOver: (pod) => invocationStatus(pod)?.state?.terminated !== undefined,
      otherwise: false,
      read: async (source, signals) => {
        const log = new BundleLog(onLog);
        const reader = new LogReader(api, {
          source,
          ...signals,
          resume: 'exact',
          onBytes: async (chunk) => {
            this.#isTaking = true;
            try {
              await log.write(chunk);
            } finally {
              this.#isTaking = false;
            }
            this.#takenAt = api.clock.now();
          },
          onGap: (reason) => log.mark(reason),
        });
        this.#reader = reader;
        const end = await reader.run();
        // A pod that is gone was stopped or deleted; what came before is as whole as the log that it had.
        if (end.kind === 'failed') await log.mark(end.error?.message ?? 'it can no longer be read');
        return end.kind === 'ended' && end.gaps === 0;
      },
    });
  }

  get isOpen(): boolean {
    return this.#stream.isOpen;
  }

  get isDone(): boolean {
    return this.#stream.isDone;
  }

  /** When a part of it was last handed on, in milliseconds since 1970; 0: never. */
  get takenAt(): number {
    return this.#takenAt;
  }

  /** A part of it is being handed on: whoever takes it is slow (a paused screen), and the cluster is not silent. */
  get isTaking(): boolean {
    return this.#isTaking;
  }

  /** Every byte of it was handed on; false while it is still read. */
  get isComplete(): boolean {
    return this.#stream.value === true;
  }

  get failure(): { readonly thrown: unknown } | undefined {
    return this.#stream.failure;
  }

  /** Evidence from elsewhere that its connection is dead. */
  reconnect(reason: string): void {
    this.#reader?.reconnect(reason);
  }

  stop(): Promise<void> {
    return this.#stream.stop();
  }
}
