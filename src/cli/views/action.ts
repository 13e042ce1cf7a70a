import type { ActionOutcome } from '../../action/request.js';
import type { Json } from '../../bundle/bundle.js';
import { CnabError } from '../../errors.js';
import type { ExitCode } from '../exit-codes.js';
import { document, withoutAbsent, type View } from '../format.js';
import { errorJson } from '../report.js';
import { outputJson, outputTable } from './outputs.js';

/** How one action ended: the document of `--json`, or the table of its outputs. */
export class ActionView implements View {
  constructor(
    private readonly command: string,
    private readonly outcome: ActionOutcome,
    private readonly told: { readonly exitCode: ExitCode; readonly note?: string },
  ) {}

  toJson(): Json {
    const { outcome, told } = this;
    return document(this.command, {
      action: outcome.action,
      installation: outcome.installation,
      target: outcome.target.label,
      runId: outcome.runId,
      revision: outcome.revision,
      status: outcome.status,
      ran: outcome.ran,
      exitCode: outcome.exitCode,
      bundle: { ...outcome.bundle },
      outputs: outcome.outputs.map(outputJson),
      logComplete: outcome.logComplete,
      warnings: outcome.warnings.length > 0 ? outcome.warnings : undefined,
      outstanding:
        outcome.outstanding &&
        withoutAbsent({ until: outcome.outstanding.until && new Date(outcome.outstanding.until).toISOString() }),
      note: told.note,
      error: outcome.error && errorJson(outcome.error, told.exitCode),
    });
  }

  toText(): string {
    return outputTable(this.outcome.outputs);
  }
}

/** What is known of an action that was refused or could not be brought to an end. */
export interface UnfinishedAction {
  readonly action?: string;
  readonly installation?: string;
  readonly target?: string;
  readonly runId?: string;
  readonly revision?: string;
}

/** The document of an action that ended in an exception: refused before it began, or lost on the way. */
export function unfinishedDocument(
  command: string,
  known: UnfinishedAction,
  thrown: unknown,
  exitCode: ExitCode,
): Json {
  const code = thrown instanceof CnabError ? thrown.code : undefined;
  // Only a lost contact and a bug of ours, both after the start, leave it open whether the bundle ran: before it an earlier
  // run without an end is what the contact was lost to, and nothing is begun beside that one.
  const unclear = known.runId !== undefined && (code === undefined || code === 'contact-lost');
  return document(command, {
    action: known.action,
    installation: known.installation,
    target: known.target,
    runId: known.runId,
    revision: known.revision,
    status: unclear ? 'unknown' : code === 'interrupted' ? 'canceled' : 'failed',
    ran: unclear ? 'unknown' : 'no',
    outputs: [],
    error: errorJson(thrown, exitCode),
  });
}
