import { surveyRuns, takeUpCommand, type UnfinishedRun } from '../../action/unfinished.js';
import type { LiveOwner, TargetClaims } from '../../claim/claim-store.js';
import { processOf } from '../../claim/owner.js';
import type { Installation } from '../../claim/claim.js';
import { CnabError } from '../../errors.js';
import { timeText } from '../times.js';
import { sizeText } from '../sizes.js';

/**
 * What is to be said of an installation's unfinished runs, from the store alone: since when, whether a process is on it,
 * what has come of it, and what to type. Lines, the newest run's first.
 */
export async function unfinishedNotes(claims: TargetClaims, installation: Installation): Promise<readonly string[]> {
  try {
    const { unfinished } = await surveyRuns(claims, installation);
    if (unfinished.length === 0) return [];
    const owner = await claims.owner(installation.name);
    return unfinished.flatMap((run) => {
      // Of several each note is about its own.
      const named = unfinished.length > 1 ? `--run ${run.record.claim.id}` : '';
      return noteOf(run, (verb) => takeUpCommand(verb, installation.name, claims.target, named), owner);
    });
  } catch (error) {
    if (!(error instanceof CnabError)) throw error;
    return [`warning: ${error.message}`];
  }
}

function noteOf(run: UnfinishedRun, command: (verb: string) => string, owner: LiveOwner | undefined): string[] {
  const { record, lacks, note } = run;
  const { id, installation: name, action, created } = record.claim;
  const which = `${action} of ${JSON.stringify(name)} (run ${id}, begun ${timeText(created)})`;
  if (lacks === 'start' && owner === undefined) {
    return [`note: the ${which} was never begun, because its command was killed; to record that: ${command('resume')}`];
  }
  if (lacks === 'outputs') {
    const { until } = note.outstanding ?? {};
    const held = until === undefined ? '' : ` until ${timeText(new Date(until).toISOString())}`;
    return [`note: outputs of the ${which} have not come and can be fetched${held}: ${command('resume')}`];
  }
  if (owner !== undefined) {
    const who = `${processOf(owner)} is on it`;
    return [`note: the ${which} goes on, ${who}${come(run)}: ${command('logs -f')}`];
  }
  return [
    `note: the ${which} has no recorded end, and no process is on it${come(run)}`,
    `      to take it up: ${command('resume')}`,
    `      to wait for its end: ${command('wait')}; to see its log: ${command('logs -f')}`,
  ];
}

function come({ left }: UnfinishedRun): string {
  if (left === undefined) return '';
  const parts = [
    ...(left.logBytes > 0 ? [`${sizeText(left.logBytes)} of its log`] : []),
    ...(left.stagedBytes > 0 ? [`${sizeText(left.stagedBytes)} of its outputs`] : []),
  ];
  return parts.length === 0 ? '' : `; ${parts.join(' and ')} have come`;
}
