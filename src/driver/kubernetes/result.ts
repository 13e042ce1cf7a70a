import { CnabError, type ErrorCode } from '../../errors.js';
import type { Assembly } from '../../frame/assemble.js';
import type { CollectedOutput, Operation, OperationResult, OutputProblem, EndReason, StopReason } from '../driver.js';
import type { PodPatch } from '../settings.js';
import { suggestionsForDenial } from './denial.js';
import type { PodHistory, PodOutcome } from './pod-verdict.js';

/** What of an operation stands in its result. Of a run that was taken up its input files are not known. */
export type ToldOperation = Pick<Operation, 'action' | 'outputs' | 'files'>;

/** All that decides how a run is told, once nothing more is waited for. */
export interface RunEnd {
  readonly outcome: PodOutcome;
  /** Asked to stop before there was a verdict. */
  readonly stopped?: EndReason;
  /** Asked to stop after it: only the collection was cut short. */
  readonly cut?: EndReason;
  /** What did not arrive can be fetched later. */
  readonly outstanding?: { readonly until?: number };
  /** Absent where the run tool never started. */
  readonly assembly?: Assembly;
  /** Why the outputs are not complete, where that has one cause. */
  readonly outputsReason?: string;
  readonly logComplete: boolean;
  readonly warnings: readonly string[];
  readonly suggestions?: readonly string[];
  /** The one that the run was made with: a patch to paste holds it too. */
  readonly podPatch?: PodPatch | undefined;
  /** The Job stays. */
  readonly keep: boolean;
}

const INTERRUPT: EndReason = { kind: 'signal', signal: 'SIGINT' };

/** One shape for every end. Pure. */
export function buildResult(operation: ToldOperation, end: RunEnd): OperationResult {
  const { outcome, assembly } = end;
  const outputs = collected(operation, assembly);
  const problems = problemsOf(operation, end);
  const error = errorOf(operation, end, problems);
  return {
    status: statusOf(end),
    ran: outcome.ran,
    ...(outcome.exitCode === undefined ? {} : { exitCode: outcome.exitCode }),
    ...(error === undefined ? {} : { error }),
    outputs,
    problems,
    logComplete: end.logComplete,
    warnings: [...outcome.warnings, ...end.warnings],
    ...(end.keep ? { keep: true } : {}),
    ...(end.outstanding === undefined ? {} : { outstanding: end.outstanding }),
  };
}

/** The result of a run that ended before its Job could be made: nothing ran, unless even that is unknown. */
export function notRunResult(error: CnabError, status: 'failed' | 'canceled' | 'unknown'): OperationResult {
  const ran = status === 'unknown' ? 'unknown' : 'no';
  const result = { status, ran, error, outputs: [], problems: [], logComplete: ran === 'no', warnings: [] } as const;
  // It may go on there.
  return status === 'unknown' ? { ...result, keep: true } : result;
}

/** The result of a run that goes on without us. */
export function goesOnResult({ started }: PodHistory, warnings: readonly string[]): OperationResult {
  const ran = started ? 'yes' : 'unknown';
  return { status: 'running', ran, outputs: [], problems: [], logComplete: false, warnings, keep: true };
}

/** How a stop is told; `what` says what it did. */
export function stopError(reason: EndReason, what: string, suggestions: readonly string[] = []): CnabError {
  if (reason.kind === 'timeout') return new CnabError('timed-out', `the time-out is over: ${what}`, { suggestions });
  const by = reason.kind === 'cancel' ? 'canceled by cnab resume --cancel' : `interrupted by ${reason.signal}`;
  return new CnabError('interrupted', `${by}: ${what}`, { suggestions });
}

/**
 * Why the run is to end; undefined while it is not, and where somebody only leaves. A caller that gives no reason has its
 * user's interrupt in mind.
 */
