import { BUILT_IN_ACTIONS } from '../bundle/bundle.js';
import { own } from '../bundle/own.js';
import { validateBundle } from '../bundle/validate.js';
import type { TargetClaims } from '../claim/claim-store.js';
import type { Claim, ClaimRecord, Installation } from '../claim/claim.js';
import { DamagedDocument, MAX_DOCUMENT_BYTES, parseClaim } from '../claim/documents.js';
import type { FoundRun, RunInputs } from '../driver/driver.js';
import { CnabError } from '../errors.js';
import { asked } from './asked.js';
import { runningResult } from './final-result.js';
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
  { driver, signal }: Pick<ActionContext, 'driver' | 'signal'>,
): Promise<AdoptedRun> {
  const inputs = await asked(signal, driver.inputs(found, signal));
  const claim = await claimIn(inputs.record, found, installation);
  return { claim, found, inputs, stateless: traitsOf(claim.bundle, claim.action).stateless };
}

async function claimIn(bytes: Uint8Array, { runId, action }: FoundRun, installation: string): Promise<Claim> {
  const refuse = (reason: string, details: readonly string[] = []): CnabError =>
    new CnabError('invalid', `the record that run ${runId} of "${installation}" carries cannot be used: ${reason}`, {
      details,
      suggestions: ['look at it: somebody may have changed it on the cluster'],
    });
  if (bytes.length > MAX_DOCUMENT_BYTES) throw refuse(`it is larger than ${MAX_DOCUMENT_BYTES} bytes`);
  const claim = parsed(bytes, refuse);
  if (claim.id !== runId) throw refuse(`it is that of run ${JSON.stringify(claim.id)}`);
  if (claim.installation !== installation) throw refuse(`it is that of "${claim.installation}"`);
  if (claim.action !== action) throw refuse(`it is that of the action "${claim.action}", not of "${action}"`);
  const { bundle, problems } = await validateBundle(Buffer.from(JSON.stringify(claim.bundle)), 'the record');
  if (bundle === undefined || problems.length > 0) {
    throw refuse(
      'its bundle is not valid:',
      problems.map((problem) => `${problem.pointer}: ${problem.message}`),
    );
  }
  const known = (BUILT_IN_ACTIONS as readonly string[]).includes(action) || own(bundle.actions, action) !== undefined;
  if (!known) throw refuse(`its bundle has no action "${action}"`);
  return claim;
}

function parsed(bytes: Uint8Array, refuse: (reason: string) => CnabError): Claim {
  try {
    const { document, defects } = parseClaim(bytes);
    const [defect] = defects;
    if (defect !== undefined) throw refuse(defect);
    return document;
  } catch (error) {
    if (error instanceof DamagedDocument) throw refuse(error.message);
    throw error;
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
