import { CnabError } from '../../errors.js';
import type { Assembler } from '../../frame/assemble.js';
import type { Way } from '../../frame/delivery.js';
import type { KubernetesApi } from './api.js';
import { BundleLogStream } from './bundle-log-stream.js';
import { ContainerStream } from './container-stream.js';
import { fetchFrom, type FetchOutputs } from './fetch-outputs.js';
import type { LogSource } from './log-request.js';
import { OUTPUTS_CONTAINER } from './names.js';
import { readOutputs, type OutputsEnd } from './outputs-reader.js';
import { invocationStatus, isRunning, sidecarStatus } from './pod-status.js';
import type { RunView } from './run-view.js';
import { Transfer } from './transfer.js';

export interface RunStreamsOptions {
  readonly api: KubernetesApi;
  readonly view: RunView;
  readonly assembler: Assembler;
  readonly way: Way;
  readonly onLog: (chunk: Uint8Array) => void | Promise<void>;
  readonly onProgress: () => void;
  /** See `TransferOptions`. */
  readonly onComplete: (source: LogSource) => void;
}

/** All that comes from the pod of a run: the bundle's own log, the sidecar's with the outputs, and what goes by exec. */
export class RunStreams {
  #heardAt = 0;
  readonly log: BundleLogStream;
  readonly outputs: ContainerStream<OutputsEnd>;
  readonly transfer: Transfer;

  constructor({ onLog, ...options }: RunStreamsOptions) {
    const { api, view, assembler, onProgress } = options;
    const from = (source: LogSource): FetchOutputs => fetchFrom(api, source, assembler);
    this.transfer = new Transfer({ ...options, clock: api.clock, from });
    this.log = new BundleLogStream({ api, view, onLog });
    this.outputs = new ContainerStream({
      view,
      container: OUTPUTS_CONTAINER,
      statusOf: sidecarStatus,
      // Before the invocation has ended a sidecar that died is started again, and its log goes on.
      isOver: (pod) => invocationStatus(pod)?.state?.terminated !== undefined && !isRunning(sidecarStatus(pod)),
      otherwise: { reason: 'the outputs could not be stored' },
      read: (source, signals) =>
        readOutputs({
          api,
          assembler,
          source,
          ...signals,
          onHeard: () => (this.#heardAt = api.clock.now()),
          onProgress: () => {
            this.transfer.look();
            onProgress();
          },
          // The bundle may rightly say nothing for hours, so only the sidecar's heartbeats tell that a way is dead.
          onSilence: () => this.log.reconnect("the sidecar's log was silent for too long"),
        }),
    });
  }

  /** When the sidecar last said something, in milliseconds since 1970; 0: never. */
  get heardAt(): number {
    return this.#heardAt;
  }

  /** What a collaborator threw (a disk that is full, a bug); undefined when all goes well. A bug before what is told to users. */
  get failure(): { readonly thrown: unknown } | undefined {
    const failures = [this.outputs.failure, this.transfer.failure, this.log.failure].filter(
      (each) => each !== undefined,
    );
    return failures.find(({ thrown }) => !(thrown instanceof CnabError)) ?? failures[0];
  }

  /** Ends all of it. Idempotent. */
  async stop(): Promise<void> {
    await Promise.all([this.log.stop(), this.outputs.stop(), this.transfer.stop()]);
  }
}
