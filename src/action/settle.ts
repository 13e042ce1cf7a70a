import type { RunFolder, TargetClaims } from '../claim/claim-store.js';
import type { Claim, Result } from '../claim/claim.js';
import { onDisk } from '../claim/disk-error.js';
import type { Target } from '../claim/target.js';
import type { DriverIo, OperationResult, RunState } from '../driver/driver.js';
import { CnabError, messageOf } from '../errors.js';
import { asWarning } from './as-warning.js';
import { declaresLog, finalResult, verdictOf, type Verdict } from './final-result.js';
import { judgeOutputs, type JudgedOutputs, type KeptOutput } from './judge.js';
import { resultExtras } from './kept.js';
import { NotedPlace } from './noted-place.js';
import { outcomeOf } from './outcome.js';
import type { ActionContext, ActionOutcome } from './request.js';
import type { RunLog, RunLogEnd } from './run-log.js';
import type { Outstanding } from './run-note.js';
import { stillStaged } from './still-staged.js';

/** A run on its way to its end, begun by this process or by another. */
export interface RunAtHand {
  readonly claim: Claim;
  readonly target: Target;
  /** Of the bundle. */
  readonly digest: string;
  readonly folder: RunFolder;
  readonly log: RunLog;
  /** As it was noted last; undefined while nothing was. */
  readonly state: RunState | undefined;
  /** Absent: a stateless run, which leaves no record. */
  readonly claims?: TargetClaims;
  /** The final result that it has already, where something was outstanding. */
  readonly known?: Result;
  /** What was outstanding: it stays noted until it has come. */
  readonly outstanding?: Outstanding;
}

/** How far a run has come, for the caller that must leave a final result whatever happens. */
export interface RunProgress {
  driving: boolean;
  settled: boolean;
}

type Drive = (io: DriverIo) => Promise<OperationResult>;

/** How a run was left, when its driver was done with it. */
type Ending =
  /** Detached from, or left: it goes on, and so does its record. */
  | { readonly kind: 'goes-on'; readonly outcome: ActionOutcome }
  /** Recorded; somebody may go on with it, so its folder, its state and what is on the target stay. */
  | { readonly kind: 'outstanding'; readonly outcome: ActionOutcome }
  /** Recorded, and nothing is missing that could still come. `keepJob`: what is on the target stays all the same. */
  | { readonly kind: 'settled'; readonly outcome: ActionOutcome; readonly keepJob: boolean }
  /** Nothing came to what is recorded already, which stays as it is. `more`: it can be tried again. */
  | {
      readonly kind: 'no-news';
      readonly outcome: ActionOutcome;
      readonly lost: OperationResult;
      readonly more: boolean;
    };

/**
 * Drives a run and settles it. In this order, because a process may be killed at any moment: the driver is done; outputs and
 * final result are on disk; what the run left on its target is released; its folder is removed. A run that goes on without
 * us keeps its record `running`, its folder and its state. Rejects with CnabError `contact-lost` where the disk refuses.
 */
export async function bringToItsEnd(
  run: RunAtHand,
  context: ActionContext,
  drive: Drive,
  progress: RunProgress = { driving: false, settled: false },
): Promise<ActionOutcome> {
  const { claim, claims, folder, target } = run;
  const place = new NotedPlace(folder, run);
  progress.driving = true;
  let ending: Ending;
  try {
    ending = await onDisk('keep', folder.staging, () => driveAndRecord(run, context, drive, place));
  } catch (error) {
    // It may have run, and may go on: whatever is recorded of it now, it can be taken up.
    if (place.state !== undefined) await place.note({}).catch(() => undefined);
    throw stillStaged(error, folder, claims === undefined ? undefined : { installation: claim.installation, target });
  }
  const { outcome } = ending;
  progress.settled = ending.kind !== 'goes-on';
  switch (ending.kind) {
    case 'goes-on':
      return claims === undefined ? await afterRun(outcome, () => folder.remove()) : outcome;
    case 'outstanding':
      return outcome;
    case 'settled':
      return await putAway(run, context, outcome, ending.keepJob ? undefined : place.state);
    case 'no-news':
      if (!ending.more) await putAway(run, context, outcome, place.state);
      throw fetchedNoMore(run, ending.lost);
  }
}

async function driveAndRecord(
  run: RunAtHand,
  context: ActionContext,
  drive: Drive,
  place: NotedPlace,
): Promise<Ending> {
  const driven = await driveToItsEnd(run, context, drive, (state) => place.moved(state));
  const { result } = driven;
  if (result.status === 'running') return { kind: 'goes-on', outcome: leftOutcome(run, context, driven) };
  const outstanding = outstandingOf(result);
  const more = outstanding !== undefined;
  // Before the record: what has a final result and nothing outstanding is released by whoever finds it.
  if (more) await place.note(outstanding);
  if (isNoNews(run, result)) return { kind: 'no-news', outcome: leftOutcome(run, context, driven), lost: result, more };
  const outcome = await settle(run, context, driven, more);
  if (more) return { kind: 'outstanding', outcome };
  if (run.outstanding !== undefined) await place.note(undefined);
  return { kind: 'settled', outcome, keepJob: result.keep === true };
}

