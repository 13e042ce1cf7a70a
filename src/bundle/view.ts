import type {
  Action,
  BundleImage,
  Credential,
  Definition,
  InvocationImage,
  Json,
  JsonObject,
  Output,
  Parameter,
} from './bundle.js';
import { own } from './own.js';
import { pointerOf } from './problem.js';

/** Name or position, and what stands there. */
export type Entry<T> = readonly [key: string, value: T];

/**
 * The parts of a document that have the shape of a bundle, so that rules can look at them although other parts are
 * broken: all problems are found at once, and no rule meets a wrong type.
 */
export interface BundleView {
  readonly schemaVersion?: string;
  readonly name?: string;
  readonly version?: string;
  readonly invocationImages: readonly Entry<InvocationImage>[];
  readonly images: readonly Entry<BundleImage>[];
  readonly definitions: readonly Entry<Definition>[];
  readonly parameters: readonly Entry<Parameter>[];
  readonly credentials: readonly Entry<Credential>[];
  readonly outputs: readonly Entry<Output>[];
  readonly actions: readonly Entry<Action>[];
  readonly requiredExtensions: readonly Entry<string>[];
  readonly custom: ReadonlySet<string>;
  /** All names under `definitions` and `actions`, of broken entries too: a reference to one of those is not dangling. */
  readonly definitionNames: ReadonlySet<string>;
  readonly actionNames: ReadonlySet<string>;
  /** True when the section itself is broken, so that nothing can be said about what it lacks. */
  readonly isBroken: (section: string) => boolean;
}

/** `broken` holds the paths of everything that does not have a bundle's shape. */
export function viewOf(document: JsonObject, broken: readonly (readonly string[])[]): BundleView {
  const damaged = new Set(broken.map((path) => pointerOf(path.slice(0, 2))));
  const isBroken = (section: string): boolean => damaged.has(pointerOf([section]));
  const text = (field: string): string | undefined => {
    const value = own(document, field);
    return typeof value === 'string' ? value : undefined;
  };
  const all = (section: string): Entry<Json>[] => {
    const value = own(document, section);
    return value === undefined || value === null || typeof value !== 'object' || isBroken(section)
      ? []
      : Object.entries(value);
  };
  const entries = <T>(section: string): Entry<T>[] =>
    all(section).filter(([key]) => !damaged.has(pointerOf([section, key]))) as unknown as Entry<T>[];
  const names = (section: string): Set<string> => new Set(all(section).map(([name]) => name));
  const fields = Object.fromEntries(
    ['schemaVersion', 'name', 'version']
      .map((field) => [field, text(field)] as const)
      .filter(([, value]) => value !== undefined),
  );
  return {
    ...fields,
    invocationImages: entries('invocationImages'),
    images: entries('images'),
    definitions: entries('definitions'),
    parameters: entries('parameters'),
    credentials: entries('credentials'),
    outputs: entries('outputs'),
    actions: entries('actions'),
    requiredExtensions: entries('requiredExtensions'),
    custom: names('custom'),
    definitionNames: names('definitions'),
    actionNames: names('actions'),
    isBroken,
  };
}
