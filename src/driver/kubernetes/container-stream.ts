import type { V1ContainerStatus, V1Pod } from '@kubernetes/client-node';
import type { LogSource } from './log-reader.js';
import { hasStarted, isFinished } from './pod-status.js';
import type { RunView } from './run-view.js';

export interface ContainerStreamOptions<T> {
  readonly view: RunView;
  readonly container: string;
  readonly statusOf: (pod: V1Pod) => V1ContainerStatus | undefined;
  /** The container has ended for good, though the pod has not. */
  readonly isOver: (pod: V1Pod) => boolean;
  /** Reads until `signal`, or until the log is at its end once `ended` is aborted. */
  readonly read: (source: LogSource, signals: StreamSignals) => Promise<T>;
  /** What became of it where `read` rejects. */
  readonly otherwise: T;
}

export interface StreamSignals {
  readonly signal: AbortSignal;
  readonly ended: AbortSignal;
}

/**
 * The log of one container, opened as soon as the container has started. Never rejects; what its reader threw is kept
 * for `failure`.
 */
export class ContainerStream<T> {
  readonly #options: ContainerStreamOptions<T>;
  readonly #stop = new AbortController();
  readonly #ended = new AbortController();
  readonly #forget: () => void;
  #reading: Promise<void> | undefined;
  #value: { readonly is: T } | undefined;
  #failure: { readonly thrown: unknown } | undefined;

  constructor(options: ContainerStreamOptions<T>) {
    this.#options = options;
    this.#forget = options.view.onChange(() => this.#look());
    this.#look();
  }

  /** It is being read, or was. */
  get isOpen(): boolean {
    return this.#reading !== undefined;
  }

  get isDone(): boolean {
    return this.#value !== undefined;
  }

  /** How the reading ended; undefined while it goes on. */
  get value(): T | undefined {
    return this.#value?.is;
  }

  /** What a collaborator threw (a disk that is full, a bug); undefined when all goes well. */
  get failure(): { readonly thrown: unknown } | undefined {
    return this.#failure;
  }

  /** Nothing more is waited for: what is there now is read to its end. */
  finish(): void {
    this.#ended.abort();
  }

  /** Ends the reading. Idempotent. */
  async stop(): Promise<void> {
    this.#forget();
    this.#stop.abort();
    await this.#reading;
  }

  #look(): void {
    const { view, statusOf, isOver } = this.#options;
    const { pod } = view;
    if (pod === undefined) return;
    if (view.podGone || isFinished(pod) || isOver(pod)) this.#ended.abort();
    if (this.#reading === undefined && hasStarted(statusOf(pod))) this.#reading = this.#read(pod);
  }

  async #read(pod: V1Pod): Promise<void> {
    const { read, container, view, otherwise } = this.#options;
    const { namespace = '', name = '' } = pod.metadata ?? {};
    let value = otherwise;
    try {
      const signals = { signal: this.#stop.signal, ended: this.#ended.signal };
      value = await read({ namespace, pod: name, container }, signals);
    } catch (thrown) {
      this.#failure = { thrown };
    }
    this.#value = { is: value };
    view.wake();
  }
}
