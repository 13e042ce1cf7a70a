import type { Bundle, Json } from '../bundle/bundle.js';

/** Statuses of CNAB Claims 1.0.0 (400). `unknown` is never a success. */
export type Status = 'canceled' | 'failed' | 'pending' | 'running' | 'succeeded' | 'unknown';

/** Namespace of what we keep in `custom`: dotted, as spec 101 asks for extensions. */
export const CUSTOM_KEY = 'dev.cnab-cli';

/** A request to run one action (Claims 1.0.0). Immutable once written. Never holds a credential's value. */
export interface Claim {
  readonly schemaVersion?: string;
  readonly id: string;
  readonly installation: string;
  /** ULID; changes only for modifying actions. */
  readonly revision: string;
  /** RFC 3339. */
  readonly created: string;
  readonly action: string;
  readonly bundle: Bundle;
  readonly bundleReference?: string;
  /** Resolved typed values, defaults included. */
  readonly parameters?: Readonly<Record<string, Json>>;
  readonly custom?: Json;
}

/** One state that a claim was in (Claims 1.0.0). Immutable; running → succeeded is two results. */
export interface Result {
  readonly id: string;
  readonly claimId: string;
  readonly created: string;
  readonly status: Status;
  readonly message?: string;
  /** By output name; strings only, for cnab-go's readers: `contentDigest`, `generatedByBundle`. */
  readonly outputs?: Readonly<Record<string, OutputMetadata>>;
  readonly custom?: Json;
}

export interface OutputMetadata {
  readonly contentDigest?: string;
  readonly generatedByBundle?: string;
  readonly [key: string]: string | undefined;
}

/** Well-known output (spec 804): the combined log of the run tool, made by us. */
export const LOGS_OUTPUT = 'io.cnab.outputs.invocationImageLogs';

export interface ClaimRecord {
  readonly claim: Claim;
  /** Oldest first (by id). */
  readonly results: readonly Result[];
}

/** All that is recorded of one installation on one target. */
export interface Installation {
  readonly name: string;
  /** Oldest first (by id). */
  readonly records: readonly ClaimRecord[];
}
