import type { Json, LoadedBundle } from '../bundle/bundle.js';
import type { ClaimStore } from '../claim/claim-store.js';
import type { Claim, Result } from '../claim/claim.js';
import type { Clock } from '../driver/clock.js';
import type { Driver, Progress, StopReason } from '../driver/driver.js';
import type { CnabError } from '../errors.js';
import type { RunIdentity } from './run-identity.js';

/** A parameter value that somebody gave, before it is checked. */
export interface GivenParameter {
  readonly name: string;
  /** `text` is converted by the definition's type (`-p k=v`); `typed` came from JSON or YAML; `file` are a file's bytes. */
  readonly value:
    | { readonly kind: 'text'; readonly text: string }
    | { readonly kind: 'typed'; readonly json: Json }
    | { readonly kind: 'file'; readonly bytes: Uint8Array };
  /** For messages and the dry-run table: `-p`, `--params values.yaml`, `parameter set prod`. */
  readonly from: string;
  /** True for an entry of a set, which may serve several bundles: a name that this one lacks is passed over. */
  readonly shared?: boolean;
}

/**
 * Gives the values of exactly the named credentials; called as late as possible, once.
 * `found` lacks the names it knows nothing of; a source that fails rejects with CnabError `invalid` naming all failures.
 */
export type CredentialResolver = (names: readonly string[]) => Promise<ReadonlyMap<string, Uint8Array>>;

/** Choices that a later action of the same installation keeps, so that nobody has to repeat them. */
export interface Choices {
  /** Names of credential sets, or absolute paths. */
  readonly credentialSets: readonly string[];
  readonly serviceAccount?: string;
  /** Image references as the bundle has them -> where they were relocated to (spec 103). */
  readonly relocation?: Readonly<Record<string, string>>;
}

export interface ActionRequest {
  /** install, upgrade, uninstall or a custom action of the bundle. */
  readonly action: string;
  readonly installation: string;
  /** Absent: the bundle of the last modifying claim. Required for install. */
  readonly bundle?: LoadedBundle;
  /** In rising precedence: later entries win. */
  readonly parameters: readonly GivenParameter[];
  /** What was chosen this time; what is absent or empty is taken from the last modifying run, unless `reset`. */
  readonly choices: Choices;
  /** Makes the resolver over the credential sets that apply (given or kept) and whatever single credentials were given. */
  readonly credentials: (sets: readonly string[]) => CredentialResolver;
  /** Drop what earlier runs chose. */
  readonly reset: boolean;
  /** Install over an installed or unsettled installation; recorded as such. */
  readonly force: boolean;
  /** upgrade --install: install where there is nothing to upgrade. */
  readonly installIfAbsent: boolean;
  /** uninstall --delete-record: remove the record after success. */
  readonly deleteRecord: boolean;
  readonly ignoreRequiredExtensions: boolean;
  /** Leave as soon as the run needs this process no more; refused for a stateless action, which nobody could take up. */
  readonly detach?: boolean;
  /** Outputs that the caller asks for by name; one that the bundle does not declare is refused before anything runs. */
  readonly namedOutputs?: readonly string[];
}

/** What the caller sees and says while an action runs. */
export interface ActionEvents {
  /** The bundle's log, secrets masked, bytes otherwise as they came. */
  readonly onLog: (chunk: Uint8Array) => void | Promise<void>;
  readonly onProgress: (progress: Progress) => void;
  readonly onWarning: (sentence: string) => void;
  /** The outputs as files, before they move into the record; a copy must be made here. Rejections become the run's error. */
  readonly onOutputs?: (outputs: readonly { name: string; file: string; sensitive: boolean }[]) => Promise<void>;
  /** Right before anything runs: what will happen where. */
  readonly onStart: (start: ActionStart) => void;
}

export interface ActionStart extends RunIdentity {
  /** From which revision which choices are kept; absent when nothing is. */
  readonly kept?: { readonly revision: string; readonly parameters: readonly string[]; readonly choices: Choices };
  /** As whom the run tool speaks to the cluster; absent: as nobody. */
  readonly serviceAccount?: string;
  /** It is recorded, so another process can take it up. */
  readonly resumable?: boolean;
}

export interface ActionContext {
  readonly store: ClaimStore;
  readonly driver: Driver;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly events: ActionEvents;
}

/** One output after a run, as commands print it; a sensitive one carries neither its value nor its digest. */
export interface OutputSummary {
  readonly name: string;
  /** JSON Schema type(s) of the definition, joined by `|`; empty when untyped. */
  readonly type: string;
  readonly size: number;
  /** 64 hex digits; absent when sensitive, or not recorded. */
  readonly sha256?: string;
  readonly sensitive: boolean;
  /** Typed value; absent when sensitive, binary or over 64 KiB. */
  readonly value?: Json;
  /** True when the definition's default was stored because the bundle wrote none. */
  readonly isDefault?: boolean;
}

/** How an action ended. Rejections are reserved for ends before a run began (refusals) and for our bugs. */
export interface ActionOutcome extends RunIdentity {
  /** `running` only of a run that goes on without us (detached, left). */
  readonly status: 'succeeded' | 'failed' | 'canceled' | 'unknown' | 'running';
  readonly ran: 'no' | 'yes' | 'unknown';
  readonly exitCode?: number;
  readonly bundle: { readonly name: string; readonly version: string; readonly digest: string };
  readonly outputs: readonly OutputSummary[];
  readonly logComplete: boolean;
  /** Outputs that did not arrive can be fetched by `resumeAction`; `until`: milliseconds since 1970, where it is known. */
  readonly outstanding?: { readonly until?: number };
  readonly error?: CnabError;
  readonly warnings: readonly string[];
  readonly stopReason?: StopReason;
  /** Absent for stateless runs, which leave no record. */
  readonly recorded?: { readonly claim: Claim; readonly result: Result };
}
