import { CnabError } from '../../errors.js';
import type { DriverIo, RunEnd } from '../driver.js';
import type { KubernetesApi } from './api.js';
import { decide, type Decision } from './decision.js';
import { suggestionsForDenial } from './denial.js';
import { outcomeOf } from './ending.js';
import { isAbort } from './kubernetes-error.js';
import { Observer } from './observer.js';
import { progressOf, ProgressTeller } from './progress.js';
import type { FoundObjects } from './run-objects.js';
import { until } from './until.js';

/**
 * Looks on until the run has ended or the signal is aborted. A look now and then would miss the end of a run whose command
 * deletes its Job a moment later. Rejects with KubernetesError where contact is lost.
 */
export async function watchRun(
  api: KubernetesApi,
  runId: string,
  { view, job }: FoundObjects,
  { signal, onProgress }: Pick<DriverIo, 'signal' | 'onProgress'>,
): Promise<RunEnd> {
  const { clock } = api;
  const { namespace, name } = job;
  const teller = new ProgressTeller(onProgress);
  const observer = new Observer({ api, namespace, runId, job: name, view, onTrouble: teller.trouble });
  const tell = (): void => teller.tell(progressOf(view));
  const forget = view.onChange(tell);
  const end = (): Exclude<Decision, { kind: 'restricted' }> | undefined => {
    if (observer.lost !== undefined) throw observer.lost;
    const now = clock.now();
    // No start time-out: that is for whoever runs it to judge. And where the restricted shape is wanted another Job follows.
    const decision = decide(view, { now, clusterNow: api.serverNow, posted: now, startTimeoutMs: 0 });
    return decision?.kind === 'restricted' ? undefined : decision;
  };
  const goesOn = (): RunEnd => ({ status: 'running', ran: view.history.started ? 'yes' : 'unknown' });
  try {
    tell();
    await observer.start(signal);
    const ending = await until(view, clock, signal, end);
    if (ending === undefined) return goesOn();
    const { status, ran, exitCode, problem } = outcomeOf(ending, view.history);
    const suggestions = problem === undefined ? [] : suggestionsForDenial(problem.message);
    return {
      ...{ status, ran },
      ...(exitCode === undefined ? {} : { exitCode }),
      ...(problem === undefined ? {} : { error: new CnabError(problem.code, problem.message, { suggestions }) }),
    };
  } catch (error) {
    if (isAbort(error) && signal.aborted) return goesOn();
    throw error;
  } finally {
    forget();
    await observer.stop();
  }
}
