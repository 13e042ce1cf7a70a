import type { RunFolder, TargetClaims } from '../claim/claim-store.js';
import type { Result } from '../claim/claim.js';
import { onDisk } from '../claim/disk-error.js';
import type { OperationResult, RunState, StopReason } from '../driver/driver.js';
import { CnabError, messageOf } from '../errors.js';
import { declaresLog, finalResult, verdictOf, type Verdict } from './final-result.js';
import { judgeOutputs, type JudgedOutputs, type KeptOutput } from './judge.js';
import { secretPatterns } from './mask.js';
import type { PreparedAction } from './prepare.js';
import type { ActionContext, ActionOutcome } from './request.js';
import { RunLog, type RunLogEnd } from './run-log.js';

/** How far a recorded run has come, for the caller that must leave a final result whatever happens. */
export interface RunProgress {
  driving: boolean;
  settled: boolean;
}

/**
 * The run itself and, where `progress` is given, the record of its end. The run folder goes when the run is settled;
 * when its outputs cannot be stored it stays, and the error says where. Rejects with CnabError when the disk refuses,
 * `contact-lost` once the driver has begun.
 */
export async function executeAction(
  prepared: PreparedAction,
  context: ActionContext,
  claims: TargetClaims,
  progress?: RunProgress,
): Promise<ActionOutcome> {
  const { claim, secrets, start } = prepared;
  const run = await claims.openRun(claim.id);
  context.events.onStart(start);
  prepared.warnings.forEach(context.events.onWarning);
  const log = await RunLog.create(run.logFile, secretPatterns(secrets), context.events.onLog);
  if (progress !== undefined) progress.driving = true;
  const outcome = await onDisk('keep', run.staging, async () => {
    const ended = await driveToItsEnd(prepared, context, run, log);
    const settled = await settle(prepared, context, run, ended, progress === undefined ? undefined : claims);
    if (ended.result.keep === true) return settled;
    const left = await context.driver.release({ runId: claim.id, state: ended.state });
    return { ...settled, warnings: [...settled.warnings, ...left] };
  }).catch((error: unknown) => {
    throw stillStaged(error, run);
  });
  if (progress !== undefined) progress.settled = true;
  return await afterRun(outcome, () => run.remove());
}

/** What goes wrong once a run is over takes nothing back of how it ended: it is a warning. */
export async function afterRun(outcome: ActionOutcome, step: () => Promise<void>): Promise<ActionOutcome> {
  try {
    await step();
    return outcome;
  } catch (error) {
    if (!(error instanceof CnabError)) throw error;
    return { ...outcome, warnings: [...outcome.warnings, `${error.message}.`] };
  }
}

/** A run whose driver is done. */
interface EndedRun {
  readonly result: OperationResult;
  readonly logEnd: RunLogEnd;
  /** As the driver told it last. */
  readonly state: RunState;
}

/** Judges the outputs and, where `claims` are given, stores them with the final result. */
async function settle(
  prepared: PreparedAction,
  context: ActionContext,
  run: RunFolder,
  { result, logEnd }: EndedRun,
  claims: TargetClaims | undefined,
): Promise<ActionOutcome> {
  const { claim } = prepared;
  const judged = await judgeOutputs(claim.bundle, claim.action, result, run.staging);
  const exportError = await exportOutputs(judged, context);
  const verdict = verdictOf(claim.action, result, judged);
  const outputs = [...judged.kept, ...(declaresLog(claim) ? [] : [logEnd.output])];
  let recorded: Result | undefined;
  if (claims !== undefined) {
    const id = await claims.nextId(claim.installation);
    recorded = finalResult(id, claim, context.clock.now(), verdict, result, outputs);
    await claims.saveResult(claim.installation, recorded, outputs);
  }
  return outcomeOf(prepared, context, result, judged, verdict, {
    warnings: logEnd.warnings,
    ...(exportError === undefined ? {} : { exportError }),
    ...(recorded === undefined ? {} : { recorded }),
  });
}

