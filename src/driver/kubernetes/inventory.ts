import type { KubernetesList } from './api-types.js';

export interface WatchedObject {
  readonly metadata?: {
    readonly uid?: string;
    readonly name?: string;
    readonly namespace?: string;
    readonly resourceVersion?: string;
  };
}

export type Change = 'ADDED' | 'MODIFIED' | 'DELETED';

export type WatchEvent<T> =
  | { readonly type: Change; readonly object: T }
  /** After each (re-)list, behind its own events: all that there is now. The first one tells that an object is absent. */
  | { readonly type: 'LISTED'; readonly list: KubernetesList<T> };

/** What is known of a collection, so that lists and events that overlap become one sequence without repetitions. */
export class Inventory<T extends WatchedObject> {
  private known = new Map<string, T>();

  /** The events that lead from what was known to the list: deletions first, because a name may have been taken anew. */
  *replace(list: KubernetesList<T>): Generator<WatchEvent<T>, void, void> {
    const now = new Map(list.items.map((object) => [keyOf(object), object]));
    const before = this.known;
    this.known = now;
    for (const [key, object] of before) if (!now.has(key)) yield { type: 'DELETED', object };
    for (const [key, object] of now) {
      const old = before.get(key);
      if (old === undefined) yield { type: 'ADDED', object };
      else if (!sameVersion(old, object)) yield { type: 'MODIFIED', object };
    }
    yield { type: 'LISTED', list };
  }

  *apply(type: Change, object: T): Generator<WatchEvent<T>, void, void> {
    const key = keyOf(object);
    const old = this.known.get(key);
    if (type === 'DELETED') {
      this.known.delete(key);
      yield { type, object };
      return;
    }
    this.known.set(key, object);
    if (old === undefined) yield { type: 'ADDED', object };
    else if (!sameVersion(old, object)) yield { type: 'MODIFIED', object };
  }
}

function keyOf(object: WatchedObject): string {
  const { uid, namespace, name } = object.metadata ?? {};
  return uid ?? `${namespace ?? ''}/${name ?? ''}`;
}

function sameVersion(a: WatchedObject, b: WatchedObject): boolean {
  const version = a.metadata?.resourceVersion;
  return version !== undefined && version === b.metadata?.resourceVersion;
}
