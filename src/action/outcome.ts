import type { Result } from '../claim/claim.js';
import type { OperationResult, StopReason } from '../driver/driver.js';
import type { CnabError } from '../errors.js';
import type { Verdict } from './final-result.js';
import type { JudgedOutputs } from './judge.js';
import type { ActionContext, ActionOutcome } from './request.js';
import type { RunAtHand } from './settle.js';
import { identityOf } from './run-identity.js';

/** What a run's outcome has beside the driver's result and the judged outputs. */
export interface Extras {
  readonly warnings: readonly string[];
  readonly exportError?: CnabError;
  readonly recorded?: Result;
}

/** How a run ended, or how it was left, for whoever asked for it. */
export function outcomeOf(
  { claim, target, digest }: Pick<RunAtHand, 'claim' | 'target' | 'digest'>,
  context: ActionContext,
  result: OperationResult,
  judged: JudgedOutputs,
  verdict: Verdict,
  extras: Extras,
): ActionOutcome {
  const { error } = verdict;
  const { exportError } = extras;
  const losses = error?.code === 'outputs-incomplete' ? [] : judged.failures;
  const outcome: ActionOutcome = {
    ...identityOf(claim, target),
    status: verdict.status,
    ran: result.ran,
    ...(result.exitCode === undefined ? {} : { exitCode: result.exitCode }),
    bundle: { name: claim.bundle.name, version: claim.bundle.version, digest },
    outputs: judged.summaries,
    logComplete: result.logComplete,
    ...(result.outstanding === undefined ? {} : { outstanding: result.outstanding }),
    ...(error === undefined ? {} : { error }),
    warnings: [...result.warnings, ...judged.warnings, ...extras.warnings, ...losses],
    ...(context.signal.aborted ? { stopReason: context.signal.reason as StopReason } : {}),
    ...(extras.recorded === undefined ? {} : { recorded: { claim, result: extras.recorded } }),
  };
  return exportError === undefined ? outcome : withLater(outcome, exportError);
}

/** What went wrong after a run is its error where it has none, else a warning beside it: neither hides the other. */
export function withLater(outcome: ActionOutcome, error: CnabError): ActionOutcome {
  if (outcome.error === undefined) return { ...outcome, error };
  return { ...outcome, warnings: [...outcome.warnings, error.message] };
}
