import type { KubernetesApi } from './api.js';
import type { Query } from './api-path.js';
import { isAbort, isGone, KubernetesError, toKubernetesError } from './kubernetes-error.js';
import { Inventory } from './inventory.js';
import type { WatchEvent, WatchedObject } from './inventory.js';
import { Outage } from './outage.js';
import { pauseMs } from './retry.js';
import { watchOnce } from './watch-stream.js';

export type { WatchEvent, WatchedObject } from './inventory.js';

export interface WatchOptions {
  /** For messages, an infinitive: `watch the pods of job app-x`. */
  readonly doing: string;
  readonly signal: AbortSignal;
  /** `labelSelector`, `fieldSelector`. */
  readonly query?: Query;
  /** Told about each broken attempt; `forMs` is for how long they have done nothing but fail. */
  readonly onTrouble?: (error: KubernetesError, forMs: number) => void;
  /** Rejects with the last error when attempts have failed for so long; default: goes on for ever. */
  readonly patienceMs?: number;
}

/** A watch that the server ends sooner than this, with nothing said, is taken for trouble and paused after. */
const SHORT_WATCH_MS = 1000;

/**
 * The objects of a collection as they change: a list, then a watch from its resource version.
 *
 * Returns when the signal is aborted; throws KubernetesError for what time does not heal (401, 403, 404, 400) or
 * when patience is over. What was missed while there was no contact is made up from the next list, DELETED included
 * (with the last state known). An object first comes as ADDED; a state that is known is not repeated.
 */
export async function* watchList<T extends WatchedObject>(
  api: KubernetesApi,
  path: string,
  options: WatchOptions,
): AsyncGenerator<WatchEvent<T>, void, void> {
  const { signal, doing } = options;
  const { clock, random } = api;
  const inventory = new Inventory<T>();
  let version: string | undefined;
  let failures = 0;
  // An answer alone does not end the growing of pauses: the next may break off at once again.
  const outage = new Outage();
  const inTouch = (): void => outage.end();
  while (!signal.aborted) {
    try {
      if (version === undefined) {
        const query = options.query === undefined ? {} : { query: options.query };
        const list = await api.list<T>(path, { doing, signal, attempts: 1, ...query });
        inTouch();
        failures = 0;
        version = list.metadata.resourceVersion ?? '';
        yield* inventory.replace(list);
      }
      const opened = clock.now();
      let said = false;
      for await (const event of watchOnce<T>(api, path, version, options, inTouch)) {
        said = true;
        failures = 0;
        version = event.version;
        if (event.change !== undefined) yield* inventory.apply(event.change.type, event.change.object);
      }
      if (!said && clock.now() - opened < SHORT_WATCH_MS) {
        failures++;
        await clock.sleep(pauseMs(failures, random), signal);
      }
    } catch (thrown) {
      if (signal.aborted || isAbort(thrown)) return;
      const error = toKubernetesError(thrown, doing, api.connection);
      // Time heals an expired resource version too, by a new list (Kubernetes API concepts, "410 Gone").
      if (!(error instanceof KubernetesError) || !(error.transient || isGone(error))) throw error;
      if (isGone(error)) version = undefined;
      failures++;
      const forMs = outage.fail(clock.now());
      options.onTrouble?.(error, forMs);
      if (forMs >= (options.patienceMs ?? Infinity)) throw error;
      try {
        await clock.sleep(pauseMs(failures, random, error.retryAfterMs), signal);
      } catch {
        return;
      }
    }
  }
}
