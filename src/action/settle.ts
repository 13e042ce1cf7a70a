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
import { outcomeOf } from './outcome.js';
import type { ActionContext, ActionOutcome } from './request.js';
import type { RunLog, RunLogEnd } from './run-log.js';
import { noteDocument, type Outstanding } from './run-note.js';
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
  const { claim, folder } = run;
  let state = run.state;
  const note = (now: RunState, outstanding?: Outstanding): Promise<void> =>
    folder.saveState(noteDocument({ state: now, ...(outstanding === undefined ? {} : { outstanding }) }));
  progress.driving = true;
  let ended: EndedRun;
  try {
    ended = await onDisk('keep', folder.staging, async () => {
      const driven = await driveToItsEnd(run, context, drive, async (told) => {
        await note(told, run.outstanding);
        state = told;
      });
      const { result } = driven;
      if (result.status === 'running') return { outcome: leftOutcome(run, context, driven), stays: true };
      const outstanding = outstandingOf(result);
      const stays = outstanding !== undefined;
      // Before the record: what has a final result and nothing outstanding is released by whoever finds it.
      if (outstanding !== undefined) await note(state ?? {}, outstanding);
      if (isNoNews(run, result)) return { outcome: leftOutcome(run, context, driven), stays, lost: result };
      const outcome = await settle(run, context, driven, stays);
      if (run.outstanding !== undefined && !stays) await note(state ?? {});
      return { outcome, stays, keep: result.keep === true };
    });
  } catch (error) {
    // It may have run, and may go on: whatever is recorded of it now, it can be taken up.
    if (state !== undefined) await note(state, {}).catch(() => undefined);
    const { installation } = claim;
    throw stillStaged(error, folder, run.claims === undefined ? undefined : { installation, target: run.target });
  }
  const { outcome, stays, lost } = ended;
  if (outcome.status === 'running' && lost === undefined) {
    return run.claims === undefined ? await afterRun(outcome, () => folder.remove()) : outcome;
  }
  progress.settled = true;
  const released = ended.keep || stays || state === undefined ? outcome : await release(run, context, outcome, state);
  const put = stays ? released : await afterRun(released, () => folder.remove());
  if (lost !== undefined) throw fetchedNoMore(run, lost);
  return put;
}

interface EndedRun {
  readonly outcome: ActionOutcome;
  /** Somebody may go on with it: its folder, its state and what is on the target stay. */
  readonly stays: boolean;
  /** What is on the target stays. */
  readonly keep?: boolean;
  /** Set where the record stays as it is. */
  readonly lost?: OperationResult;
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

async function release(
  { claim }: RunAtHand,
  { driver }: ActionContext,
  outcome: ActionOutcome,
  state: RunState,
): Promise<ActionOutcome> {
  const warnings = await driver.release({ runId: claim.id, state });
  return { ...outcome, warnings: [...outcome.warnings, ...warnings] };
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
