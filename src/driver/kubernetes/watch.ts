import type { KubernetesApi } from './api.js';
import type { Query } from './api-path.js';
import type { KubernetesError } from './kubernetes-error.js';

export interface WatchedObject {
  readonly metadata?: {
    readonly uid?: string;
    readonly name?: string;
    readonly namespace?: string;
    readonly resourceVersion?: string;
  };
}

export type WatchEvent<T> =
  | { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly object: T }
  /** After each (re-)list, behind its own events: all that there is now. The first one tells that an object is absent. */
  | { readonly type: 'LISTED'; readonly objects: readonly T[] };

export interface WatchOptions {
  /** For messages, an infinitive: `watch the pods of job app-x`. */
  readonly doing: string;
  readonly signal: AbortSignal;
  /** `labelSelector`, `fieldSelector`. */
  readonly query?: Query;
  /** Told about each broken attempt; `forMs` is how long there has been no contact. */
  readonly onTrouble?: (error: KubernetesError, forMs: number) => void;
  /** Rejects with the last error after so long without contact; default: goes on for ever. */
  readonly patienceMs?: number;
}

/**
 * The objects of a collection as they change.
 * Returns when the signal is aborted; throws KubernetesError for what time does not heal (401, 403, 404, 400) or
 * when patience is over. What was missed while there was no contact is made up from the next list, DELETED included
 * (with the last state known).
 */
export declare function watchList<T extends WatchedObject>(
  api: KubernetesApi,
  path: string,
  options: WatchOptions,
): AsyncGenerator<WatchEvent<T>, void, void>;
