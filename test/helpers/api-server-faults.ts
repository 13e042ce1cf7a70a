import { ApiError } from '../../src/driver/sandbox/api-server/api-error.js';
import type { ExecChannels } from '../../src/driver/sandbox/api-server/exec-channels.js';
import type { Faults, Interception } from '../../src/driver/sandbox/api-server/faults.js';
import type { RequestInfo } from '../../src/driver/sandbox/api-server/request-info.js';
import { damagedBody, type BodyFault } from './api-server-body-faults.js';
import { damagedExec, type ExecFault } from './api-server-exec-faults.js';
import { matches, take, type RequestMatch, type Rule } from './api-server-request-match.js';
import type { ResponseBody } from '../../src/driver/sandbox/api-server/response-body.js';
import type { ResourceName } from '../../src/driver/sandbox/api-server/objects.js';

export type { BodyFault } from './api-server-body-faults.js';
export type { ExecFault } from './api-server-exec-faults.js';
export type { RequestMatch } from './api-server-request-match.js';

type Admission = (resource: ResourceName, object: Record<string, unknown>) => Record<string, unknown>;

/** Faults on order. Orders may come at any time; a rule that was used up is passed over. */
export class ApiServerFaults implements Faults {
  /** Every request that came in, oldest first. */
  readonly requests: RequestInfo[] = [];
  /** The last of what was streamed to clients, of all answers, as text; large chunks left out. */
  sent = '';
  #interceptions: Rule<() => Interception | undefined | Promise<Interception | undefined>>[] = [];
  #bodies: Rule<BodyFault>[] = [];
  #execs: Rule<ExecFault>[] = [];
  #deaf: Rule<true>[] = [];
  #rules: Readonly<Record<string, unknown>> = {};
  #denials: Rule<{ review: boolean }>[] = [];
  #delays: Rule<number>[] = [];
  #admissions: Admission[] = [];
  #unschedulable: string | undefined;
  #stalls: (() => void)[] = [];

