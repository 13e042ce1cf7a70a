import type { KubernetesApi } from './api.js';
import type { KubernetesError } from './kubernetes-error.js';

export interface LogSource {
  readonly namespace: string;
  readonly pod: string;
  readonly container: string;
}

export interface LogReaderOptions {
  readonly source: LogSource;
  /** The consumer has what it wants, or the run is stopped: ends promptly with `stopped`. */
  readonly signal: AbortSignal;
  /** Aborted when the pod's status says that the container has terminated, or will never start: the next end of the stream is the end. */
  readonly ended: AbortSignal;
  /**
   * `exact`: nothing twice, nothing lost, or a gap is told (the bundle's log).
   * `overlap`: begins a few seconds earlier, at the start of a line; the consumer drops what it has (frames).
   */
  readonly resume: 'exact' | 'overlap';
  /** Silence after which the connection is taken for dead; absent: silence is normal. */
  readonly idleMs?: number;
  /** Gives up after so long without contact; default 5 minutes. */
  readonly patienceMs?: number;
  /** Raw bytes in order, timestamps removed. Awaited. */
  readonly onBytes: (chunk: Uint8Array) => void | Promise<void>;
  /** Between two calls of onBytes: something may be missing here. Awaited. */
  readonly onGap?: (reason: string) => void | Promise<void>;
  readonly onEvent?: (event: LogReaderEvent) => void;
}

export type LogReaderEvent =
  | { readonly kind: 'connected' }
  /** Why the connection ended or could not be made; it is tried again after `pauseMs`. */
  | { readonly kind: 'interrupted'; readonly reason: string; readonly pauseMs: number }
  /** The container has not started, or the pod has no node yet. */
  | { readonly kind: 'waiting'; readonly reason: string };

export interface LogEnd {
  /** `ended`: the container has terminated and its log was read to the end. `gone`: the pod is no longer there. */
  readonly kind: 'ended' | 'gone' | 'stopped' | 'failed';
  /** For `gone` and `failed`. */
  readonly error?: KubernetesError;
  /** Number of places where something may be missing. */
  readonly gaps: number;
  /** Bytes given to onBytes. */
  readonly bytes: number;
  /** Connections that were made. */
  readonly connections: number;
}

/** Follows the log of one container over broken connections. */
export declare class LogReader {
  constructor(api: KubernetesApi, options: LogReaderOptions);
  /** Resolves with how it ended; rejects only with what onBytes or onGap threw, or for a bug. */
  run(): Promise<LogEnd>;
  /** Evidence from elsewhere that the connection is dead: cuts it and resumes. */
  reconnect(reason: string): void;
}

export interface ReadLogOptions {
  readonly signal: AbortSignal;
  readonly onBytes: (chunk: Uint8Array) => void | Promise<void>;
  /** Of the container before its last restart. */
  readonly previous?: boolean;
}

/**
 * One whole reading of the log file as it is now, without following; raw bytes, nothing removed. Tried again from its
 * start after trouble, so a consumer sees bytes twice. Rejects with KubernetesError.
 */
export declare function readLog(api: KubernetesApi, source: LogSource, options: ReadLogOptions): Promise<void>;
