import type http from 'node:http';
import type https from 'node:https';
import { systemClock } from '../clock.js';
import type { Clock } from '../clock.js';
import { querySuffix } from './api-path.js';
import type { CallOptions, Created, CreateOptions, DeleteOptions, KubernetesList, ServerVersion } from './api-types.js';
import { readJson, refuseUnlessSuccess } from './answer.js';
import type { AnswerContext } from './answer.js';
import type { Connection } from './connection.js';
import { withDeadline } from './deadline.js';
import {
  CredentialError,
  isForbidden,
  isGone,
  isNotFound,
  KubernetesError,
  toKubernetesError,
} from './kubernetes-error.js';
import { ExchangeError, send } from './request.js';
import type { HttpRequest } from './request.js';
import { RETRY_IDEMPOTENT, RETRY_UNSENT, retrying } from './retry.js';
import type { RetryRule } from './retry.js';
import { parseWarnings } from './warning-header.js';

export type { CallOptions, Created, CreateOptions, DeleteOptions, KubernetesList, ServerVersion } from './api-types.js';

export interface KubernetesApiOptions {
  readonly clock?: Clock;
  /** In [0, 1), for the jitter of pauses. */
  readonly random?: () => number;
  /** Largest answer that is read into memory; default 32 MiB. */
  readonly maxBodyBytes?: number;
}

/**
 * The few REST calls that a run needs, over one connection, as plain JSON (no model classes).
 *
 * Every call rejects with KubernetesError (a CnabError), with AbortError when its signal is aborted, and never hangs
 * longer than its attempts' time-outs and pauses. Reads and deletions are tried again after broken connections, 429
 * and 5xx; a creation only where the server cannot have acted or asked to try again.
 */
export class KubernetesApi {
  readonly connection: Connection;
  readonly clock: Clock;
  readonly random: () => number;
  private readonly maxBodyBytes: number;
  /** How far the server's clock is ahead of ours, in milliseconds, as its last answer told; undefined where `serverNow` is. */
  serverAhead: number | undefined;

  constructor(connection: Connection, options: KubernetesApiOptions = {}) {
    this.connection = connection;
    this.clock = options.clock ?? systemClock;
    this.random = options.random ?? Math.random;
    this.maxBodyBytes = options.maxBodyBytes ?? 32 * 1024 * 1024;
  }

  async get<T>(path: string, options: CallOptions): Promise<T> {
    return (await this.json<T>('GET', path, options, undefined, RETRY_IDEMPOTENT)).object;
  }

  /** All pages of a collection, and the resource version of the last one. */
  async list<T>(path: string, options: CallOptions): Promise<KubernetesList<T>> {
    const items: T[] = [];
    let next: string | undefined;
    for (;;) {
      const query = { limit: 500, ...options.query, ...(next === undefined ? {} : { continue: next }) };
      let page: Partial<KubernetesList<T>>;
      try {
        page = await this.get(path, { ...options, query });
      } catch (error) {
        // The pages before belong to a state that etcd has dropped meanwhile: once more, whole.
        if (next === undefined || !isGone(error)) throw error;
        items.length = 0;
        page = await this.get(path, options);
      }
      // An empty collection may come as `null` (Go's nil slice).
      items.push(...(page.items ?? []));
      next = page.metadata?.continue;
      if (!next) return { metadata: page.metadata ?? {}, items };
    }
  }

  async create<T>(path: string, body: object, options: CreateOptions<T>): Promise<Created<T>> {
    let broken = false;
    const rule: RetryRule = (error) => {
      if (error instanceof KubernetesError && error.maybeApplied) {
        broken = true;
        return options.isOurs !== undefined;
      }
      return RETRY_UNSENT(error);
    };
    try {
      return await this.json<T>('POST', path, options, body, rule);
    } catch (error) {
      const name = (body as { metadata?: { name?: string } }).metadata?.name;
      const exists = error instanceof KubernetesError && error.reason === 'AlreadyExists';
      if (!broken || !exists || name === undefined || options.isOurs === undefined) throw error;
      const { doing, signal, oursIfUnreadable } = options;
      const read = this.get<T>(`${path}/${encodeURIComponent(name)}`, { doing, signal });
      const found = await read.catch((refusal: unknown) => {
        if (oursIfUnreadable === true && isForbidden(refusal)) return undefined;
        throw refusal;
      });
      if (found === undefined) return { object: body as T, warnings: [] };
      if (!options.isOurs(found)) throw error;
      return { object: found, warnings: [] };
    }
  }

  /**
   * Merges `patch` (RFC 7386) into an object. With a `resourceVersion` in its metadata it is refused with a 409 where the object
   * has changed since, so it may be sent again after a broken connection.
   */
  async patch<T>(path: string, patch: object, options: CallOptions): Promise<T> {
    return (await this.json<T>('PATCH', path, options, patch, RETRY_IDEMPOTENT)).object;
  }