  /** Answers with a failure Status: 429 with Retry-After, 500, 503 … */
  fail(
    match: RequestMatch,
    status: number,
    options: { message?: string; reason?: string; retryAfterSeconds?: number } = {},
  ): void {
    const { message = 'a fault on order', reason = REASONS[status] ?? 'Unknown', retryAfterSeconds } = options;
    const details = retryAfterSeconds === undefined ? undefined : { retryAfterSeconds };
    const body = new ApiError(status, reason, message, details).status;
    const headers = retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) };
    this.#interceptions.push({ match, seen: 0, fault: () => ({ status, body, headers }) });
  }

  /** Breaks the connection before there is an answer. */
  reset(match: RequestMatch): void {
    this.#interceptions.push({ match, seen: 0, fault: () => 'reset' });
  }

  /** Lets requests wait until the returned function is called. */
  hold(match: RequestMatch): () => void {
    let release = (): void => undefined;
    const held = new Promise<undefined>((resolve) => (release = (): void => resolve(undefined)));
    this.#stalls.push(release);
    this.#interceptions.push({ match, seen: 0, fault: () => held });
    return release;
  }

  /** Damages a streamed answer (a log, a watch). */
  body(request: RequestInfo, body: ResponseBody): ResponseBody;
  body(match: RequestMatch, fault: BodyFault): void;
  body(first: RequestInfo | RequestMatch, second: ResponseBody | BodyFault): ResponseBody | void {
    if ('then' in second) {
      this.#bodies.push({ match: first, fault: second, seen: 0 });
      return;
    }
    const rule = take(this.#bodies, first as RequestInfo);
    const body = this.#counted(second);
    return rule ? damagedBody(body, rule, () => this.#stall(body.closed)) : body;
  }

  /** Damages an exec that was let through. */
  exec(request: RequestInfo, channels: ExecChannels): ExecChannels;
  exec(match: RequestMatch, fault: ExecFault): void;
  exec(first: RequestInfo | RequestMatch, second: ExecChannels | ExecFault): ExecChannels | void {
    if ('then' in second) {
      this.#execs.push({ match: first, fault: second, seen: 0 });
      return;
    }
    const rule = take(this.#execs, first as RequestInfo);
    return rule ? damagedExec(second, rule, () => this.#stall(second.closed)) : second;
  }

  /** The pings of these execs' clients stay unanswered. */
  leavePings(match: RequestMatch): void {
    this.#deaf.push({ match, seen: 0, fault: true });
  }

  answersPings(request: RequestInfo): boolean {
    return take(this.#deaf, request) === undefined;
  }

  /** Answers as a proxy that knows no WebSockets: in plain HTTP, with a page of its own. */
  refuseUpgrade(match: RequestMatch, status = 502, page = '<html><body>Bad Gateway</body></html>'): void {
    const headers = { 'content-type': 'text/html' };
    this.#interceptions.push({ match, seen: 0, fault: () => ({ status, body: page, headers }) });
  }

  /** A rules review tells that it does not know all rules (`incomplete`), as with a webhook for an authorizer. */
  hideRules(): void {
    this.#rules = { resourceRules: [], nonResourceRules: [], incomplete: true, evaluationError: 'not to be listed' };
  }

  rules(): Readonly<Record<string, unknown>> {
    return this.#rules;
  }

  /** 403 for these requests; with `review: true` the reviews do not know of it. */
  forbid(match: Pick<RequestMatch, 'verb' | 'resource' | 'namespace'>, options: { review?: boolean } = {}): void {
    this.#denials.push({ match, seen: 0, fault: { review: options.review ?? false } });
  }

  /** Changes reach these watches so many milliseconds late. */
  delayWatch(match: RequestMatch, ms: number): void {
    this.#delays.push({ match, seen: 0, fault: ms });
  }

  /** Changes every object of a kind before it is stored, or throws an ApiError. */
  onAdmission(admission: Admission): void {
    this.#admissions.push(admission);
  }

  /** An old API server: drops a field wherever it stands below the last named key: `initContainers.restartPolicy`. */
  dropField(resource: ResourceName, parent: string, field: string): void {
    this.onAdmission((kind, object) =>
      kind === resource
        ? (JSON.parse(JSON.stringify(object), function (this: unknown, key: string, value: unknown) {
            if (key !== parent) return value;
            const strip = (entry: unknown): unknown => {
              if (typeof entry !== 'object' || entry === null) return entry;
              const { [field]: _, ...rest } = entry as Record<string, unknown>;
              return rest;
            };
            return Array.isArray(value) ? value.map(strip) : strip(value);
          }) as Record<string, unknown>)
        : object,
    );
  }

  /** Puts a container into every pod, as a mesh's webhook does. */
  injectContainer(container: Readonly<Record<string, unknown>>): void {
    this.onAdmission((kind, object) => {
      if (kind !== 'pods') return object;
      const spec = object['spec'] as { containers: unknown[] };
      return { ...object, spec: { ...spec, containers: [...spec.containers, container] } };
    });
  }

  /** Refuses pods with 403: `exceeded quota: …`, `minimum memory usage per Container is …`. */
  denyPods(message: string, times = Infinity): void {
    let left = times;
    this.onAdmission((kind, object) => {
      if (kind !== 'pods' || left-- <= 0) return object;
      const { generateName, name } = object['metadata'] as { generateName?: string; name: string };
      throw new ApiError(403, 'Forbidden', `pods "${generateName ?? name}" is forbidden: ${message}`);
    });
  }

  /** No pod is bound to the node from now on, until called without a sentence. */
  neverSchedule(sentence?: string): void {
    this.#unschedulable = sentence;
  }

  /** Ends all that is held or stalled. */
  release(): void {
    for (const go of this.#stalls.splice(0)) go();
  }

  intercept(request: RequestInfo): Interception | undefined | Promise<Interception | undefined> {
    this.requests.push(request);
    return take(this.#interceptions, request)?.();
  }

  allows(request: Omit<RequestInfo, 'path' | 'query'> & { path?: string }): boolean {
    const asReview = request.path === undefined;
    return !this.#denials.some(({ match, fault }) => !(asReview && fault.review) && matches(match, request));
  }

  admit(resource: ResourceName, object: Readonly<Record<string, unknown>>): Record<string, unknown> {
    return this.#admissions.reduce<Record<string, unknown>>((now, admission) => admission(resource, now), {
      ...object,
    });
  }

  unschedulable(): string | undefined {
    return this.#unschedulable;
  }

  watchDelayMs(request: RequestInfo): number {
    return take(this.#delays, request) ?? 0;
  }

  #counted(body: ResponseBody): ResponseBody {
    return {
      ...body,
      write: (chunk) => {
        if (chunk.length < 16_000) this.sent = (this.sent + Buffer.from(chunk).toString('latin1')).slice(-256_000);
        return body.write(chunk);
      },
    };
  }

  #stall(closed: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      this.#stalls.push(resolve);
      closed.addEventListener('abort', () => resolve(), { once: true });
    });
  }
}

const REASONS: Readonly<Record<number, string>> = {
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  409: 'Conflict',
  410: 'Expired',
  429: 'TooManyRequests',
  500: 'InternalError',
  503: 'ServiceUnavailable',
  504: 'Timeout',
};
