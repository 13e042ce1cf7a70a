import { CnabError } from '../../errors.js';
import type { CnabErrorOptions, ErrorCode } from '../../errors.js';
import { suggestionsForDenial } from './denial.js';
import { explainNetworkError, oneLine } from './network-error.js';
import { kubectl } from './kubectl.js';
import type { Peer } from './network-error.js';

export interface KubernetesErrorOptions extends CnabErrorOptions {
  readonly statusCode?: number;
  readonly reason?: string;
  readonly serverMessage?: string;
  readonly retryAfterMs?: number;
  readonly maybeApplied?: boolean;
  readonly transient?: boolean;
}

/** A call that the API server refused, or that did not get an answer. */
export class KubernetesError extends CnabError {
  /** HTTP status; absent when no whole answer came. */
  readonly statusCode?: number;
  /** `reason` of the Status object: `AlreadyExists`, `NotFound`, `Forbidden` ... */
  readonly reason?: string;
  /** The server's own sentence, unchanged. */
  readonly serverMessage?: string;
  /** What the server asked to wait (header Retry-After). */
  readonly retryAfterMs?: number;
  /** True when a write may have taken effect although no answer came. */
  readonly maybeApplied: boolean;
  /** True when the same call may succeed later: no connection, 429, 5xx. */
  readonly transient: boolean;

  constructor(code: ErrorCode, message: string, options: KubernetesErrorOptions = {}) {
    super(code, message, options);
    if (options.statusCode !== undefined) this.statusCode = options.statusCode;
    if (options.reason !== undefined) this.reason = options.reason;
    if (options.serverMessage !== undefined) this.serverMessage = options.serverMessage;
    if (options.retryAfterMs !== undefined) this.retryAfterMs = options.retryAfterMs;
    this.maybeApplied = options.maybeApplied ?? false;
    this.transient = options.transient ?? false;
  }

  /** The same error of a write that may have reached the server. */
  asMaybeApplied(): KubernetesError {
    const { code, message, suggestions, details, cause, transient } = this;
    return new KubernetesError(code, message, { suggestions, details, cause, transient, maybeApplied: true });
  }
}

/** Credentials could not be had, so nothing was asked. Time may heal it, but the user is not to be asked again at once. */
export class CredentialError extends KubernetesError {
  constructor(message: string, options: CnabErrorOptions = {}, code: ErrorCode = 'unavailable') {
    super(code, message, { ...options, transient: true });
  }
}

export function isNotFound(error: unknown): boolean {
  return error instanceof KubernetesError && error.statusCode === 404;
}

export function isAlreadyExists(error: unknown): boolean {
  return error instanceof KubernetesError && error.statusCode === 409 && error.reason === 'AlreadyExists';
}

/** 409 of a write whose object has changed since it was read. */
export function isConflict(error: unknown): boolean {
  return error instanceof KubernetesError && error.statusCode === 409 && error.reason === 'Conflict';
}

/** 410: a resource version or page that the server no longer has. */
export function isGone(error: unknown): boolean {
  return error instanceof KubernetesError && error.statusCode === 410;
}

export function isForbidden(error: unknown): boolean {
  return error instanceof KubernetesError && error.statusCode === 403;
}

/** 401 or 403: the server has answered, and somebody may log in again, or be given the right. */
export function isRefused({ statusCode }: KubernetesError): boolean {
  return statusCode === 401 || statusCode === 403;
}

/** What an aborted signal makes of a call: never a CnabError, because the caller knows why it stopped. */
export class AbortError extends Error {
  override readonly name = 'AbortError';
  readonly code = 'ABORT_ERR';

  constructor(reason?: unknown) {
    super('the operation was aborted', reason === undefined ? {} : { cause: reason });
  }
}

export function isAbort(error: unknown): boolean {
  return error instanceof Error && error.name === 'AbortError';
}

/**
 * Translates what went wrong on the way to the API server, once, at the border.
 *
 * @param doing what was tried, as an infinitive: `create job app-x in namespace y`
 * @returns a KubernetesError for network, TLS and DNS failures; CnabError, AbortError and everything that
 *   is a bug (TypeError ...) come back as they are.
 */
