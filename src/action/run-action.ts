import { checkInstallationName } from '../bundle/names.js';
import { shellWord } from '../bundle/shell-word.js';
import type { TargetClaims } from '../claim/claim-store.js';
import type { Installation, Result } from '../claim/claim.js';
import { isUnsettled, lastResult } from '../claim/status.js';
import { CnabError, messageOf } from '../errors.js';
import { asWarning } from './as-warning.js';
import { executeAction } from './execute.js';
import { runningResult, unbegunResult, unfinishedResult, unknownResult } from './final-result.js';
import { giveUpRun } from './give-up.js';
import { releaseLeftovers } from './leftovers.js';
import { onRun } from './on-run.js';
import { withLater } from './outcome.js';
import { prepareAction, type PreparedAction } from './prepare.js';
import { leavesNoRecord, prepareRecorded } from './prepare-recorded.js';
import { choiceOf } from './refuse.js';
import type { ActionContext, ActionOutcome, ActionRequest } from './request.js';
import { noteDocument } from './run-note.js';
import { afterRun } from './settle.js';
import { surveyRuns } from './unfinished.js';

/**
 * Runs one action of one installation: everything is checked, then the claim and a `running` result are on disk, then
 * the driver runs it, then outputs and the final result are on disk. Every end after the claim leaves a final result.
 *
 * Rejects with CnabError when it refuses to begin (nothing was recorded and nothing ran), or when the record of a
 * finished run cannot be written; resolves for every other end, whose `error` says what it was.
 */
export async function runAction(request: ActionRequest, context: ActionContext): Promise<ActionOutcome> {
  checkInstallationName(request.installation);
  const claims = context.store.on(await context.driver.target(context.signal));
  const before = await claims.read(request.installation);
  if (await leavesNoRecord(request, before)) {
    const prepared = await prepareAction(request, context, claims, before);
    return await onRun(prepared.claim, request.action, { claims, store: context.store }, (folder) =>
      executeAction(prepared, context, claims, folder),
    );
  }
  const lock = await claims.lock(request.installation, request.action);
  let outcome: ActionOutcome;
  try {
    outcome = await runLocked(request, context, claims);
  } catch (error) {
    await lock.release().catch(() => undefined);
    throw error;
  }
  return await afterRun(outcome, () => lock.release());
}

async function runLocked(request: ActionRequest, context: ActionContext, claims: TargetClaims): Promise<ActionOutcome> {
  // Read again: what was true before the lock was taken may have changed.
  const installation = await claims.read(request.installation);
  const prepared = await prepareRecorded(request, context, claims, installation);
  if (installation !== undefined) await clearEarlierRuns(installation, claims, context);
  const outcome = await runRecorded(prepared, context, claims);
  if (!request.deleteRecord || outcome.status !== 'succeeded') return outcome;
  try {
    await claims.remove(request.installation);
    return outcome;
  } catch (error) {
    if (!(error instanceof CnabError)) throw error;
    return withRecordLeft(outcome, error);
  }
}

/** It has run, so the code is none that says that nothing did, whatever the disk has refused. */
function withRecordLeft(outcome: ActionOutcome, cause: CnabError): ActionOutcome {
  const { action, installation, target } = outcome;
  const message = `${action} succeeded, but its record is still there: ${cause.message}`;
  const forget = `To drop it: cnab forget ${shellWord(installation)} ${choiceOf(target)}`.trimEnd();
  const suggestions = [...cause.suggestions, forget];
  return withLater(outcome, new CnabError('outputs-incomplete', message, { suggestions, cause }));
}

/**
 * Puts away what killed processes left. A run that never got an end is stopped, recorded as unknown, and its Job removed,
 * before the next one begins; `prepareAction` let it pass only with --force.
 */
async function clearEarlierRuns(
  installation: Installation,
  claims: TargetClaims,
  context: ActionContext,
): Promise<void> {
  const { unfinished, leftovers } = await surveyRuns(claims, installation);
  const { onWarning } = context.events;
  for (const run of unfinished.filter(({ lacks }) => lacks !== 'outputs')) {
    const { record, lacks } = run;
    const { claim } = record;
    await onRun(claim, 'give up', { claims, store: context.store }, async (folder) => {
      (await giveUpRun(run, claims.target, context)).forEach(onWarning);
      if (isUnsettled(record) || lastResult(record) === undefined) {
        const id = await claims.nextId(claim.installation);
        const now = context.clock.now();
        const settled = lacks === 'start' ? unbegunResult(id, claim, now) : unknownResult(id, claim, now);
        await claims.saveResult(claim.installation, settled);
      }
      (await asWarning(() => folder.remove())).forEach(onWarning);
    });
  }
  (await releaseLeftovers(leftovers, installation.name, claims, context)).forEach(onWarning);
}

async function runRecorded(
  prepared: PreparedAction,
  context: ActionContext,
  claims: TargetClaims,
): Promise<ActionOutcome> {
  const { claim } = prepared;
  const record = async (document: (id: string, now: number) => Result): Promise<Result> => {
    const result = document(await claims.nextId(claim.installation), context.clock.now());
    await claims.saveResult(claim.installation, result);
    return result;
  };
  await claims.saveClaim(claim);
  const progress = { settled: false, driving: false };
  try {
    return await onRun(claim, claim.action, { claims, store: context.store }, async (folder) => {
      // Before the record says that it runs: a running one without a note has lost it, and may well have run.
      await folder.saveState(noteDocument({ state: {} }));
      await record((id, now) => runningResult(id, claim, now));
      return await executeAction(prepared, context, claims, folder, progress);
    });
  } catch (error) {
    // A full disk or a bug of ours: the run must not look as if it were going on for ever.
    if (!progress.settled) {
      await record((id, now) => unfinishedResult(id, claim, now, progress.driving, messageOf(error))).catch(
        () => undefined,
      );
    }
    throw error;
  }
}
