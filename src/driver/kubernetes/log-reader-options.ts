import type { KubernetesError } from './kubernetes-error.js';
import type { LogSource } from './log-request.js';

export interface LogReaderOptions {
  readonly source: LogSource;
  /** The consumer has what it wants, or the run is stopped: ends promptly with `stopped`. */
  readonly signal: AbortSignal;
  /**
   * Aborted when the pod's status says that the container has terminated, or will never start: from then on the end
   * of the stream is the end of the log. (A clean end alone proves nothing.)
   */
  readonly ended: AbortSignal;
  /**
   * `exact`: nothing twice, nothing lost, or a gap is told (the bundle's log).
   * `overlap`: begins a second before what `onBytes` last gave a promise for, at the start of a line; the consumer drops what it
   * has, and timestamps (frames).
   */
  readonly resume: 'exact' | 'overlap';
  /** Silence after which the connection is taken for dead; absent: silence is normal. */
  readonly idleMs?: number;
  /** Silence after the container's end that is waited out while it is followed; default 150 ms. */
  readonly drainMs?: number;
  /** Gives up when the container has ended and it could not be read for so long, or was refused for so long; default 5 minutes. */
  readonly patienceMs?: number;
  /** The same log was read before: what refuses it now may let it be read again. */
  readonly again?: boolean;
  /** Raw bytes in order, with `exact` timestamps removed. Awaited. A promise: nothing up to here is needed again. */
  readonly onBytes: (chunk: Uint8Array) => void | undefined | Promise<void>;
  /** Between two calls of onBytes: something may be missing here. Awaited. Only with `exact`. */
  readonly onGap?: (reason: string) => void | Promise<void>;
  readonly onEvent?: (event: LogReaderEvent) => void;
}

export type LogReaderEvent =
  | { readonly kind: 'connected' }
  /** Why the connection ended or could not be made; it is tried again after `pauseMs`. `silent`: nothing came for too long. */
  | { readonly kind: 'interrupted'; readonly reason: string; readonly pauseMs: number; readonly silent?: true }
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
