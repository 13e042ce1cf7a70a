import type { Installation } from '../claim/claim.js';
import type { Target } from '../claim/target.js';
import { CnabError } from '../errors.js';
import { unknownRuns } from './adopt.js';
import { asked } from './asked.js';
import type { ActionContext } from './request.js';
import { takeUpCommand, takeUpCommands } from './unfinished.js';

/**
 * Looks on the target for runs of an installation that the store knows nothing of: another machine may have begun them, or
 * this one before its records were lost. Throws CnabError `contact-lost` where one goes on, which a second run would run
 * into; gives a warning for one that has ended. Where the target does not let itself be asked nothing is known.
 */
export async function refuseRunElsewhere(
  installation: string,
  recorded: Installation | undefined,
  target: Target,
  { driver, signal }: Pick<ActionContext, 'driver' | 'signal'>,
): Promise<readonly string[]> {
  const nothing = (error: unknown): undefined => {
    if (!(error instanceof CnabError)) throw error;
    return undefined;
  };
  const warnings: string[] = [];
  for (const run of (await unknownRuns(installation, recorded, { driver, signal }).catch(nothing)) ?? []) {
    const { runId, action, created } = run;
    // It leaves no record in its own store either, and is in nobody's way.
    if (run.stateless) continue;
    const sight = await asked(signal, driver.look(run, signal)).catch(nothing);
    if (sight === undefined || sight.phase === 'absent') continue;
    const which = `${action} of "${installation}" that was begun ${new Date(created).toISOString()} (run ${runId})`;
    if (sight.phase === 'ended') {
      const take = takeUpCommand('resume', installation, target, `--run ${runId}`);
      warnings.push(`the ${which} is on the target and not recorded here; it ${sight.detail}. To record it: ${take}`);
      continue;
    }
    throw new CnabError('contact-lost', `the ${which} is not recorded here and has no end: it ${sight.detail}.`, {
      suggestions: [...takeUpCommands(installation, target, runId), 'To run beside it: --force'],
    });
  }
  return warnings;
}

/**
 * A `catch` of an action's preparation. What is not found may be what a run of another machine is about to install: then
 * that is told instead, or, where it has ended, as a warning before. `elsewhere` is what `refuseRunElsewhere` says.
 */
export function unlessElsewhere(
  elsewhere: () => Promise<readonly string[]>,
  onWarning: (sentence: string) => void,
): (error: unknown) => Promise<never> {
  return async (error) => {
    if (error instanceof CnabError && error.code === 'not-found') (await elsewhere()).forEach(onWarning);
    throw error;
  };
}