export function endReasonOf(signal: AbortSignal): EndReason | undefined {
  if (!signal.aborted) return undefined;
  const reason: unknown = signal.reason;
  const isReason = typeof reason === 'object' && reason !== null && 'kind' in reason;
  const known = isReason ? (reason as StopReason) : INTERRUPT;
  return known.kind === 'leave' ? undefined : known;
}

/** The same where nothing was made yet, so that there is nothing to leave. */
export function stopReasonOf(signal: AbortSignal): EndReason {
  return endReasonOf(signal) ?? INTERRUPT;
}

/** A stop before the verdict is what the user asked for, whatever exit code the run tool made of it. */
function statusOf({ outcome, stopped }: RunEnd): OperationResult['status'] {
  if (stopped === undefined) return outcome.status;
  return stopped.kind === 'timeout' ? 'failed' : 'canceled';
}

function errorOf(operation: ToldOperation, end: RunEnd, problems: readonly OutputProblem[]): CnabError | undefined {
  const { outcome, stopped, cut, suggestions = [] } = end;
  if (stopped !== undefined) return stopError(stopped, stoppedWhat(operation, outcome), suggestions);
  if (outcome.problem !== undefined) return told(operation, outcome.problem, end);
  const lost = problems.filter(({ kind }) => kind === 'lost');
  const what = (count: number): string =>
    `${operation.action} ended with exit code 0, but ${count} of its ${operation.outputs.length} outputs did not arrive`;
  if (cut !== undefined) {
    // A stop is one whatever single outputs lack beside.
    const gone = problems.filter(({ kind }) => kind === 'lost' || kind === 'changed');
    return gone.length === 0 ? undefined : stopError(cut, what(gone.length), suggestions);
  }
  if (lost.length === 0) return undefined;
  // Only one cause for all is told here; what is wrong with single outputs is for the caller to list and to judge.
  if (end.outputsReason === undefined) return undefined;
  return new CnabError('outputs-incomplete', `${what(lost.length)}: ${end.outputsReason}`, {
    details: lost.map(({ name, reason }) => `output "${name}" ${reason}`),
    suggestions,
  });
}

function told(
  { files }: ToldOperation,
  problem: { readonly code: ErrorCode; readonly message: string },
  { suggestions = [], podPatch }: RunEnd,
): CnabError {
  // The runtime names the path that it could not mount, not whose it is: `error mounting … at "/path": not a directory`.
  const file = files.find(
    ({ path }) => problem.message.includes('error mounting') && problem.message.includes(`"${path}"`),
  );
  const what = file === undefined ? '' : `${file.source} cannot be put at ${file.path}: `;
  return new CnabError(problem.code, what + problem.message, {
    suggestions: [...suggestionsForDenial(problem.message, podPatch), ...suggestions],
  });
}

function stoppedWhat({ action }: ToldOperation, outcome: PodOutcome): string {
  if (outcome.ran === 'no') return `${action} was stopped before the bundle started`;
  if (outcome.exitCode !== undefined)
    return `${action} was stopped, and the bundle ended with exit code ${outcome.exitCode}`;
  return `${action} was stopped, and what the bundle made of it is unknown`;
}

function collected({ outputs }: ToldOperation, assembly: Assembly | undefined): CollectedOutput[] {
  return (assembly?.outputs ?? []).flatMap(({ index, file, size, sha256 }) => {
    const name = outputs[index]?.name;
    return name === undefined ? [] : [{ name, file, size, sha256 }];
  });
}

function problemsOf({ outputs }: ToldOperation, { assembly, outcome, outputsReason }: RunEnd): OutputProblem[] {
  if (outcome.ran === 'no') return [];
  if (assembly === undefined) {
    return outputs.map(({ name }) => ({
      name,
      kind: 'lost',
      reason: `is lost${outputsReason === undefined ? '' : `: ${outputsReason}`}`,
    }));
  }
  return assembly.problems.flatMap(({ index, kind, reason }) => {
    const name = outputs[index]?.name;
    return name === undefined ? [] : [{ name, kind, reason }];
  });
}
