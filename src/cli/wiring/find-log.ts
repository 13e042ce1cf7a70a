import { resultExtras } from '../../action/kept.js';
import { takeUpCommand } from '../../action/unfinished.js';
import type { StoredOutput, TargetClaims } from '../../claim/claim-store.js';
import { LOGS_OUTPUT, type Installation } from '../../claim/claim.js';
import { isUnsettled, lastResult, outputHistory, outputsOf, statusOf } from '../../claim/status.js';
import { CnabError } from '../../errors.js';
import { runOf } from './find-run.js';

export interface FoundLog {
  readonly stored: StoredOutput;
  /** Set when a part of the log is known or feared to be missing. */
  readonly note?: string;
}

/** The stored log of a run. Rejects with CnabError `not-found`, naming a run that has one. */
export async function findLog(claims: TargetClaims, installation: Installation, run: string): Promise<FoundLog> {
  const record = runOf(installation, run);
  const { id, action } = record.claim;
  const produced = outputsOf(record).find(({ name }) => name === LOGS_OUTPUT);
  const stored = produced && (await claims.output(produced.result.id, LOGS_OUTPUT));
  if (stored) {
    const result = lastResult(record);
    const complete = result === undefined ? undefined : resultExtras(result).logComplete;
    return complete === false
      ? { stored, note: `note: a part of the log of ${action} (run ${id}) is missing` }
      : { stored };
  }
  const other = outputHistory(installation, LOGS_OUTPUT)[0]?.claim;
  const advice = (what: string, verb: string, flags?: string): string =>
    `${what}: ${takeUpCommand(verb, installation.name, claims.target, flags)}`;
  const ofEarlier = other ? [advice('the log of an earlier run', 'logs', `--run ${other.id}`)] : [];
  const which = `the ${action} of "${installation.name}" (run ${id}, ${statusOf(record)})`;
  if (!isUnsettled(record)) throw new CnabError('not-found', `${which} has no stored log`, { suggestions: ofEarlier });
  const stands = (await claims.owner(installation.name)) === undefined ? 'has no recorded end yet' : 'goes on';
  throw new CnabError('not-found', `${which} ${stands}, and its log is stored only when it has ended`, {
    suggestions: [
      advice('to see what has come of it, and to follow it', 'logs -f', run === 'last' ? '' : `--run ${id}`),
      ...ofEarlier,
    ],
  });
}