/** What is known of a run's end is not given up for the news that it is not to be found any more. */
function isNoNews({ known }: RunAtHand, { exitCode }: OperationResult): boolean {
  return known !== undefined && known.status !== 'unknown' && exitCode === undefined;
}

function fetchedNoMore({ claim, known }: RunAtHand, { error, outstanding }: OperationResult): CnabError {
  const why = error === undefined ? '.' : `: ${error.message}`;
  const what = `the outputs that ${claim.action} (run ${claim.id}, ${known?.status}) still lacks`;
  return outstanding === undefined && error?.code !== 'contact-lost'
    ? new CnabError('outputs-incomplete', `${what} can be fetched no more${why}`)
    : new CnabError('contact-lost', `${what} could not be fetched${why}`, { suggestions: error?.suggestions ?? [] });
}

/** Releases what is at `place` on the target, if anything is, and removes the run's folder; what goes wrong is a warning. */
async function putAway(
  { claim, folder }: RunAtHand,
  { driver }: ActionContext,
  outcome: ActionOutcome,
  place: RunState | undefined,
): Promise<ActionOutcome> {
  const warnings = place === undefined ? [] : await driver.release({ runId: claim.id, state: place });
  const released = { ...outcome, warnings: [...outcome.warnings, ...warnings] };
  return await afterRun(released, () => folder.remove());
}

/** After a lost contact everything is outstanding, its end too. */
function outstandingOf({ outstanding, status, keep }: OperationResult): Outstanding | undefined {
  return outstanding ?? (status === 'unknown' && keep === true ? {} : undefined);
}

/** What goes wrong once a run is over takes nothing back of how it ended: it is a warning. */
export async function afterRun(outcome: ActionOutcome, step: () => Promise<void>): Promise<ActionOutcome> {
  return { ...outcome, warnings: [...outcome.warnings, ...(await asWarning(step))] };
}

/** A run whose driver is done. */
interface DrivenRun {
  readonly result: OperationResult;
  readonly logEnd: RunLogEnd;
}

/** The log is completed also when the driver throws: what it had brought is on disk then. */
async function driveToItsEnd(
  { log, folder, known }: RunAtHand,
  { signal, events }: ActionContext,
  drive: Drive,
  onState: (state: RunState) => Promise<void>,
): Promise<DrivenRun> {
  let result: OperationResult;
  try {
    const { onProgress } = events;
    result = await drive({ signal, staging: folder.staging, onLog: log.write, onProgress, onState });
  } catch (error) {
    await log.end(true);
    throw error;
  }
  const more = result.status === 'running' || (outstandingOf(result) !== undefined && !result.logComplete);
  const logEnd = await log.end(more);
  const wasComplete = known !== undefined && resultExtras(known).logComplete === true;
  const logComplete = wasComplete || (result.logComplete && logEnd.complete);
  return { result: { ...result, logComplete }, logEnd };
}

/** Judges the outputs and, but for a stateless run, stores them with the final result. */
async function settle(
  run: RunAtHand,
  context: ActionContext,
  { result, logEnd }: DrivenRun,
  keep: boolean,
): Promise<ActionOutcome> {
  const { claim, claims, folder } = run;
  const judged = await judgeOutputs(claim.bundle, claim.action, result, folder.staging);
  const exportError = await exportOutputs(judged, context);
  const verdict = verdictOf(claim.action, result, judged);
  const outputs = [...judged.kept, ...(declaresLog(claim) ? [] : [logEnd.output])];
  let recorded: Result | undefined;
  if (claims !== undefined) {
    const id = await claims.nextId(claim.installation);
    recorded = finalResult(id, claim, context.clock.now(), verdict, result, outputs);
    await claims.saveResult(claim.installation, recorded, outputs, { keep });
  }
  return outcomeOf(run, context, result, judged, verdict, {
    warnings: logEnd.warnings,
    ...(exportError === undefined ? {} : { exportError }),
    ...(recorded === undefined ? {} : { recorded }),
  });
}

/** A run that goes on: detached from, or left. */
function leftOutcome(run: RunAtHand, context: ActionContext, { result, logEnd }: DrivenRun): ActionOutcome {
  const verdict: Verdict = { status: 'running', ...(result.error === undefined ? {} : { error: result.error }) };
  const judged: JudgedOutputs = { kept: [], summaries: [], failures: [], warnings: [] };
  return outcomeOf(run, context, result, judged, verdict, { warnings: logEnd.warnings });
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
      : new CnabError('outputs-incomplete', `the outputs could not be copied: ${messageOf(error)}`);
  }
}
