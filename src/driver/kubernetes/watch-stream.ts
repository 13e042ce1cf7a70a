import type { KubernetesApi } from './api.js';
import type { Query } from './api-path.js';
import { chunksOf, linesOf } from './body-stream.js';
import { DeadlineError } from './deadline.js';
import type { Change, WatchedObject } from './inventory.js';
import { KubernetesError } from './kubernetes-error.js';
import { oneLine } from './network-error.js';

/**
 * The server is asked to end a watch after 50 to 60 s: a connection that died silently is then found soon, and
 * going on costs one request. (Its own default is 30 to 60 min, `--min-request-timeout`.)
 */
const WATCH_SECONDS = 50;
const WATCH_SECONDS_JITTER = 10;
/** Silence beyond the end that was asked for. */
const LATE_MS = 15_000;
/** etcd takes 1.5 MiB an object; an event holds one. */
const MAX_EVENT_BYTES = 16 * 1024 * 1024;

export interface WatchStep<T> {
  /** Where to go on after it. */
  readonly version: string;
  /** Absent for a bookmark. */
  readonly change?: { readonly type: Change; readonly object: T };
}

/**
 * One watch request. Returns when the server ends it or falls silent; throws KubernetesError (410 when the resource
 * version is too old), the socket's error when it breaks, AbortError.
 */
export async function* watchOnce<T extends WatchedObject>(
  api: KubernetesApi,
  path: string,
  version: string,
  options: { readonly doing: string; readonly signal: AbortSignal; readonly query?: Query },
  onContact: () => void,
): AsyncGenerator<WatchStep<T>, void, void> {
  const timeoutSeconds = WATCH_SECONDS + Math.floor(api.random() * WATCH_SECONDS_JITTER);
  const { doing, signal } = options;
  const response = await api.stream(path, {
    doing,
    signal,
    query: { ...options.query, watch: 1, allowWatchBookmarks: true, resourceVersion: version, timeoutSeconds },
  });
  onContact();
  const idleMs = timeoutSeconds * 1000 + LATE_MS;
  const chunks = chunksOf(response, { clock: api.clock, signal, idleMs });
  try {
    for await (const line of linesOf(chunks, MAX_EVENT_BYTES)) {
      if (line.trim() === '') continue;
      const step = readEvent<T>(line, doing);
      onContact();
      yield step;
    }
  } catch (error) {
    if (error instanceof DeadlineError) return;
    if (error instanceof RangeError) throw new KubernetesError('unavailable', `cannot ${doing}: ${error.message}`);
    throw error;
  }
}

function readEvent<T extends WatchedObject>(line: string, doing: string): WatchStep<T> {
  let event: { type?: unknown; object?: unknown };
  try {
    event = JSON.parse(line) as typeof event;
  } catch (cause) {
    throw unreadable(doing, line, cause);
  }
  const { type, object } = event ?? {};
  if (typeof object !== 'object' || object === null) throw unreadable(doing, line);
  if (type === 'ERROR') throw errorEvent(object, doing);
  const version = (object as WatchedObject).metadata?.resourceVersion;
  if (typeof version !== 'string') throw unreadable(doing, line);
  if (type === 'BOOKMARK') return { version };
  if (type === 'ADDED' || type === 'MODIFIED' || type === 'DELETED') {
    return { version, change: { type, object: object as T } };
  }
  // A kind of event that is yet to be invented tells nothing of an object.
  return { version };
}

function errorEvent(status: { code?: unknown; message?: unknown; reason?: unknown }, doing: string): KubernetesError {
  const statusCode = typeof status.code === 'number' ? status.code : 500;
  const message = typeof status.message === 'string' ? oneLine(status.message) : `status ${statusCode}`;
  return new KubernetesError('unavailable', `cannot ${doing}: ${message}`, {
    statusCode,
    serverMessage: message,
    ...(typeof status.reason === 'string' ? { reason: status.reason } : {}),
    // Whatever ended a running watch, a new list shows whether it lasts.
    transient: true,
  });
}

function unreadable(doing: string, line: string, cause?: unknown): KubernetesError {
  return new KubernetesError('unavailable', `cannot ${doing}: an event of ${line.length} characters is not readable`, {
    transient: true,
    ...(cause === undefined ? {} : { cause }),
  });
}
