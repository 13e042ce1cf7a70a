import { shellWord } from '../bundle/shell-word.js';
import type { RunLeft, TargetClaims } from '../claim/claim-store.js';
import type { ClaimRecord, Installation } from '../claim/claim.js';
import { isUnsettled, neverRan, statusOf } from '../claim/status.js';
import type { RunState } from '../driver/driver.js';
import type { Target } from '../claim/target.js';
import { CnabError } from '../errors.js';
import { flagsFor } from './refuse.js';
import { asked } from './asked.js';
import type { ActionContext } from './request.js';
import { readNote, type RunNote } from './run-note.js';

/** A run that can be taken up. */
export interface UnfinishedRun {
  readonly record: ClaimRecord;
  /**
   * `start`: its process was killed before anything was begun, and that is not recorded yet. `end`: no end is known of it, and
   * it may go on. `outputs`: it has ended, and outputs of it can still be fetched.
   */
  readonly lacks: 'start' | 'end' | 'outputs';
  readonly note: RunNote;
  /** What has come of it so far; undefined where its folder is gone. */
  readonly left: RunLeft | undefined;
}

/** A run that is settled and whose process was killed before it had put everything away. */
export interface Leftover {
  readonly runId: string;
  readonly state: RunState;
}

export interface RunSurvey {
  /** Newest first. */
  readonly unfinished: readonly UnfinishedRun[];
  readonly leftovers: readonly Leftover[];
}

/** What the runs of an installation have left open. Rejects with CnabError `unavailable` when the disk refuses. */
export async function surveyRuns(claims: TargetClaims, installation: Installation): Promise<RunSurvey> {
  const folders = new Set(await claims.runsLeft(installation.records.map(({ claim }) => claim.id)));
  const unfinished: UnfinishedRun[] = [];
  const leftovers: Leftover[] = [];
  for (const record of installation.records.toReversed()) {
    const { id } = record.claim;
    const isOpen = isUnsettled(record);
    const isUnbegun = record.results.length === 0 && neverRan(record);
    if (!isOpen && !isUnbegun && !folders.has(id)) continue;
    const left = folders.has(id) ? await lookInto(claims, id) : undefined;
    const note = readNote(left?.state);
    if (isUnbegun && note.state.job === undefined) unfinished.push({ record, lacks: 'start', note, left });
    else if (isOpen || isUnbegun) unfinished.push({ record, lacks: 'end', note, left });
    else if (note.outstanding === undefined) leftovers.push({ runId: id, state: note.state });
    else unfinished.push({ record, lacks: statusOf(record) === 'unknown' ? 'end' : 'outputs', note, left });
  }
  return { unfinished, leftovers };
}

/** A note that is damaged says nothing; the record does. */
async function lookInto(claims: TargetClaims, runId: string): Promise<RunLeft | undefined> {
  return await claims.runLeft(runId).catch((error: unknown) => {
    if (error instanceof CnabError && error.code === 'invalid') return undefined;
    throw error;
  });
}

/**
 * Where a run is on its target: as it was noted, or, where its process was killed before it could note that or the note is
 * lost, as the target tells. Rejects with CnabError `unavailable` where nothing is noted and the target cannot be asked.
 */
export async function stateOf(
  name: string,
  { runId, state }: Leftover,
  { driver, signal }: Pick<ActionContext, 'driver' | 'signal'>,
): Promise<RunState> {
  if (state.jobUid !== undefined) return state;
  const found = await asked(signal, driver.find(name, signal)).catch((error: unknown) => {
    // With a place to look at, whoever looks finds out for himself.
    if (!(error instanceof CnabError) || state.namespace === undefined) throw error;
    return [];
  });
  return { ...state, ...found.find((run) => run.runId === runId)?.state };
}

/** A command to paste that is about an unfinished run, `more` before the flags that lead to its target. */
export function takeUpCommand(command: string, installation: string, target: Target, more = ''): string {
  return `cnab ${command} ${shellWord(installation)}${more === '' ? '' : ` ${more}`} ${flagsFor(target)}`.trimEnd();
}

/** What to type for an unfinished run: each names it, since there may be others. */
export function takeUpCommands(installation: string, target: Target, runId: string): readonly string[] {
  const command = (verb: string, more = ''): string =>
    takeUpCommand(verb, installation, target, `--run ${runId}${more}`);
  return [
    `To take it up, with its log and its outputs: ${command('resume')}`,
    `To wait for its end: ${command('wait')}`,
    `To see its log: ${command('logs -f')}`,
    `To stop it: ${command('resume', ' --cancel')}`,
  ];
}

/**
 * Throws CnabError `contact-lost` when an earlier run has no end: it says how that run stands on its target, where that can
 * be told, and what to type.
 */
export async function refuseUnfinished(
  installation: Installation,
  claims: TargetClaims,
  { driver, signal }: ActionContext,
): Promise<void> {
  const { unfinished } = await surveyRuns(claims, installation);
  const open = unfinished.find(({ lacks }) => lacks === 'end');
  if (open === undefined) return;
  const { id, action, created } = open.record.claim;
  const noted = { runId: id, state: open.note.state };
  const look = async (): Promise<{ readonly detail: string }> => {
    const state = await stateOf(installation.name, noted, { driver, signal });
    return asked(signal, driver.look({ runId: id, state }, signal));
  };
  const sight = await look().catch((error: unknown) => {
    if (!(error instanceof CnabError)) throw error;
    return { detail: `may still be going on (${error.message})` };
  });
  throw new CnabError(
    'contact-lost',
    `the ${action} of "${installation.name}" that was begun ${created} (run ${id}) never reported an end: it ${sight.detail}.`,
    {
      suggestions: [
        ...takeUpCommands(installation.name, claims.target, id),
        'To go on without it: --force (it is then stopped and recorded as unknown, and its Job is removed)',
      ],
    },
  );
}
