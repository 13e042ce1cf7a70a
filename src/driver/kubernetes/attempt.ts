import { openAssembler, type FreeBytes } from './assembler.js';
import type { Cluster } from './cluster.js';
import { environmentWarnings } from './environment.js';
import type { HeldSidecars } from './held-sidecars.js';
import { heldJob } from './holder.js';
import { factsOf } from './job-facts.js';
import { JobRun } from './job-run.js';
import type { KeptState } from './kept-state.js';
import { jobName } from './names.js';
import { Observer } from './observer.js';
import type { Attempt, RunPlan } from './plan.js';
import type { ProgressTeller } from './progress.js';
import { checkRights } from './rights.js';
import type { RunHold } from './run-hold.js';
import { RunView } from './run-view.js';
import { submit } from './submit.js';
import { asksForExec, chooseWay } from './way.js';
import type { Way } from '../../frame/delivery.js';
import type { DriverIo, Operation, OperationResult } from '../driver.js';
import type { DriverSettings } from '../settings.js';

export interface AttemptOptions {
  readonly operation: Operation;
  readonly settings: DriverSettings;
  readonly cluster: Cluster;
  readonly io: DriverIo;
  readonly teller: ProgressTeller;
  readonly state: KeptState;
  readonly attempt: Attempt;
  readonly planOf: (way: Way) => RunPlan;
  readonly held: HeldSidecars;
  readonly hold: RunHold;
  readonly freeBytes: FreeBytes;
}

/**
 * One Job from its plan to its result. `restricted`: its pod was refused for want of the restricted shape, nothing has run,
 * and the Job is gone again. Rejects only where nothing has run and nothing is left.
 */
export async function attemptRun(options: AttemptOptions): Promise<OperationResult | 'restricted'> {
  const { operation, settings, cluster, io, teller, state, attempt, held, hold, freeBytes } = options;
  const { api, place } = cluster;
  const { namespace } = place;
  const { runId } = operation;
  const name = jobName(operation, attempt.number);
  const view = new RunView();
  const observer = new Observer({ api, namespace, runId, job: name, view, onTrouble: teller.trouble });
  try {
    const rights = checkRights(api, namespace, asksForExec(operation, settings), io.signal);
    const [watched, allowed] = await Promise.allSettled([observer.start(io.signal), rights]);
    // All that is lacking in one sentence, rather than the one thing that the watch ran into.
    for (const part of [allowed, watched]) if (part.status === 'rejected') throw part.reason;
    const { mayExec, mayPatchJobs: beats } = await rights;
    const { user } = api.connection;
    const right = { mayExec, namespace, way: api.connection, ...(user === undefined ? {} : { user }) };
    const way = chooseWay(operation, settings, right);
    const planned = options.planOf(way);
    const plan =
      hold.holder === undefined ? planned : { ...planned, job: heldJob(planned.job, { ...hold.holder, beats }) };
    const facts = factsOf(plan.job.spec?.template.spec, name);
    const assembler = await openAssembler(operation, facts, io.staging, freeBytes);
    // On disk before the Job is made: whoever comes after us looks for it there.
    await state.renew(namespace, name);
    const onPosted = ({ uid }: { readonly uid: string }): Promise<void> => state.add({ jobUid: uid });
    const job = await submit({ api, namespace, plan, view, signal: io.signal, onPosted });
    hold.begin(api, job, { beats });
    const isRestricted = attempt.restricted;
    const parts = { api, operation, settings, io, job, facts, view, observer, state, assembler, isRestricted };
    const warnings = environmentWarnings(operation.environment);
    // Whoever finds this Job gone must not take it for a run that is lost.
    const again = (): Promise<void> => state.renew(namespace, jobName(operation, attempt.number + 1));
    return await new JobRun({ ...parts, held, hold, warnings, ...(isRestricted ? {} : { again }) }).toTheEnd();
  } finally {
    await observer.stop();
  }
}
