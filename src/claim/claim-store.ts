import type { Claim, Installation, Result } from './claim.js';
import type { Target } from './target.js';

/** A record that exists and cannot be read: named, never hidden, never in the way of the others. */
export interface DamagedRecord {
  readonly file: string;
  readonly reason: string;
}

export interface InstallationList {
  readonly installations: readonly Installation[];
  readonly damaged: readonly DamagedRecord[];
}

/** Held while one process acts on an installation. `release` is idempotent. */
export interface InstallationLock {
  release(): Promise<void>;
}

/** An output's bytes on disk: where, how many, and from which run. */
export interface StoredOutput {
  readonly name: string;
  readonly file: string;
  readonly size: number;
  readonly resultId: string;
}

/** Moves a staged file into the record; it is renamed, so the staged path is gone afterwards. */
export interface NewOutput {
  readonly name: string;
  readonly file: string;
}

/**
 * What actions and commands know of the place where claims, results and outputs are kept.
 * Every method rejects with CnabError: `unavailable` when the disk refuses, `invalid` when a record is damaged
 * or a store is of a newer version (the message names the file).
 */
export interface ClaimStore {
  targets(): Promise<readonly Target[]>;
  /** The records of one target. Nothing is written before the first `saveClaim`. */
  on(target: Target): TargetClaims;
  /** The targets on which this name has a record. */
  targetsOf(installation: string): Promise<readonly Target[]>;
}

export interface TargetClaims {
  readonly target: Target;
  list(): Promise<InstallationList>;
  /** Undefined where there is no record of that name. */
  read(installation: string): Promise<Installation | undefined>;
  /** Rejects with `busy`, naming the live owner, while another process holds it; a dead owner's lock is taken over. */
  lock(installation: string, purpose: string): Promise<InstallationLock>;
  /** A ULID greater than every id that is stored for the installation, also across processes and clock steps. */
  nextId(installation: string): Promise<string>;
  saveClaim(claim: Claim): Promise<void>;
  /** Outputs first, then the result: the result is the commit point. */
  saveResult(installation: string, result: Result, outputs?: readonly NewOutput[]): Promise<void>;
  /** Undefined where the result names it but the file is gone (tolerated, cnab-go's stores have it). */
  output(resultId: string, name: string): Promise<StoredOutput | undefined>;
  /** Cascades: outputs, results, what its runs left in `runs/`, claims, installation. */
  remove(installation: string): Promise<void>;
  /** A private folder (0700) for a run in flight, on the same file system as the outputs. */
  openRun(runId: string): Promise<RunFolder>;
}

/** `runs/<run id>`: the state of a run in flight; gone when the run is settled. */
export interface RunFolder {
  /** Folder for the driver's staged outputs. */
  readonly staging: string;
  /** File that the log of the run tool is appended to while it runs. */
  readonly logFile: string;
  /** Durable before it resolves. */
  saveState(state: object): Promise<void>;
  /** Undefined where there is none. */
  readState(): Promise<object | undefined>;
  remove(): Promise<void>;
}
