import type { Query } from './api-path.js';

export interface CallOptions {
  /** For messages, an infinitive: `create job app-x in namespace y`. */
  readonly doing: string;
  readonly signal: AbortSignal;
  /** One attempt, from the connection to the last byte of the answer, without getting credentials; default 30 s. */
  readonly timeoutMs?: number;
  /** Attempts all in all, where the call may be tried again; default 5. */
  readonly attempts?: number;
  readonly query?: Query;
}

export interface CreateOptions<T> extends CallOptions {
  /**
   * Whether an object of that name that is already there is the one that was to be created. Asked when a first
   * attempt broke without an answer and the second one says AlreadyExists; without it that is an error.
   */
  readonly isOurs?: (existing: T) => boolean;
  /** An object that is there and may not be read is the one that was to be created: nobody else makes its name. */
  readonly oursIfUnreadable?: boolean;
}

export interface Created<T> {
  readonly object: T;
  /** Texts of the answer's Warning headers (admission, deprecation, PodSecurity). */
  readonly warnings: readonly string[];
}

export interface DeleteOptions extends CallOptions {
  /** Only the object with this UID; another one of the same name gives a 409. */
  readonly uid?: string;
  readonly gracePeriodSeconds?: number;
}

export interface KubernetesList<T> {
  readonly metadata: { readonly resourceVersion?: string; readonly continue?: string };
  readonly items: readonly T[];
}

export interface ServerVersion {
  readonly major: number;
  readonly minor: number;
  readonly gitVersion: string;
}
