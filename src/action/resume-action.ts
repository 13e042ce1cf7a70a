import { checkInstallationName } from '../bundle/names.js';
import { shellWord } from '../bundle/shell-word.js';
import type { InstallationLock, TargetClaims } from '../claim/claim-store.js';
import type { ClaimRecord } from '../claim/claim.js';
import { processOf } from '../claim/owner.js';
import type { FoundRun } from '../driver/driver.js';
import { CnabError } from '../errors.js';
import { isThere, keptNote, orLeave, recordAdopted, unknownRuns, usableRuns } from './adopt.js';
import { broughtBy } from './brought.js';
import { holdRun } from './hold.js';
import { choiceOf, notInstalled } from './refuse.js';
import type { ActionContext, ActionOutcome } from './request.js';
import { releaseLeftovers } from './leftovers.js';
import { LAST_RUN, meantRun } from './meant-run.js';
import { checkNamedOutputs } from './named-outputs.js';
import { onRun } from './on-run.js';
import { noteDocument } from './run-note.js';
import { afterRun } from './settle.js';
import { takeUp } from './take-up.js';
import { stateOf, surveyRuns, takeUpCommand } from './unfinished.js';

export interface ResumeRequest {
  readonly installation: string;
  /** Or `LAST_RUN`; absent: the newest run that can be taken up. */
  readonly runId?: string;
  /** Stop it, and settle it. */
  readonly cancel: boolean;
  /** As `ActionRequest.namedOutputs`. */
  readonly namedOutputs?: readonly string[];
  /** Also from a process of another machine that is on it, or may be. */
  readonly takeOver?: boolean;
}

/** `ended`: there is nothing to take up, because that run has an end. */
export type Resumed =
  | { readonly kind: 'settled'; readonly outcome: ActionOutcome }
  | { readonly kind: 'ended'; readonly record: ClaimRecord; readonly claims: TargetClaims };

/**
 * Takes up a run whose process is gone: of this store, or, where it knows of none, one that is found on the target by the
 * installation's name. What it left is put away even where there is nothing to take up.
 *
 * Rejects with CnabError: `busy` while a live process is on it (`HeldElsewhere`: of another machine), `not-found` where there is no such installation or run,
 * `invalid` where a run that was found is not what it claims to be, or has no output of a name that is asked for; then as `takeUp` does.
 */
export async function resumeAction(request: ResumeRequest, context: ActionContext): Promise<Resumed> {
  const { installation: name } = request;
  checkInstallationName(name);
  const claims = context.store.on(await context.driver.target(context.signal));
  const lock = await lockFor(name, claims);
  let resumed: Resumed;
  try {
    resumed = await resumeLocked(request, context, claims);
  } catch (error) {
    await lock.release().catch(() => undefined);
    throw error;
  }
  if (resumed.kind === 'settled') return { ...resumed, outcome: await afterRun(resumed.outcome, () => lock.release()) };
  await lock.release();
  return resumed;
}

/** Rejects with CnabError `busy` that says how to look on. */
async function lockFor(name: string, claims: TargetClaims): Promise<InstallationLock> {
  try {
    return await claims.lock(name, 'resume');
  } catch (error) {
    if (!(error instanceof CnabError) || error.code !== 'busy') throw error;
    const owner = await claims.owner(name);
    if (owner === undefined) throw error;
    const what = `${processOf(owner)} (${owner.purpose} since ${owner.since})`;
    throw new CnabError('busy', `${what} is on it.`, {
      cause: error,
      suggestions: [
        `To see its log: ${takeUpCommand('logs -f', name, claims.target)}`,
        `To wait for its end: ${takeUpCommand('wait', name, claims.target)}`,
        ...error.suggestions,
      ],
    });
  }
}

