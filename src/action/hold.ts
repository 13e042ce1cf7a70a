import type { Target } from '../claim/target.js';
import { RunHeld, type BegunRun } from '../driver/driver.js';
import { CnabError } from '../errors.js';
import { asked } from './asked.js';
import type { ActionContext } from './request.js';
import { takeUpCommand } from './unfinished.js';

/**
 * Makes this process the one that is on a run, before anything of the run is recorded or done here. Rejects with `HeldElsewhere`
 * where another machine's process is on it, or may be, and with CnabError as `Driver.hold` does.
 */
export async function holdRun(
  run: Pick<BegunRun, 'runId' | 'state'>,
  how: { readonly installation: string; readonly takeOver?: boolean; readonly cancel: boolean },
  target: Target,
  { driver, signal, events }: Pick<ActionContext, 'driver' | 'signal' | 'events'>,
): Promise<void> {
  const { installation: name, takeOver = false, cancel } = how;
  try {
    await asked(signal, driver.hold(run, { signal, takeOver, onProgress: events.onProgress }));
  } catch (error) {
    if (!(error instanceof RunHeld)) throw error;
    const command = (verb: string, more = ''): string => takeUpCommand(verb, name, target, `--run ${run.runId}${more}`);
    const anyway = `${cancel ? ' --cancel' : ''} --take-over`;
    throw new HeldElsewhere(`${error.message}.`, error, [
      `To see its log: ${command('logs -f')}`,
      `To wait for its end: ${command('wait')}`,
      `To take it from that process all the same: ${command('resume', anyway)}`,
    ]);
  }
}

/** `busy`: a process of another machine is on the run. */
export class HeldElsewhere extends CnabError {
  constructor(message: string, cause: RunHeld, suggestions: readonly string[]) {
    super('busy', message, { cause, suggestions });
  }
}
