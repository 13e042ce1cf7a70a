import type { RunFolder, TargetClaims } from '../claim/claim-store.js';
import { isUnsettled, lastResult } from '../claim/status.js';
import type { Claim, ClaimRecord } from '../claim/claim.js';
import type { BegunRun, OperationResult, RunInputs, RunState } from '../driver/driver.js';
import { CnabError } from '../errors.js';
import { claimExtras } from './kept.js';
import { secretPatterns } from './mask.js';
import { wantedOutputs } from './operation.js';
import type { ActionContext, ActionOutcome } from './request.js';
import { identityOf } from './run-identity.js';
import { RunLog } from './run-log.js';
import { noteDocument, type RunNote } from './run-note.js';
import { readSecrets } from './secrets.js';
import { bringToItsEnd, type RunAtHand } from './settle.js';

/** A cluster that does not answer is not waited for longer. */
const PATIENCE_MS = 30_000;

/** A run that is taken up, by the process that holds its installation's lock and has the run's folder for itself. */
export interface RunToTakeUp {
  readonly record: ClaimRecord;
  readonly note: RunNote;
  readonly claims: TargetClaims;
  readonly folder: RunFolder;
  /** A stateless run leaves no record. */
  readonly stateless: boolean;
  /** Where they were read already. */
  readonly inputs?: RunInputs;
  /** Stop it. */
  readonly cancel: boolean;
}

/**
 * Goes on with a run that another process began, and settles it as that process would have. Rejects with CnabError:
 * `contact-lost` when the disk refuses, and as `bringToItsEnd` does.
 */
export async function takeUp(run: RunToTakeUp, context: ActionContext): Promise<ActionOutcome> {
  const { record, claims, folder, stateless } = run;
  const { claim } = record;
  const { target } = claims;
  const state: RunState = {
    ...run.note.state,
    ...(run.cancel && run.note.state.stop === undefined ? { stop: { kind: 'cancel' } } : {}),
  };
  // What is known now is on disk before anything is done: this process may be killed like the one before it.
  await folder.saveState(noteDocument({ ...run.note, state }));
  const { serviceAccount } = claimExtras(claim).choices;
  context.events.onStart({
    ...identityOf(claim, target),
    ...(serviceAccount === undefined ? {} : { serviceAccount }),
  });
  const secrets = await readSecrets(
    { claim, state, ...(run.inputs && { inputs: run.inputs }) },
    {
      driver: context.driver,
      // Not the signal that ends the run: also of one that is being stopped the log is masked.
      signal: AbortSignal.timeout(PATIENCE_MS),
    },
  );
  const log = await RunLog.resume(folder.logFile, secretPatterns(secrets.values), context.events.onLog, context.signal);
  const begun: BegunRun = {
    ...{ runId: claim.id, installation: claim.installation, action: claim.action, state },
    outputs: wantedOutputs(claim.bundle, claim.action),
  };
  const known = lastResult(record);
  const atHand: RunAtHand = {
    ...{ claim, target, folder, log, state, digest: claimExtras(claim).bundleDigest },
    ...(stateless ? {} : { claims }),
    ...(known === undefined || isUnsettled(record) ? {} : { known }),
    ...(run.note.outstanding === undefined ? {} : { outstanding: run.note.outstanding }),
  };
  return await bringToItsEnd(atHand, context, async (io) => {
    if (run.note.isLost === true && isUnsettled(record) && state.namespace === undefined) return lostRun(claim);
    if (secrets.withheld === undefined) return await context.driver.resume(begun, io);
    let hasLog = false;
    const result = await context.driver.resume(begun, { ...io, onLog: () => void (hasLog = true) });
    // Of a run that is gone, and with it what it was given, nothing comes that could be withheld.
    if (!hasLog) return result;
    const withheld = `the rest of the log is neither shown nor recorded: ${secrets.withheld}.`;
    return { ...result, logComplete: false, warnings: [...result.warnings, withheld] };
  });
}

/** Nothing tells where it was, and nothing of it was found: it may have run from its beginning to its end. */
function lostRun({ action, id }: Claim): OperationResult {
  const message = `the note of run ${id} is lost and nothing of it is on the target any more, so how ${action} ended is unknown`;
  const suggestions = ['it is recorded as unknown: look at what it may have made before you run the next action'];
  const error = new CnabError('contact-lost', message, { suggestions });
  return { status: 'unknown', ran: 'unknown', error, outputs: [], problems: [], logComplete: false, warnings: [] };
}
