import type { BegunRun, DriverIo, OperationResult } from '../driver.js';
import type { DriverSettings } from '../settings.js';
import { absentResult, begunAt } from './absent-run.js';
import type { KubernetesApi } from './api.js';
import { openAssembler, type FreeBytes } from './assembler.js';
import type { HeldSidecars } from './held-sidecars.js';
import { checkWanted, factsOf } from './job-facts.js';
import { JobRun } from './job-run.js';
import { keeping, type KeptState } from './kept-state.js';
import { ANNOTATION, jobName } from './names.js';
import { Observer } from './observer.js';
import { neverStarts } from './orphan.js';
import type { ProgressTeller } from './progress.js';
import type { RunHold } from './run-hold.js';
import { findRun, type FoundObjects } from './run-objects.js';
import { DEFAULT_UID } from './security.js';

export interface TakeUpOptions {
  readonly run: BegunRun;
  readonly settings: DriverSettings;
  readonly api: KubernetesApi;
  readonly namespace: string;
  readonly io: DriverIo;
  readonly teller: ProgressTeller;
  readonly state: KeptState;
  readonly held: HeldSidecars;
  readonly hold: RunHold;
  readonly freeBytes: FreeBytes;
  /** Aborted by somebody who leaves: a stop needs the cluster. */
  readonly signal: AbortSignal;
}

/**
 * A run that some process began, from its Job to its result. Creates nothing, and what it reads others may read as well.
 * Rejects with CnabError where the run cannot be looked at, and then nothing has changed.
 */
export async function takeUp(options: TakeUpOptions): Promise<OperationResult> {
  const { run, settings, api, namespace, io, teller, state, held, hold, freeBytes, signal } = options;
  const found = await findBegun(options);
  if (found === undefined) return absentResult(run, api.clock.now());
  const { view, job } = found;
  const { runId, outputs } = run;
  const made = factsOf(found.spec, job.name);
  const facts = settings.gracePeriodGiven === true ? { ...made, gracePeriodMs: settings.gracePeriodMs } : made;
  checkWanted(facts, outputs, job.name);
  const { annotations } = found.object?.metadata ?? view.pod?.metadata ?? {};
  const keepJob = settings.keepJob || annotations?.[ANNOTATION.keepJob] === 'true';
  await state.add({ namespace, job: job.name, jobUid: job.uid, ...keeping({ keepJob }) });
  hold.begin(api, job, { beats: true });
  const assembler = await openAssembler(run, facts, io.staging, freeBytes);
  const observer = new Observer({ api, namespace, runId, job: job.name, view, onTrouble: teller.trouble });
  try {
    await observer.start(signal);
    const hopeless = state.now.stop === undefined ? await neverStarts(api, found, signal) : undefined;
    const operation = { ...run, files: [] };
    const isRestricted = facts.uid === DEFAULT_UID;
    const parts = {
      api,
      operation,
      settings,
      io,
      job,
      facts,
      view,
      observer,
      state,
      assembler,
      isRestricted,
      held,
      hold,
      posted: postedAt(found, runId, api.clock.now()),
    };
    const more = hopeless === undefined ? {} : { hopeless };
    const result = await new JobRun({ ...parts, ...more, warnings: [] }).toTheEnd();
    if (result === 'restricted') throw new Error('a run that was taken up asked for another Job');
    return result;
  } finally {
    await observer.stop();
  }
}

/**
 * When a run's Job was made, by this computer's clock as far as can be told: the later of what the cluster says and of the
 * time in the run's id, so that a clock that is ahead of the cluster's does not end a run before its time.
 */
function postedAt({ object, view }: FoundObjects, runId: string, now: number): number {
  const { creationTimestamp } = object?.metadata ?? view.pod?.metadata ?? {};
  const made = Date.parse(String(creationTimestamp));
  return Math.max(Number.isNaN(made) ? now : made, begunAt(runId));
}

/** A POST that was under way when its process was killed has arrived by then. */
const LATE_POST_MS = 2000;

async function findBegun({ run, api, namespace, signal }: TakeUpOptions): Promise<FoundObjects | undefined> {
  const { runId, state } = run;
  // The second one first: there is one only where the first was refused.
  const jobs = [...new Set([...(state.job === undefined ? [] : [state.job]), jobName(run, 2), jobName(run, 1)])];
  const place = { runId, namespace, jobs };
  const found = await findRun(api, place, state, signal);
  if (found !== undefined || state.jobUid !== undefined) return found;
  await api.clock.sleep(LATE_POST_MS, signal);
  return findRun(api, place, state, signal);
}
