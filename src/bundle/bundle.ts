/**
 * The documents of CNAB Core 1.2.0, chapter 101 (bundle.json), as types.
 * Nested objects are open in the spec's schema, so unknown keys are legal and are kept.
 */

import { own } from './own.js';

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };
export type JsonObject = { readonly [key: string]: Json };

/** A JSON Schema, draft 7. `true` accepts everything, `false` nothing. */
export type Definition = boolean | JsonObject;

export interface Bundle {
  readonly schemaVersion: string;
  readonly name: string;
  readonly version: string;
  readonly description?: string;
  readonly keywords?: readonly string[];
  readonly license?: string;
  readonly maintainers?: readonly Maintainer[];
  readonly invocationImages: readonly InvocationImage[];
  readonly images?: Readonly<Record<string, BundleImage>>;
  readonly definitions?: Readonly<Record<string, Definition>>;
  readonly parameters?: Readonly<Record<string, Parameter>>;
  readonly credentials?: Readonly<Record<string, Credential>>;
  readonly outputs?: Readonly<Record<string, Output>>;
  readonly actions?: Readonly<Record<string, Action>>;
  readonly requiredExtensions?: readonly string[];
  readonly custom?: Readonly<Record<string, Json>>;
}

export interface Maintainer {
  readonly name: string;
  readonly email?: string;
  readonly url?: string;
}

export interface InvocationImage {
  readonly image: string;
  /** `oci` when absent (spec 101). */
  readonly imageType?: string;
  /** Digest of the manifest, `sha256:…`; verified before the image runs. */
  readonly contentDigest?: string;
  readonly size?: number;
  readonly labels?: Readonly<Record<string, string>>;
  readonly mediaType?: string;
}

export interface BundleImage extends InvocationImage {
  readonly description?: string;
}

export interface Destination {
  readonly env?: string;
  readonly path?: string;
}

export interface Parameter {
  /** Name of an entry of `definitions`. */
  readonly definition: string;
  readonly destination: Destination;
  /** Absent or empty: all actions. */
  readonly applyTo?: readonly string[];
  readonly required?: boolean;
  readonly description?: string;
}

export interface Credential extends Destination {
  readonly required?: boolean;
  readonly applyTo?: readonly string[];
  readonly description?: string;
}

export interface Output {
  readonly definition: string;
  /** A strict, clean subpath of /cnab/app/outputs. */
  readonly path: string;
  readonly applyTo?: readonly string[];
  readonly description?: string;
}

export interface Action {
  readonly title?: string;
  readonly description?: string;
  readonly modifies?: boolean;
  readonly stateless?: boolean;
}

export const OUTPUTS_FOLDER = '/cnab/app/outputs';

/** The three actions that every bundle has; they modify and are never stateless (spec 101). */
export const BUILT_IN_ACTIONS = ['install', 'upgrade', 'uninstall'] as const;

/** A bundle together with the exact bytes it was read from: those are what the run tool gets. */
export interface LoadedBundle {
  readonly bundle: Bundle;
  /** The document as read (JSON text). Big integers and unknown keys survive only here. */
  readonly source: Uint8Array;
  /** `sha256:` + hex of the canonical form (RFC 8785). */
  readonly digest: string;
  /** Where it came from, for messages: a path, or `standard input`. */
  readonly origin: string;
  /** Folder that holds bundle.json and perhaps `cnab/app/run`; absent when read from standard input. */
  readonly folder?: string;
  /** Problems that do not forbid running it, each one sentence. */
  readonly warnings: readonly string[];
}

/** True when something with this `applyTo` concerns the action. */
export function appliesTo(scoped: { readonly applyTo?: readonly string[] }, action: string): boolean {
  return scoped.applyTo === undefined || scoped.applyTo.length === 0 || scoped.applyTo.includes(action);
}

/**
 * True when the definition marks its values, or a part of them, as sensitive (`writeOnly: true`, spec 101 and JSON Schema
 * draft 7): one secret member makes the whole value a secret, since it travels and is stored as one.
 */
export function holdsSecrets(definition: Json): boolean {
  if (definition === null || typeof definition !== 'object') return false;
  if (Array.isArray(definition)) return (definition as readonly Json[]).some(holdsSecrets);
  return Object.entries(definition).some(
    ([key, value]) => (key === 'writeOnly' && value === true) || holdsSecrets(value),
  );
}

/** The bundle's definition of that name; where it does not exist, the one that accepts everything. */
export function definitionOf(bundle: Pick<Bundle, 'definitions'>, name: string): Definition {
  return own(bundle.definitions, name) ?? true;
}

/** True when values of that definition are sensitive; of one that does not exist they are not. */
export function isSensitive(bundle: Bundle, definitionName: string): boolean {
  return holdsSecrets(definitionOf(bundle, definitionName));
}