export function toKubernetesError(error: unknown, doing: string, peer?: Peer): unknown {
  if (error instanceof CnabError || isAbort(error)) return error;
  const explained = explainNetworkError(error, peer);
  if (explained === undefined) return error;
  return new KubernetesError(explained.code ?? 'unavailable', `cannot ${doing}: ${explained.sentence}`, {
    suggestions: explained.suggestions,
    transient: explained.transient,
    cause: error,
  });
}

export interface RefusedAnswer {
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Uint8Array;
}

/** The error for an answer that is not a success; keeps the server's sentence. `now` in milliseconds, for Retry-After dates. */
export function statusError(answer: RefusedAnswer, doing: string, peer: Peer, now: number): KubernetesError {
  const status = parseStatus(answer.body);
  const said = status?.message ?? plainText(answer);
  const { statusCode } = answer;
  const after = retryAfterMs(answer.headers['retry-after'], now);
  const base = {
    statusCode,
    ...(status?.reason === undefined ? {} : { reason: status.reason }),
    ...(said === undefined ? {} : { serverMessage: said }),
    ...(after === undefined ? {} : { retryAfterMs: after }),
    transient: statusCode === 429 || statusCode >= 500,
  };
  const sentence = said ?? `HTTP ${statusCode}`;
  const refuse = (code: ErrorCode, what: string, suggestions: readonly string[] = []): KubernetesError =>
    new KubernetesError(code, `cannot ${doing}: ${what}`, { ...base, suggestions });
  const suggestions = (): readonly string[] => suggestionsForDenial(sentence, undefined, peer);

  if (statusCode >= 300 && statusCode < 400) {
    // Without its query, which may hold a token.
    const to = single(answer.headers.location)?.replace(/[?#].*$/s, '');
    return refuse(
      'unavailable',
      `${peer.server} answered with a redirect${to ? ` to ${oneLine(to)}` : ''}, which is not followed`,
      ['Put the address of the API server itself into the kubeconfig.'],
    );
  }
  if (statusCode === 401) {
    const as = peer.user === undefined ? 'the credentials' : `the credentials of user "${peer.user}"`;
    return refuse('unavailable', `${peer.server} does not accept ${as} (${sentence})`, [
      `Log in again, then check with: ${kubectl('auth whoami', peer)}`,
    ]);
  }
  if (statusCode === 403 || statusCode === 404) return refuse('unavailable', sentence, suggestions());
  if (statusCode === 422 || statusCode === 400) {
    // A log request for a waiting container is a 400 too; its caller reads `serverMessage`.
    return refuse(statusCode === 422 ? 'invalid' : 'unavailable', sentence, suggestions());
  }
  if (statusCode === 413) return refuse('invalid', `the object is too large for ${peer.server} (${sentence})`);
  if (statusCode === 429)
    return refuse('unavailable', `${peer.server} is overloaded and asks to try later (${sentence})`);
  if (statusCode >= 500)
    return refuse('unavailable', `${peer.server} answered ${statusCode}: ${sentence}`, suggestions());
  return refuse('unavailable', sentence);
}

interface Status {
  readonly message?: string;
  readonly reason?: string;
}

function parseStatus(body: Uint8Array): Status | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(body).toString('utf8'));
    if (typeof value !== 'object' || value === null) return undefined;
    const { message, reason } = value as Record<string, unknown>;
    return {
      ...(typeof message === 'string' && message !== '' ? { message: oneLine(message) } : {}),
      ...(typeof reason === 'string' && reason !== '' ? { reason } : {}),
    };
  } catch {
    return undefined;
  }
}

/** A short text/plain body (a load balancer's, the kubelet's) is worth showing; a page of HTML is not. */
function plainText(answer: RefusedAnswer): string | undefined {
  const type = single(answer.headers['content-type']) ?? 'text/plain';
  const text = oneLine(Buffer.from(answer.body.subarray(0, 4096)).toString('utf8')).trim();
  if (type.includes('html') || text.startsWith('<')) return undefined;
  return text === '' ? undefined : text.slice(0, 1000);
}

function single(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header[0] : header;
}

/** RFC 9110 10.2.3: seconds, or a date. */
export function retryAfterMs(header: string | string[] | undefined, now: number): number | undefined {
  const text = single(header)?.trim();
  if (text === undefined || text === '') return undefined;
  if (/^\d+$/.test(text)) return Number(text) * 1000;
  const date = Date.parse(text);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}
