import { randomUUID } from 'node:crypto';
import type { Clock } from '../../clock.js';
import { alreadyExists } from './api-error.js';
import { timestamp, type ObjectMeta, type ResourceName, type Resources } from './objects.js';

export type ChangeType = 'ADDED' | 'MODIFIED' | 'DELETED';

export interface Change<K extends ResourceName = ResourceName> {
  readonly type: ChangeType;
  readonly resource: K;
  readonly revision: number;
  readonly object: Resources[K];
  /** The state before; absent for ADDED. */
  readonly previous?: Resources[K];
}

/** An object that is not stored yet: the store gives it uid, times and revision. */
export type Draft<T> = T extends { metadata: ObjectMeta }
  ? Omit<T, 'metadata'> & {
      readonly metadata: Omit<ObjectMeta, 'uid' | 'resourceVersion' | 'creationTimestamp'> & { readonly uid?: string };
    }
  : never;

type Listener = (change: Change) => void;

/** How many changes a watch may start behind. A real watch cache keeps about 5 minutes. */
const HISTORY = 2000;

/**
 * The objects, their one revision counter, and the recent changes: what etcd and the watch cache are to a real
 * API server. Objects are never changed in place. Listeners hear of the changes in the order of their revisions, also
 * when one of them changes something itself.
 */
export class ObjectStore {
  readonly #objects = new Map<string, Resources[ResourceName]>();
  readonly #listeners = new Set<Listener>();
  #history: Change[] = [];
  #queue: Change[] = [];
  #telling = false;
  #revision = 1000;
  #oldest = 1000;

  constructor(private readonly clock: Clock) {}

  /** The newest revision. */
  get revision(): number {
    return this.#revision;
  }

  get<K extends ResourceName>(resource: K, namespace: string | undefined, name: string): Resources[K] | undefined {
    return this.#objects.get(keyOf(resource, namespace, name)) as Resources[K] | undefined;
  }

  /** In the order of their keys (namespace, name), as etcd has them. Without a namespace: all. */
  list<K extends ResourceName>(resource: K, namespace?: string): Resources[K][] {
    const prefix = namespace === undefined ? `${resource}/` : `${resource}/${namespace}/`;
    const keys = [...this.#objects.keys()].filter((key) => key.startsWith(prefix)).sort();
    return keys.map((key) => this.#objects.get(key) as Resources[K]);
  }

  /** Throws ApiError 409 when the name is taken. */
  create<K extends ResourceName>(resource: K, draft: Draft<Resources[K]>): Resources[K] {
    const { name, namespace } = draft.metadata;
    const key = keyOf(resource, namespace, name);
    if (this.#objects.has(key)) throw alreadyExists(resource, name);
    this.#revision += 1;
    const metadata: ObjectMeta = {
      ...draft.metadata,
      uid: draft.metadata.uid ?? randomUUID(),
      resourceVersion: String(this.#revision),
      creationTimestamp: timestamp(this.clock.now()),
    };
    const object = { ...draft, metadata } as unknown as Resources[K];
    this.#objects.set(key, object);
    this.#tell({ type: 'ADDED', resource, revision: this.#revision, object });
    return object;
  }

  /** Replaces an object by what `change` makes of it. The same object back: no change, no revision. Absent: undefined. */
  update<K extends ResourceName>(
    resource: K,
    namespace: string | undefined,
    name: string,
    change: (current: Resources[K]) => Resources[K],
  ): Resources[K] | undefined {
    const key = keyOf(resource, namespace, name);
    const previous = this.#objects.get(key) as Resources[K] | undefined;
    if (previous === undefined) return undefined;
    const next = change(previous);
    if (next === previous) return previous;
    this.#revision += 1;
    const object = { ...next, metadata: { ...next.metadata, resourceVersion: String(this.#revision) } };
    this.#objects.set(key, object);
    this.#tell({ type: 'MODIFIED', resource, revision: this.#revision, object, previous });
    return object;
  }

  remove<K extends ResourceName>(resource: K, namespace: string | undefined, name: string): void {
    const key = keyOf(resource, namespace, name);
    const previous = this.#objects.get(key) as Resources[K] | undefined;
    if (previous === undefined) return;
    this.#objects.delete(key);
    this.#revision += 1;
    const object = { ...previous, metadata: { ...previous.metadata, resourceVersion: String(this.#revision) } };
    this.#tell({ type: 'DELETED', resource, revision: this.#revision, object, previous });
  }

  /** Calls `listener` for every change from now on, until the returned function is called. */
  listen(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** The changes after `revision`, oldest first; undefined when they are forgotten. */
  since(revision: number): readonly Change[] | undefined {
    if (revision < this.#oldest) return undefined;
    return this.#history.filter((change) => change.revision > revision);
  }

  get oldestRevision(): number {
    return this.#oldest;
  }

  /** Forgets the past: a watch from an older revision is answered with 410. */
  compact(): void {
    this.#history = [];
    this.#oldest = this.#revision;
  }

  #tell(change: Change): void {
    this.#history.push(change);
    if (this.#history.length > HISTORY) this.#oldest = this.#history.shift()?.revision ?? this.#oldest;
    this.#queue.push(change);
    if (this.#telling) return;
    this.#telling = true;
    try {
      for (let next = this.#queue.shift(); next !== undefined; next = this.#queue.shift()) {
        for (const listener of [...this.#listeners]) listener(next);
      }
    } finally {
      this.#telling = false;
    }
  }
}

function keyOf(resource: ResourceName, namespace: string | undefined, name: string): string {
  return `${resource}/${namespace ?? ''}/${name}`;
}
