import type { Clock } from '../../clock.js';
import { messageOf } from '../../../errors.js';
import { ApiError, badRequest, expired } from './api-error.js';
import { RESOURCES, type KubernetesObject, type ResourceName } from './objects.js';
import type { Change, ObjectStore } from './object-store.js';
import type { ResponseBody } from './response-body.js';
import type { Selector } from './selectors.js';

export interface WatchOptions {
  readonly resource: ResourceName;
  readonly namespace: string | undefined;
  readonly selector: Selector;
  /** Absent or 0: begin with all that is there. */
  readonly resourceVersion: number;
  readonly timeoutSeconds: number | undefined;
  readonly bookmarks: boolean;
  /** Milliseconds. */
  readonly delay: number;
}

interface WatchEvent {
  readonly type: string;
  readonly object: unknown;
}

const BOOKMARK_MS = 60_000;
/** A real server draws a time between min-request-timeout (30 min) and twice of it. */
const DEFAULT_TIMEOUT_SECONDS = 1800;

/** What is asked of a watch. Throws ApiError for a resourceVersion that is none. */
export function watchedVersion(query: URLSearchParams): number {
  const text = query.get('resourceVersion') ?? '';
  if (text === '') return 0;
  if (/^\d+$/.test(text)) return Number(text);
  const problem = `strconv.ParseUint: parsing ${JSON.stringify(text)}: invalid syntax`;
  throw new ApiError(500, '', `resourceVersion: Invalid value: ${JSON.stringify(text)}: ${problem}`);
}

/** As the API server answers a list: with 400 for what a watch answers with 500. */
export function listedVersion(query: URLSearchParams): number {
  try {
    return watchedVersion(query);
  } catch (error) {
    throw badRequest(`invalid resource version: ${messageOf(error)}`);
  }
}

/** Writes the changes as they come, one JSON document a line, until the time is over or the client goes. */
export async function serveWatch(
  store: ObjectStore,
  clock: Clock,
  options: WatchOptions,
  body: ResponseBody,
): Promise<void> {
  const queue: { readonly change: Change; readonly due: number }[] = [];
  let wake = (): void => undefined;
  const stop = store.listen((change) => {
    queue.push({ change, due: clock.now() + options.delay });
    wake();
  });
  const over = new AbortController();
  const end = (): void => {
    over.abort();
    wake();
  };
  body.closed.addEventListener('abort', end, { once: true });
  const seconds = options.timeoutSeconds ?? DEFAULT_TIMEOUT_SECONDS;
  void clock.sleep(seconds * 1000, over.signal).then(end, () => undefined);
  let bookmarkDue = false;
  if (options.bookmarks) {
    void repeat(clock, BOOKMARK_MS, over.signal, () => {
      bookmarkDue = true;
      wake();
    });
  }
  const send = (event: WatchEvent): Promise<boolean> => body.write(Buffer.from(JSON.stringify(event) + '\n'));
  try {
    const failure = startFailure(store, options);
    if (failure) {
      await send({ type: 'ERROR', object: failure.status });
      return;
    }
    const begin = beginning(store, options);
    for (const event of begin) if (!(await send(event))) return;
    while (!over.signal.aborted) {
      const next = queue.shift();
      if (next) {
        const wait = next.due - clock.now();
        if (wait > 0) await clock.sleep(wait, over.signal).catch(() => undefined);
        const event = eventFor(options, next.change);
        if (event && !(await send(event))) return;
      } else if (bookmarkDue) {
        bookmarkDue = false;
        if (!(await send(bookmark(store, options.resource)))) return;
      } else {
        await new Promise<void>((resolve) => (wake = resolve));
      }
    }
    if (options.bookmarks && !body.closed.aborted) await send(bookmark(store, options.resource));
  } finally {
    stop();
    over.abort();
    body.closed.removeEventListener('abort', end);
    body.end();
  }
}

async function repeat(clock: Clock, ms: number, signal: AbortSignal, act: () => void): Promise<void> {
  while (!signal.aborted) {
    await clock.sleep(ms, signal).then(act, () => undefined);
  }
}

function startFailure(store: ObjectStore, { resourceVersion: from }: WatchOptions): ApiError | undefined {
  if (from === 0 || from > store.revision) return undefined;
  return store.since(from) ? undefined : expired(from, store.oldestRevision);
}

function beginning(store: ObjectStore, options: WatchOptions): WatchEvent[] {
  const { resource, namespace, selector, resourceVersion } = options;
  if (resourceVersion > 0) {
    return (store.since(resourceVersion) ?? []).flatMap((change) => eventFor(options, change) ?? []);
  }
  const objects: readonly KubernetesObject[] = store.list(resource, namespace);
  return objects.filter(selector).map((object) => ({ type: 'ADDED', object }));
}

/** An object that comes to match is ADDED for this watch, one that no longer does is DELETED. */
function eventFor(
  { resource, namespace, selector, resourceVersion }: WatchOptions,
  change: Change,
): WatchEvent | undefined {
  if (change.resource !== resource || change.revision <= resourceVersion) return undefined;
  if (namespace !== undefined && change.object.metadata.namespace !== namespace) return undefined;
  const was = change.previous !== undefined && selector(change.previous);
  const is = change.type !== 'DELETED' && selector(change.object);
  if (!was && !is) return undefined;
  if (was && is) return { type: 'MODIFIED', object: change.object };
  return { type: is ? 'ADDED' : 'DELETED', object: change.object };
}

function bookmark(store: ObjectStore, resource: ResourceName): WatchEvent {
  const { kind, apiVersion } = RESOURCES[resource];
  const metadata = { resourceVersion: String(store.revision), creationTimestamp: null };
  return { type: 'BOOKMARK', object: { kind, apiVersion, metadata } };
}
