import type http from 'node:http';
import { KubernetesError, statusError } from './kubernetes-error.js';
import { oneLine } from './network-error.js';
import type { Peer } from './network-error.js';

export interface AnswerContext {
  readonly doing: string;
  readonly peer: Peer;
  readonly now: number;
}

/** Error bodies are sentences; what is longer is not worth memory. */
const ERROR_BODY_BYTES = 256 * 1024;

/**
 * The whole body, at most `limit` bytes. The signal destroys the socket and rejects with its reason.
 * A larger one is cut off, or rejects with what `onTooLarge` makes; one that breaks off rejects with the socket's error.
 */
export async function readBody(
  response: http.IncomingMessage,
  limit: number,
  signal: AbortSignal,
  onTooLarge: 'cut' | (() => Error),
): Promise<Buffer> {
  const onAbort = (): void => {
    response.destroy(signal.reason as Error);
  };
  signal.addEventListener('abort', onAbort, { once: true });
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    signal.throwIfAborted();
    for await (const chunk of response as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      size += chunk.length;
      if (size <= limit) continue;
      if (onTooLarge === 'cut') break;
      throw onTooLarge();
    }
  } finally {
    signal.removeEventListener('abort', onAbort);
    // Left before its end, the body would occupy the socket for ever.
    if (!response.readableEnded) response.destroy();
  }
  return Buffer.concat(chunks).subarray(0, limit);
}

/** Rejects with KubernetesError unless the status is 2xx; then the body is untouched. */
export async function refuseUnlessSuccess(
  response: http.IncomingMessage,
  context: AnswerContext,
  signal: AbortSignal,
): Promise<void> {
  const statusCode = response.statusCode ?? 0;
  if (statusCode >= 200 && statusCode < 300) return;
  const body = await readBody(response, ERROR_BODY_BYTES, signal, 'cut');
  throw statusError({ statusCode, headers: response.headers, body }, context.doing, context.peer, context.now);
}

/** The body as JSON. Rejects with KubernetesError that says what came instead. */
export async function readJson<T>(
  response: http.IncomingMessage,
  context: AnswerContext,
  limit: number,
  signal: AbortSignal,
): Promise<T> {
  const tooLarge = (): Error =>
    new KubernetesError(
      'unavailable',
      `cannot ${context.doing}: the answer of ${context.peer.server} is larger than ${Math.round(limit / 1024 / 1024)} MiB`,
    );
  const body = await readBody(response, limit, signal, tooLarge);
  const text = body.toString('utf8');
  const refuse = (what: string, cause?: unknown): Error =>
    new KubernetesError('unavailable', `cannot ${context.doing}: ${context.peer.server} answered with ${what}`, {
      suggestions: ['Is it the address of a Kubernetes API server? A login page or a proxy may answer in its place.'],
      ...(response.statusCode === undefined ? {} : { statusCode: response.statusCode }),
      cause,
    });
  let answer: unknown;
  try {
    answer = JSON.parse(text);
  } catch (cause) {
    const type = oneLine(response.headers['content-type'] ?? 'no content type');
    throw refuse(text.trim() === '' ? 'an empty answer' : `${type}, not JSON (${body.length} bytes)`, cause);
  }
  if (!hasShapeOfAnswer(answer)) throw refuse('JSON that is no object of Kubernetes');
  return answer as T;
}

/**
 * Whether it has the outline that every reader relies on: an object, its `metadata` and those of its `items` objects,
 * `spec` and `status` of the items too. What is in them is judged where it is read.
 */
function hasShapeOfAnswer(answer: unknown): boolean {
  if (!isObject(answer) || !isObjectOrAbsent(answer['metadata'])) return false;
  const items = answer['items'] ?? [];
  return (
    Array.isArray(items) &&
    items.every(
      (item) =>
        isObject(item) && isObject(item['metadata']) && ['spec', 'status'].every((key) => isObjectOrAbsent(item[key])),
    )
  );
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Go's nil pointers come as `null`. */
function isObjectOrAbsent(value: unknown): boolean {
  return value === undefined || value === null || isObject(value);
}
