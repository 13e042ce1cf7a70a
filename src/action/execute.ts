import type { RunFolder, TargetClaims } from '../claim/claim-store.js';
import type { DriverIo, OperationResult, StopReason } from '../driver/driver.js';
import { CnabError } from '../errors.js';
import { secretPatterns } from './mask.js';
import type { PreparedAction } from './prepare.js';
import type { ActionContext, ActionOutcome } from './request.js';
import { RunLog } from './run-log.js';
import { bringToItsEnd, type RunProgress } from './settle.js';

/**
 * The run itself and, where `progress` is given, the record of its end: see `bringToItsEnd`. Rejects with CnabError when
 * the disk refuses, `contact-lost` once the driver has begun.
 */
export async function executeAction(
  prepared: PreparedAction,
  context: ActionContext,
  claims: TargetClaims,
  folder: RunFolder,
  progress?: RunProgress,
): Promise<ActionOutcome> {
  const { claim, secrets, start, digest } = prepared;
  context.events.onStart(start);
  prepared.warnings.forEach(context.events.onWarning);
  const log = await RunLog.create(folder.logFile, secretPatterns(secrets), context.events.onLog, context.signal);
  const recorded = progress === undefined ? {} : { claims };
  const run = { claim, target: claims.target, digest, folder, log, state: undefined, ...recorded };
  return await bringToItsEnd(run, context, (io) => drive(prepared, context, io), progress);
}

async function drive(prepared: PreparedAction, context: ActionContext, io: DriverIo): Promise<OperationResult> {
  const { claim, operation } = prepared;
  if (context.signal.aborted) {
    return { ...stoppedBefore(claim.action, context.signal.reason as StopReason), ran: 'no', ...NOTHING };
  }
  return await context.driver.run(operation, { ...io, detach: prepared.detach });
}

const NOTHING = { outputs: [], problems: [], logComplete: true, warnings: [] };

/** A time-out that fires while credentials are fetched is one, and no interruption. */
function stoppedBefore(action: string, reason: StopReason): Pick<OperationResult, 'status' | 'error'> {
  if (reason.kind === 'timeout') {
    return { status: 'failed', error: new CnabError('timed-out', `the time-out was over before ${action} began.`) };
  }
  return { status: 'canceled', error: new CnabError('interrupted', `${action} was interrupted before it began.`) };
}
