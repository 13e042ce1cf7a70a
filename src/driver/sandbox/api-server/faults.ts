import type { ExecChannels } from './exec-channels.js';
import type { ResourceName } from './objects.js';
import type { RequestInfo } from './request-info.js';
import type { ResponseBody } from './response-body.js';

/** An answer in place of the real one, its body as JSON or, with a content-type of its own, as text; `reset` breaks the connection instead. */
export type Interception =
  { readonly status: number; readonly body: unknown; readonly headers?: Readonly<Record<string, string>> } | 'reset';

/**
 * Where an API server can be made to misbehave: tests give one, the product none. Each hook may be absent.
 * Errors thrown in a hook are answered like any other (an ApiError with its Status, the rest with 500).
 */
export interface Faults {
  /** Before a request is carried out, after it was authenticated. A promise delays it. */
  intercept?(request: RequestInfo): Interception | undefined | Promise<Interception | undefined>;
  /** Whether the caller may do this; asked for each request, and by the reviews of one's own rights. */
  allows?(request: Pick<RequestInfo, 'verb' | 'group' | 'resource' | 'subresource' | 'namespace' | 'name'>): boolean;
  /** Fields of SelfSubjectRulesReview's status to answer differently: not every authorizer can list its rules. */
  rules?(): Readonly<Record<string, unknown>>;
  /** A body to write to instead, which cuts, stalls or repeats on the way to `body`. */
  body?(request: RequestInfo, body: ResponseBody): ResponseBody;
  /** The same for an exec that was let through. */
  exec?(request: RequestInfo, channels: ExecChannels): ExecChannels;
  /** False: the pings of this exec's client stay unanswered. */
  answersPings?(request: RequestInfo): boolean;
  /** Changes an object before it is stored (a mutating webhook, an old server's pruning), or throws an ApiError (quota). */
  admit?(resource: ResourceName, object: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>>;
  /** A sentence for which the scheduler does not bind this pod. */
  unschedulable?(podName: string): string | undefined;
  /** Milliseconds by which a change reaches a watch late. */
  watchDelayMs?(request: RequestInfo): number;
}