async function resumeLocked(request: ResumeRequest, context: ActionContext, claims: TargetClaims): Promise<Resumed> {
  const { installation: name, runId, namedOutputs = [] } = request;
  const { store } = context;
  const installation = await claims.read(name);
  const survey = installation === undefined ? undefined : await surveyRuns(claims, installation);
  const warnings = await releaseLeftovers(survey?.leftovers ?? [], name, claims, context);
  warnings.forEach(context.events.onWarning);
  const unfinished = survey?.unfinished ?? [];
  const meantOf = (others: () => Promise<readonly FoundRun[]>) =>
    meantRun({ run: runId, to: 'settle' }, installation, unfinished, others);
  let meant = await meantOf(() => unknownRuns(name, installation, context));
  if (meant.kind === 'elsewhere') {
    const adopted = await adopt(request, meant.found, context, claims);
    if (adopted !== undefined) return adopted;
    meant = await meantOf(() => Promise.resolve([]));
  }
  if (meant.kind === 'ended') {
    checkNamedOutputs(namedOutputs, meant.record.claim.bundle);
    return { ...meant, claims };
  }
  if (meant.kind === 'open') {
    const { record, note: noted } = meant.run;
    checkNamedOutputs(namedOutputs, record.claim.bundle);
    const state = await stateOf(name, { runId: record.claim.id, state: noted.state }, context);
    const note = { ...noted, state };
    return await onRun(record.claim, purposeOf(request), { claims, store }, async (folder) => {
      // Only now: of two processes of this home the one that is on it stays the one that its Job names.
      await holdRun({ runId: record.claim.id, state }, request, claims.target, context);
      const run = { record, note, claims, folder, stateless: false, cancel: request.cancel };
      return { kind: 'settled', outcome: await takeUp(run, context) };
    });
  }
  if (installation === undefined) throw await notInstalled(name, claims.target, store);
  throw new CnabError('not-found', `"${name}" has no run ${JSON.stringify(runId ?? LAST_RUN)}.`, {
    suggestions: [`Its runs: cnab history ${shellWord(name)} ${choiceOf(claims.target)}`.trimEnd()],
  });
}

function purposeOf({ cancel }: ResumeRequest): string {
  return cancel ? 'cancel' : 'resume';
}

/**
 * A run that another store began, recorded in this one once it is known to be what it claims to be; of several the newest
 * that is. A stateless run is taken up only where it is named: it leaves no record, and nobody misses its end.
 */
async function adopt(
  request: ResumeRequest,
  runs: readonly FoundRun[],
  context: ActionContext,
  claims: TargetClaims,
): Promise<Resumed | undefined> {
  const { installation: name, runId, cancel } = request;
  const { onWarning } = context.events;
  const refused: CnabError[] = [];
  for await (const adopted of usableRuns(runs, name, context, refused)) {
    if (adopted.stateless && (runId === undefined || runId === LAST_RUN)) continue;
    const { found } = adopted;
    const { claim, stateless, inputs } = adopted;
    checkNamedOutputs(request.namedOutputs ?? [], claim.bundle);
    const resumed = await onRun(claim, purposeOf(request), { claims, store: context.store }, async (folder) => {
      // Asked now that nobody here is on it: whoever was may have brought it to its end.
      const kept = await keptNote(folder);
      // Where it is comes first: a process that is killed after this must not take it for one that never ran.
      const note = { ...kept, state: { ...kept.state, ...found.state } };
      const isOurs = await orLeave(folder, async () => {
        await holdRun({ runId: claim.id, state: note.state }, request, claims.target, context);
        return await isThere(adopted, context);
      });
      if (!isOurs) return undefined;
      await folder.saveState(noteDocument(note));
      const record = stateless ? { claim, results: [] } : await recordAdopted(adopted, claims, context);
      [...refused.map(({ message }) => `${message}.`), ...broughtBy(claim)].forEach(onWarning);
      const run = { record, note, claims, folder, stateless, inputs, cancel };
      return { kind: 'settled' as const, outcome: await takeUp(run, context) };
    });
    if (resumed !== undefined) return resumed;
  }
  const [first] = refused;
  if (first !== undefined) throw first;
  return undefined;
}
