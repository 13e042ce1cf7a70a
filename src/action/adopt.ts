import type { RunFolder, TargetClaims } from '../claim/claim-store.js';
import type { Claim, ClaimRecord, Installation } from '../claim/claim.js';
import type { FoundRun, RunInputs } from '../driver/driver.js';
import { CnabError } from '../errors.js';
import { carriedClaim } from './carried-claim.js';
import { asked } from './asked.js';
import { runningResult } from './final-result.js';
import { readNote, type RunNote } from './run-note.js';
import { wantedOutputs } from './operation.js';
import { traitsOf } from './permit.js';
import type { ActionContext } from './request.js';

/** A run that another machine began, or this one before its records were lost. */
export interface AdoptedRun {
  readonly claim: Claim;
  readonly found: FoundRun;
  readonly inputs: RunInputs;
  /** Leaves no record. */
  readonly stateless: boolean;
}

/**
 * The claim of a run that was found on its target, read back from the run's own objects. Whoever may write there may have
 * written it, so it must be what was asked for, and its bundle valid. Rejects with CnabError `invalid` where it is not.
 */
export async function readAdopted(
  found: FoundRun,
  installation: string,
  { driver, signal, clock }: Pick<ActionContext, 'driver' | 'signal' | 'clock'>,
): Promise<AdoptedRun> {
  const inputs = await asked(signal, driver.inputs(found, signal));
  const claim = await carriedClaim(inputs.record, found, installation, clock.now());
  return { claim, found, inputs, stateless: traitsOf(claim.bundle, claim.action).stateless };
}

/** False where it is gone by now. Rejects with CnabError `unavailable` where its record speaks of another run than its Job. */
export async function isThere(
  { claim, found }: AdoptedRun,
  { driver, signal }: Pick<ActionContext, 'driver' | 'signal'>,
): Promise<boolean> {
  const outputs = wantedOutputs(claim.bundle, claim.action);
  const sight = await asked(signal, driver.look({ runId: claim.id, state: found.state, outputs }, signal));
  return sight.phase !== 'absent';
}

/** What this home has noted of a run whose record it lost: who was on it, and a wish to stop it. */
export async function keptNote(folder: RunFolder): Promise<RunNote> {
  const noted = await folder.readState().catch((error: unknown) => {
    if (error instanceof CnabError && error.code === 'invalid') return undefined;
    throw error;
  });
  const { isLost: _, ...note } = readNote(noted);
  return note;
}

/** What `take` gives; where that is not true, a folder that was made to be looked into is left by nothing. */
export async function orLeave(folder: RunFolder, take: () => Promise<boolean>): Promise<boolean> {
  let isTaken = false;
  try {
    isTaken = await take();
    return isTaken;
  } finally {
    if (!isTaken && folder.isNew) await folder.remove();
  }
}

/** Records an adopted run as running, under its own id. */
export async function recordAdopted(
  { claim }: AdoptedRun,
  claims: TargetClaims,
  { clock }: ActionContext,
): Promise<ClaimRecord> {
  await claims.saveClaim(claim);
  const running = runningResult(await claims.nextId(claim.installation), claim, clock.now());
  await claims.saveResult(claim.installation, running);
  return { claim, results: [running] };
}

/** Runs of the installation on its target that the store does not know, newest first. */
export async function unknownRuns(
  name: string,
  installation: Installation | undefined,
  { driver, signal }: Pick<ActionContext, 'driver' | 'signal'>,
): Promise<readonly FoundRun[]> {
  const known = new Set(installation?.records.map(({ claim }) => claim.id));
  return (await asked(signal, driver.find(name, signal))).filter(({ runId }) => !known.has(runId));
}

/**
 * Those of `found` whose record can be used: whoever may write there must not keep a good run from being found. `refused` gets
 * why others cannot. Rejects as `readAdopted` does where nothing can be read at all.
 */
export async function* usableRuns(
  found: readonly FoundRun[],
  name: string,
  context: Pick<ActionContext, 'driver' | 'signal' | 'clock'>,
  refused: CnabError[],
): AsyncGenerator<AdoptedRun> {
  for (const run of found) {
    const adopted = await readAdopted(run, name, context).catch((error: unknown) => {
      if (error instanceof CnabError && (error.code === 'invalid' || error.code === 'not-found')) refused.push(error);
      else throw error;
    });
    if (adopted !== undefined) yield adopted;
  }
}
