import type { Target } from '../claim/target.js';
import { CnabError } from '../errors.js';
import type { RunSight } from '../driver/driver.js';
import { asked } from './asked.js';
import type { ActionContext } from './request.js';
import { stateOf, takeUpCommands, type UnfinishedRun } from './unfinished.js';

/**
 * Stops a run that never got an end, so that nothing runs beside it. Resolves with warnings. Rejects with CnabError
 * `contact-lost` where it may go on nevertheless: its record and its folder are as they were.
 */
export async function giveUpRun(
  { record, lacks, note }: UnfinishedRun,
  target: Target,
  { driver, signal, events }: ActionContext,
): Promise<readonly string[]> {
  const { id, action, installation } = record.claim;
  const what = `the ${action} that never ended (run ${id})`;
  const noted = { runId: id, state: note.state };
  const run = { runId: id, state: await stateOf(installation, noted, { driver, signal }) };
  const removal = run.state.keepJob === true ? 'its Job stays' : 'its Job removed';
  // It may take as long as the run's grace period.
  if (lacks !== 'start') events.onWarning(`${what} is given up: it is stopped, and ${removal}.`);
  const released = await driver.release(run);
  const sight = await asked(signal, driver.look(run, signal)).catch((error: unknown): RunSight => {
    if (!(error instanceof CnabError) || signal.aborted) throw error;
    return { phase: 'running', detail: `may still be going on (${error.message})` };
  });
  if (sight.phase === 'absent' || sight.phase === 'ended') return released;
  throw new CnabError(
    'contact-lost',
    `${what} could not be stopped, and nothing is begun beside it: it ${sight.detail}.`,
    {
      details: released,
      suggestions: takeUpCommands(installation, target, id),
    },
  );
}