  /** Resolves to false when the object was not there. */
  async delete(path: string, options: DeleteOptions): Promise<boolean> {
    const body = {
      apiVersion: 'v1',
      kind: 'DeleteOptions',
      // The garbage collector removes what it owns.
      propagationPolicy: 'Background',
      ...(options.uid === undefined ? {} : { preconditions: { uid: options.uid } }),
      ...(options.gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds: options.gracePeriodSeconds }),
    };
    try {
      await this.json('DELETE', path, options, body, RETRY_IDEMPOTENT);
      return true;
    } catch (error) {
      if (isNotFound(error)) return false;
      throw error;
    }
  }

  async serverVersion(options: Omit<CallOptions, 'query'>): Promise<ServerVersion> {
    const version = await this.get<{ major?: unknown; minor?: unknown; gitVersion?: unknown }>('/version', options);
    // Managed clusters answer with a minor of `29+`.
    const major = Number.parseInt(String(version.major), 10);
    const minor = Number.parseInt(String(version.minor), 10);
    if (Number.isNaN(major) || Number.isNaN(minor)) {
      throw new KubernetesError(
        'unavailable',
        `cannot ${options.doing}: ${this.connection.server} does not say its version; is it a Kubernetes API server?`,
      );
    }
    return {
      major,
      minor,
      gitVersion: typeof version.gitVersion === 'string' ? version.gitVersion : `v${major}.${minor}`,
    };
  }

  /**
   * Opens an answer that is read as it comes (log, watch): resolves with a 200 or 204, rejects for every other status.
   * One attempt, but for one more after a 401 with fresh credentials and after a stale socket.
   * `timeoutMs` ends with the headers; the caller watches over the body and must consume or destroy it.
   */
  async stream(path: string, options: CallOptions): Promise<http.IncomingMessage> {
    const request = { method: 'GET', path: path + querySuffix(options.query) } as const;
    return this.attempt('GET', options, async (auth, signal) => {
      const response = await send(this.connection.server, auth, { ...request, signal });
      await refuseUnlessSuccess(response, this.answerContext(options), signal);
      return response;
    });
  }

  /**
   * What the server's clock says, in milliseconds since 1970, up to a second less: for what it dates itself (`deletionTimestamp`).
   * Undefined before its first answer, and behind a proxy that takes the Date from answers.
   */
  get serverNow(): number | undefined {
    return this.serverAhead === undefined ? undefined : this.clock.now() + this.serverAhead;
  }

  close(): void {
    this.connection.close();
  }

  private json<T>(
    method: HttpRequest['method'],
    path: string,
    options: CallOptions,
    body: object | undefined,
    rule: RetryRule,
  ): Promise<Created<T>> {
    const contentType = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
    const bytes = body === undefined ? undefined : Buffer.from(JSON.stringify(body));
    const request = {
      method,
      path: path + querySuffix(options.query),
      ...(bytes === undefined ? {} : { body: bytes, headers: { 'content-type': contentType } }),
    };
    const { clock, random } = this;
    const attempts = options.attempts ?? 5;
    return retrying({ clock, random, signal: options.signal, rule, attempts }, () =>
      this.attempt(method, options, async (auth, signal) => {
        const response = await send(this.connection.server, auth, { ...request, signal });
        const context = this.answerContext(options);
        const date = Date.parse(response.headers.date ?? '');
        if (!Number.isNaN(date)) this.serverAhead = date - this.clock.now();
        await refuseUnlessSuccess(response, context, signal);
        const warnings = parseWarnings(response.headers.warning);
        return { object: await readJson<T>(response, context, this.maxBodyBytes, signal), warnings };
      }),
    );
  }

  /** One exchange within its time, with credentials, with the errors translated; again at once after a 401 and after a stale socket. */
  private async attempt<T>(
    method: HttpRequest['method'],
    options: CallOptions,
    exchange: (auth: https.RequestOptions, signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const once = async (): Promise<T> => {
      // Outside of the time for the server: somebody may be logging in with a credential plugin.
      const auth = await this.connection.requestOptions(options.signal);
      const ms = options.timeoutMs ?? 30_000;
      return withDeadline(this.clock, ms, options.signal, (signal) => exchange(auth, signal));
    };
    try {
      try {
        return await once();
      } catch (error) {
        if (error instanceof ExchangeError && error.stale && method !== 'POST') return await once();
        if (!(error instanceof KubernetesError) || error.statusCode !== 401) throw error;
        this.connection.refresh();
        return await once();
      }
    } catch (error) {
      throw this.translate(error, method, options.doing);
    }
  }

  private translate(error: unknown, method: HttpRequest['method'], doing: string): unknown {
    const translated = toKubernetesError(error, doing, this.connection);
    if (method === 'GET' || !(translated instanceof KubernetesError) || translated.statusCode !== undefined) {
      return translated;
    }
    // Not so when no connection was made or there were no credentials; so when only the answer broke off.
    const unsent = error instanceof ExchangeError ? !error.sent : error instanceof CredentialError;
    return unsent ? translated : translated.asMaybeApplied();
  }

  private answerContext(options: CallOptions): AnswerContext {
    return { doing: options.doing, peer: this.connection, now: this.clock.now() };
  }
}
