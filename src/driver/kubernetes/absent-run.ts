import { timeOfUlid } from '../../claim/ulid.js';
import { CnabError } from '../../errors.js';
import type { BegunRun, OperationResult } from '../driver.js';
import { TTL_SECONDS } from './job.js';
import { notRunResult, stopError } from './result.js';

/** A run of which nothing is on the cluster. Pure; `now` in milliseconds since 1970. */
export function absentResult(run: BegunRun, now: number): OperationResult {
  const { namespace, job, jobUid, stop } = run.state;
  const { action } = run;
  const wasMade = jobUid !== undefined;
  if (stop !== undefined) {
    const what = wasMade
      ? `${action} was stopped, and what the bundle made of it is unknown`
      : `${action} was stopped before anything ran`;
    const result = notRunResult(stopError(stop, what), stop.kind === 'timeout' ? 'failed' : 'canceled');
    return wasMade ? { ...result, ran: 'unknown', logComplete: false } : result;
  }
  const unknown = `so how ${action} ended is unknown here: ${ENDS}`;
  if (wasMade) return lost(`job ${job} is not in namespace ${namespace} any more, ${unknown}`);
  if (job !== undefined && isOlderThanJobs(run.runId, now)) {
    return lost(`job ${job} is not in namespace ${namespace}, and may have been, ${unknown}`);
  }
  return notRunResult(
    new CnabError('unavailable', `${action} was never run: the process that began it ended before its Job was made`, {
      suggestions: ['run it again: nothing of it is on the cluster'],
    }),
    'failed',
  );
}

const NEXT = ['it is recorded as unknown: look at what it may have made before you run the next action'];
const ENDS =
  'another machine has settled it (its end and its outputs are then in the records there), somebody deleted it, or a day had passed since its end';

function lost(message: string): OperationResult {
  const { keep: _keep, ...result } = notRunResult(
    new CnabError('contact-lost', message, { suggestions: NEXT }),
    'unknown',
  );
  return result;
}

/** Finished Jobs are removed after a while. */
function isOlderThanJobs(runId: string, now: number): boolean {
  return now - begunAt(runId) >= TTL_SECONDS * 1000;
}

/** When a run was begun, by the clock of who began it, in milliseconds since 1970; 0 for an id that holds no time. */
export function begunAt(runId: string): number {
  return timeOfUlid(runId) ?? 0;
}
