import type { ResourceName } from './objects.js';
import type { RequestInfo } from './request-info.js';
import type { ResponseBody } from './response-body.js';

/** An answer in place of the real one; `reset` breaks the connection instead. */
export type Interception =
  { readonly status: number; readonly body: unknown; readonly headers?: Readonly<Record<string, string>> } | 'reset';

/**
 * Where an API server can be made to misbehave: tests give one, the product none. Each hook may be absent.
 * Errors thrown in a hook are answered like any other (an ApiError with its Status, the rest with 500).
 */
export interface Faults {
  /** Before a request is carried out, after it was authenticated. A promise delays it. */
  intercept?(request: RequestInfo): Interception | undefined | Promise<Interception | undefined>;
  /** Whether the caller may do this; asked for each request, and by SelfSubjectAccessReview. */
  allows?(request: Pick<RequestInfo, 'verb' | 'group' | 'resource' | 'subresource' | 'namespace' | 'name'>): boolean;
  /** A body to write to instead, which cuts, stalls or repeats on the way to `body`. */
  body?(request: RequestInfo, body: ResponseBody): ResponseBody;
  /** Changes an object before it is stored (a mutating webhook, an old server's pruning), or throws an ApiError (quota). */
  admit?(resource: ResourceName, object: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>>;
  /** A sentence for which the scheduler does not bind this pod. */
  unschedulable?(podName: string): string | undefined;
  /** Milliseconds by which a change reaches a watch late. */
  watchDelayMs?(request: RequestInfo): number;
}
