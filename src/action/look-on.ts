import type { Target } from '../claim/target.js';
import type { BegunRun, RunEnd } from '../driver/driver.js';
import { CnabError } from '../errors.js';
import { asked } from './asked.js';
import type { ActionContext } from './request.js';
import { takeUpCommand } from './unfinished.js';

/** A run that this process may only look at: it has ended, and what came of it is for somebody else to record. */
export interface LookedOn {
  readonly kind: 'looked';
  readonly run: SeenRun;
  readonly target: Target;
  /** What the target tells: nothing of outputs, and never `running`. */
  readonly end: RunEnd;
  /** What is to be done for its log and its outputs, in a sentence. */
  readonly next: string;
}

export interface SeenRun extends Pick<BegunRun, 'runId' | 'state'> {
  readonly installation: string;
  readonly action: string;
}

/** Rejects with this when it is left: the run goes on. */
export function leftError(name: string): CnabError {
  return new CnabError('interrupted', `the run of "${name}" goes on: only the waiting for it has ended.`);
}

/**
 * Waits for the end of a run on its target and touches nothing of it. Rejects with CnabError: `interrupted` when it is left,
 * `contact-lost` where the run is not there any more and how it ended cannot be told; and as `Driver.watch` does.
 */
export async function lookOn(run: SeenRun, target: Target, context: ActionContext): Promise<LookedOn> {
  const { driver, signal, events } = context;
  const { installation: name, runId, action } = run;
  const jobs = new Set<string | undefined>();
  for (let seen = run; ;) {
    jobs.add(seen.state.jobUid);
    const end = await asked(signal, driver.watch(seen, { signal, onProgress: events.onProgress })).catch(goneAs(run));
    if (end.status === 'running' || signal.aborted) throw leftError(name);
    const again = end.status === 'unknown' ? await secondJob(seen, jobs, context) : undefined;
    if (again === undefined) {
      const resume = takeUpCommand('resume', name, target, `--run ${runId}`);
      const next = `the log and the outputs of ${action} (run ${runId}) are for the process that is on it; where there is none: ${resume}`;
      return { kind: 'looked', run, target, end, next };
    }
    seen = again;
  }
}

function goneAs({ runId, action }: SeenRun): (error: unknown) => never {
  return (error) => {
    if (!(error instanceof CnabError) || error.code !== 'not-found') throw error;
    const message = `${action} (run ${runId}) is not on the cluster any more: somebody has settled it, and how it ended is not known here`;
    throw new CnabError('contact-lost', message, { cause: error });
  };
}

/** Where the cluster refuses the first one's pod another Job follows. */
async function secondJob(
  run: SeenRun,
  jobs: ReadonlySet<string | undefined>,
  { driver, signal }: ActionContext,
): Promise<SeenRun | undefined> {
  const found = await asked(signal, driver.find(run.installation, signal));
  const same = found.find(({ runId, state }) => runId === run.runId && !jobs.has(state.jobUid));
  return same === undefined ? undefined : { ...run, state: same.state };
}
