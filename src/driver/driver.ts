import type { InvocationImage } from '../bundle/bundle.js';
import type { Target } from '../claim/target.js';
import { CnabError } from '../errors.js';

/** One file that the run tool finds when it starts. */
export interface InputFile {
  /** Absolute, clean path inside the invocation container. */
  readonly path: string;
  readonly content: Uint8Array;
  /** `public`: bundle.json, claim.json, image-map (0444). `private`: parameters and credentials. */
  readonly access: 'public' | 'private';
  /** What it is, for messages: `parameter "port"`, `credential "kubeconfig"`. */
  readonly source: string;
}

export interface EnvironmentVariable {
  readonly name: string;
  /** Bytes, because a credential may hold any; a driver refuses what it cannot carry. */
  readonly value: Uint8Array;
  readonly source: string;
}

/** An output that the bundle declares and that applies to the action. */
export interface WantedOutput {
  readonly name: string;
  /** Absolute path below /cnab/app/outputs. Any text that JSON can hold but NUL and lone surrogates. */
  readonly path: string;
  readonly sensitive: boolean;
}

/** All that a driver needs to run one action (spec 103). Built by `action/operation.ts`, never changed. */
export interface Operation {
  /** ULID of the run; equals the id of its claim, and is drawn for stateless runs too. */
  readonly runId: string;
  readonly installation: string;
  readonly action: string;
  readonly revision: string;
  readonly bundleName: string;
  /** It leaves no record (spec 101), so nobody misses its end, and no other run waits for it. */
  readonly stateless?: true;
  readonly image: InvocationImage;
  /** The bundle's own folder, where there is one; the sandbox runs `cnab/app/run` in it. */
  readonly bundleFolder?: string;
  /** Service account that the run tool speaks as; absent: no token reaches it. */
  readonly serviceAccount?: string;
  readonly environment: readonly EnvironmentVariable[];
  readonly files: readonly InputFile[];
  readonly outputs: readonly WantedOutput[];
  /**
   * The claim as the store keeps it (JSON). A driver leaves it with the run, out of the bundle's reach, for whoever takes
   * the run up with an empty store.
   */
  readonly record: Uint8Array;
}

export interface DriverIo {
  /** Aborted for an orderly stop; `signal.reason` is a `StopReason`. */
  readonly signal: AbortSignal;
  /** Existing folder (0700) for the files of `OperationResult.outputs`; the caller removes it when nothing is outstanding. */
  readonly staging: string;
  /** The bundle's own log: raw bytes, in order, not cut at lines. Awaited, so a slow reader slows the stream. */
  readonly onLog: (chunk: Uint8Array) => void | Promise<void>;
  readonly onProgress: (progress: Progress) => void;
  /** What a later process needs to find this run again; durable before the driver goes on. */
  readonly onState: (state: RunState) => Promise<void>;
  /** True: `run` resolves with status `running` as soon as the run needs this process no more. */
  readonly detach?: boolean;
}

/** Why a run is to end; kept in its `RunState`, so that whoever takes it up completes the stop. `cancel`: by a later command. */
export type EndReason =
  | { readonly kind: 'signal'; readonly signal: 'SIGINT' | 'SIGTERM' }
  | { readonly kind: 'timeout' }
  | { readonly kind: 'cancel' };

/** `leave`: the run goes on, this process only stops looking on. */
export type StopReason = EndReason | { readonly kind: 'leave' };

export interface Progress {
  readonly phase: 'preparing' | 'waiting' | 'running' | 'collecting' | 'cleaning-up';
  /** One short clause for people: `pulling image …`. */
  readonly detail?: string;
  readonly receivedBytes?: number;
  readonly totalBytes?: number;
  /** Name of the output that is arriving. */
  readonly output?: string;
  /** Milliseconds since 1970: until then outputs that have not arrived can be fetched. */
  readonly heldUntil?: number;
}

/** Handle of a run in flight, kept in the store's `runs/` while it lasts. */
export interface RunState {
  readonly namespace?: string;
  readonly job?: string;
  readonly jobUid?: string;
  readonly pod?: string;
  readonly podUid?: string;
  /** The process of ours that was on it last, as its Job names it. */
  readonly holder?: string;
  /** Somebody asked that its Job stay, whoever brings the run to its end. */
  readonly keepJob?: true;
  /** Somebody asked for its end: saved before the cluster is told. */
  readonly stop?: EndReason;
}

/** A run that some process began, as far as its records or its own objects tell. */
export interface BegunRun {
  readonly runId: string;
  readonly installation: string;
  readonly action: string;
  /** What it was asked for, in the order in which it was asked (`Operation.outputs`). */
  readonly outputs: readonly WantedOutput[];
  /** As `onState` saved it last. */
  readonly state: RunState;
}

/** A run, as far as its target needs to know of it. */
export type KnownRun = Pick<BegunRun, 'runId' | 'state'>;

/** A run of an installation that a driver found on its target. */
export interface FoundRun extends Pick<Operation, 'runId' | 'action' | 'stateless'> {
  /** Milliseconds since 1970. */
  readonly created: number;
  readonly state: RunState;
}

/** What the run tool was given, read back from the run's own objects. */
export interface RunInputs {
  /** `Operation.record`. */
  readonly record: Uint8Array;
  readonly environment: ReadonlyMap<string, Uint8Array>;
  /** By path. */
  readonly files: ReadonlyMap<string, Uint8Array>;
}

/** How a begun run stands. `absent`: nothing of it is on the target. */
export interface RunSight {
  readonly phase: 'absent' | 'waiting' | 'running' | 'ended';
  readonly exitCode?: number;
  /** One clause for people that goes on after "it": `is running in pod …`, `has ended with exit code 0`. */
  readonly detail: string;
}

