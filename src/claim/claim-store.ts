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

/** A staged file that goes into the record. It keeps its staged name too where the disk has hard links. */
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
  /**
   * Outputs first, then the result: the result is the commit point. `keep`: the staged files are wanted afterwards too,
   * and are copied where they cannot have two names.
   */
  saveResult(
    installation: string,
    result: Result,
    outputs?: readonly NewOutput[],
    options?: { readonly keep?: boolean },
  ): Promise<void>;
  /** Undefined where the result names it but the file is gone (tolerated, cnab-go's stores have it). */
  output(resultId: string, name: string): Promise<StoredOutput | undefined>;
  /** Cascades: outputs, results, what its runs left in `runs/`, claims, installation. */
  remove(installation: string): Promise<void>;
  /**
   * A private folder (0700) for a run in flight, on the same file system as the outputs; this process has it for itself until it
   * closes it. Rejects with `InUse` while another one has it, whatever target that one knows the run by.
   */
  openRun(runId: string, use: RunUse): Promise<RunFolder>;
  /** What lies in the folder of a run, without making one. */
  runLeft(runId: string): Promise<RunLeft | undefined>;
  /** Of the runs that have a folder, those that are named. */
  runsLeft(runIds: readonly string[]): Promise<readonly string[]>;
  /** The process that acts on the installation; undefined where none does, as far as its lock tells. */
  owner(installation: string): Promise<LiveOwner | undefined>;
}

/** For whom a run's folder is opened. */
export interface RunUse {
  readonly installation: string;
  /** What it is opened for, for people: `install`, `resume`. */
  readonly purpose: string;
}

/** Who holds a lock and is not known to be dead. */
export interface LiveOwner {
  readonly pid: number;
  readonly host: string;
  /** What it does: `install`. */
  readonly purpose: string;
  /** RFC 3339. */
  readonly since: string;
  /** False where it cannot be seen from here: it counts as alive, and may be long gone. */
  readonly isJudged: boolean;
  readonly lockFile: string;
}

/** What a run has left in its folder so far. */
export interface RunLeft {
  /** As `saveState` wrote it; undefined where it never did. */
  readonly state: object | undefined;
  readonly logFile: string;
  readonly logBytes: number;
  /** Bytes of outputs that are staged, whole or not. */
  readonly stagedBytes: number;
}

/** `runs/<run id>`: the state of a run in flight; gone when the run is settled and nothing of it is outstanding. */
export interface RunFolder {
  /** Folder for the driver's staged outputs. */
  readonly staging: string;
  /** File that the log of the run tool is appended to while it runs. */
  readonly logFile: string;
  /** Whose run it was when it was opened, by the state that was in it; undefined where there was none, or a damaged one. */
  readonly keptFor: { readonly installation: string; readonly targetId: string } | undefined;
  /** It was made when it was opened: nothing is kept in it. */
  readonly isNew: boolean;
  /** Durable before it resolves; notes whose run it is too. */
  saveState(state: object): Promise<void>;
  /** Undefined where there is none. */
  readState(): Promise<object | undefined>;
  remove(): Promise<void>;
  /** Lets another process have it. Idempotent. */
  close(): Promise<void>;
}