/** The log is completed also when the driver throws: what it had brought is on disk then. */
async function driveToItsEnd(
  prepared: PreparedAction,
  context: ActionContext,
  run: RunFolder,
  log: RunLog,
): Promise<EndedRun> {
  let result: OperationResult;
  let state: RunState = {};
  try {
    result = await drive(prepared, context, run, log, (told) => (state = told));
  } catch (error) {
    await log.end();
    throw error;
  }
  const logEnd = await log.end();
  return { result: { ...result, logComplete: result.logComplete && logEnd.complete }, logEnd, state };
}

async function drive(
  prepared: PreparedAction,
  context: ActionContext,
  run: RunFolder,
  log: RunLog,
  onState: (state: RunState) => void,
): Promise<OperationResult> {
  const { claim, operation } = prepared;
  if (context.signal.aborted) {
    return { ...stoppedBefore(claim.action, context.signal.reason as StopReason), ran: 'no', ...NOTHING };
  }
  return await context.driver.run(operation, {
    signal: context.signal,
    staging: run.staging,
    onLog: log.write,
    onProgress: context.events.onProgress,
    onState: (state) => {
      onState(state);
      return run.saveState({ claim: claim.id, installation: claim.installation, ...state });
    },
  });
}

const NOTHING = { outputs: [], problems: [], logComplete: true, warnings: [] };

/** A time-out that fires while credentials are fetched is one, and no interruption. */
function stoppedBefore(action: string, reason: StopReason): Pick<OperationResult, 'status' | 'error'> {
  if (reason.kind === 'timeout') {
    return { status: 'failed', error: new CnabError('timed-out', `the time-out was over before ${action} began.`) };
  }
  return { status: 'canceled', error: new CnabError('interrupted', `${action} was interrupted before it began.`) };
}

interface Extras {
  readonly warnings: readonly string[];
  readonly exportError?: CnabError;
  readonly recorded?: Result;
}

function outcomeOf(
  prepared: PreparedAction,
  context: ActionContext,
  result: OperationResult,
  judged: JudgedOutputs,
  verdict: Verdict,
  extras: Extras,
): ActionOutcome {
  const { claim, start } = prepared;
  const error = verdict.error ?? extras.exportError;
  const losses = verdict.error?.code === 'outputs-incomplete' ? [] : judged.failures;
  return {
    action: claim.action,
    installation: claim.installation,
    target: start.target,
    runId: claim.id,
    revision: claim.revision,
    status: verdict.status,
    ran: result.ran,
    ...(result.exitCode === undefined ? {} : { exitCode: result.exitCode }),
    bundle: { name: claim.bundle.name, version: claim.bundle.version, digest: prepared.digest },
    outputs: judged.summaries,
    logComplete: result.logComplete,
    ...(error === undefined ? {} : { error }),
    warnings: [...result.warnings, ...judged.warnings, ...extras.warnings, ...losses],
    ...(context.signal.aborted ? { stopReason: context.signal.reason as StopReason } : {}),
    ...(extras.recorded === undefined ? {} : { recorded: { claim, result: extras.recorded } }),
  };
}

/** Whatever the disk's trouble was called: once the driver has begun it is no longer "nothing ran, try again". */
function stillStaged(error: unknown, run: RunFolder): unknown {
  if (!(error instanceof CnabError)) return error;
  return new CnabError('contact-lost', error.message, {
    cause: error,
    details: error.details,
    suggestions: [`What the run brought is kept in ${run.staging}, its log in ${run.logFile}.`, ...error.suggestions],
  });
}

async function exportOutputs(judged: JudgedOutputs, context: ActionContext): Promise<CnabError | undefined> {
  const sensitive = new Set(judged.summaries.filter((summary) => summary.sensitive).map(({ name }) => name));
  const files = judged.kept.map(({ name, file }: KeptOutput) => ({ name, file, sensitive: sensitive.has(name) }));
  try {
    await context.events.onOutputs?.(files);
    return undefined;
  } catch (error) {
    return error instanceof CnabError
      ? error
      : new CnabError('unavailable', `the outputs could not be copied: ${messageOf(error)}`);
  }
}