/** An output that has arrived whole: its bytes are in `file`, and their sha256 was proven. */
export interface CollectedOutput {
  readonly name: string;
  readonly file: string;
  readonly size: number;
  /** 64 hex digits. */
  readonly sha256: string;
}

/** An output that did not arrive. `missing` is for the caller to judge (defaults, failed run); the rest are losses. */
export interface OutputProblem {
  readonly name: string;
  readonly kind: 'missing' | 'not-regular' | 'unreadable' | 'too-large' | 'changed' | 'lost';
  /** One clause for people: `is a symbolic link`, `1.2 GiB, over the limit of 1 GiB`. */
  readonly reason: string;
}

/**
 * How a run ended; one shape for every end. An absent exit code is never a success.
 * `run` resolves with it also when the cluster refused the run or was lost; it rejects only for a bug of ours.
 */
export interface OperationResult {
  /** `running` only where it goes on without us: detached, or left (`leave`). */
  readonly status: 'succeeded' | 'failed' | 'canceled' | 'unknown' | 'running';
  /** Whether the run tool was started. */
  readonly ran: 'no' | 'yes' | 'unknown';
  readonly exitCode?: number;
  /** Why it is not a plain success, as an error with its exit code; absent when the container ended with 0 and all is well. */
  readonly error?: CnabError;
  readonly outputs: readonly CollectedOutput[];
  readonly problems: readonly OutputProblem[];
  /** False when a part of the bundle's log is known or feared to be missing. */
  readonly logComplete: boolean;
  /** Sentences for people that do not change the end: a child that was OOM-killed, a Job left in place. */
  readonly warnings: readonly string[];
  /** Something of the run is still wanted on the target (it goes on, outputs can be fetched, the user asked for it): no `release`. */
  readonly keep?: boolean;
  /** Outputs that did not arrive can be fetched by `resume`; `until`: milliseconds since 1970, where it is known. */
  readonly outstanding?: { readonly until?: number };
}

/** How a run ended, by what its target tells of it; `running`: nobody looks on any more. */
export type RunEnd = Pick<OperationResult, 'status' | 'ran' | 'exitCode' | 'error'>;

/** `busy`: a process that this driver knows nothing else of is on a run, or may be. */
export class RunHeld extends CnabError {
  constructor(message: string) {
    super('busy', message);
  }
}

export interface Driver {
  /**
   * Who would run it: asks the cluster. Creates nothing, but the namespace where the user asked for that and it is not
   * there, because a target has no identity before.
   * Rejects with CnabError `unavailable` when it cannot be reached or does not qualify.
   */
  target(signal: AbortSignal): Promise<Target>;
  /** True for the values of `invocationImages[].imageType` that this driver runs. */
  handles(imageType: string): boolean;
  /** Refuses, before anything is recorded or created, what this driver cannot carry. Throws CnabError `invalid`. */
  check(operation: Operation): void;
  /**
   * What `run` would create, in that order, as documents for people: no value of a Secret stands in them. Absent: this
   * driver creates nothing that could be shown. Throws like `check`.
   */
  preview?(operation: Operation): readonly object[];
  run(operation: Operation, io: DriverIo): Promise<OperationResult>;
  /**
   * Makes sure, before a run is taken up, that no process of another machine is on it, which may take a while; from then on this one
   * is. `takeOver`: whatever another one says. Rejects with `RunHeld`, and with CnabError `unavailable`.
   */
  hold(run: KnownRun, how: Pick<DriverIo, 'signal' | 'onProgress'> & { readonly takeOver: boolean }): Promise<void>;
  /**
   * Goes on where the process that began the run left off, and ends as `run` does; never starts the run tool. What has
   * arrived whole in `io.staging` does not travel again. Where nothing of the run is on the target and nothing says that it
   * ever was, it is `failed`, ran: no. Rejects with CnabError `unavailable` where the run cannot be looked at: nothing has
   * changed then.
   */
  resume(run: BegunRun, io: DriverIo): Promise<OperationResult>;
  /** Runs of the installation that are on the target, newest first. Rejects with CnabError `unavailable`. */
  find(installation: string, signal: AbortSignal): Promise<readonly FoundRun[]>;
  /** Rejects with CnabError: `unavailable` where it may not be read, `not-found` where it is gone. */
  inputs(run: KnownRun, signal: AbortSignal): Promise<RunInputs>;
  /**
   * Passes on the bundle's log from its beginning until the run tool has ended, and touches nothing else of the run: somebody
   * else may be on it. Ends early, without an error, when `signal` is aborted. `complete`: nothing is known to be missing.
   * Rejects with CnabError `unavailable`, or `not-found` where the run is gone.
   */
  follow(run: KnownRun, io: Pick<DriverIo, 'signal' | 'onLog'>): Promise<{ readonly complete: boolean }>;
  /**
   * Looks on until the run has ended, and touches nothing of it. `running` where `signal` is aborted first. Rejects as `follow`
   * does.
   */
  watch(run: KnownRun, io: Pick<DriverIo, 'signal' | 'onProgress'>): Promise<RunEnd>;
  /** `outputs`: the run must have been made for these. Rejects with CnabError `unavailable`, also where it was made for others. */
  look(run: KnownRun & Partial<Pick<BegunRun, 'outputs'>>, signal: AbortSignal): Promise<RunSight>;
  /**
   * Removes what the run left on the target, once its record is on disk. One whose end this driver has not seen is stopped
   * first; what may go on nevertheless stays, and `look` tells of it. Gives warnings instead of rejecting.
   */
  release(run: KnownRun): Promise<readonly string[]>;
  /** Frees connections. Idempotent. */
  close(): Promise<void>;
}
