import { LAST_RUN } from '../../action/meant-run.js';
import { nearest } from '../../bundle/nearest.js';
import { shellWord } from '../../bundle/shell-word.js';
import type { TargetClaims, StoredOutput } from '../../claim/claim-store.js';
import { LOGS_OUTPUT, type ClaimRecord, type Installation } from '../../claim/claim.js';
import {
  lastEffective,
  lastOutputs,
  lastRun,
  outputHistory,
  outputsOf,
  type ProducedOutput,
} from '../../claim/status.js';
import { CnabError } from '../../errors.js';

/** What `--run ID|last` says: an id as records have it, or `LAST_RUN`; either may be typed in small letters or large ones. */
export function runNamed(run: string): string {
  return run.toLowerCase() === LAST_RUN ? LAST_RUN : run.toUpperCase();
}

/** The recorded run that `--run ID|last` names. Throws CnabError `not-found`. */
export function runOf(installation: Installation, run: string): ClaimRecord {
  const named = runNamed(run);
  const record =
    named === LAST_RUN ? lastRun(installation) : installation.records.find(({ claim }) => claim.id === named);
  if (record) return record;
  throw new CnabError('not-found', `"${installation.name}" has no run ${JSON.stringify(run)}`, {
    suggestions: [`its runs: cnab history ${shellWord(installation.name)}`],
  });
}

export interface FoundOutput {
  readonly produced: ProducedOutput;
  readonly stored: StoredOutput;
  /** Set when the value is from an older revision than the installation has now. */
  readonly note?: string;
}

/**
 * An output's stored bytes: of one run, or the newest that is still there.
 * Rejects with CnabError `not-found`; the message names what there is.
 */
export async function findOutput(
  claims: TargetClaims,
  installation: Installation,
  name: string,
  run: string | undefined,
): Promise<FoundOutput> {
  const record = run === undefined ? undefined : runOf(installation, run);
  const candidates = record
    ? outputsOf(record).filter((output) => output.name === name)
    : outputHistory(installation, name);
  for (const produced of candidates) {
    const stored = await claims.output(produced.result.id, name);
    if (!stored) continue;
    const note = record ? undefined : ageNote(installation, produced);
    return { produced, stored, ...(note === undefined ? {} : { note }) };
  }
  throw missing(installation, name, record, candidates.length > 0);
}

function ageNote(installation: Installation, { claim, name }: ProducedOutput): string | undefined {
  const current = lastEffective(installation)?.claim.revision;
  if (current === undefined || claim.revision === current) return undefined;
  return `note: ${JSON.stringify(name)} is from revision ${claim.revision} (${claim.action} of ${claim.bundle.version}); the current revision ${current} left none`;
}

function missing(
  installation: Installation,
  name: string,
  record: ClaimRecord | undefined,
  fileGone: boolean,
): CnabError {
  const where = record ? `run ${record.claim.id} of "${installation.name}"` : `"${installation.name}"`;
  if (fileGone) return new CnabError('not-found', `the file of output ${JSON.stringify(name)} of ${where} is gone`);
  const names = (record ? outputsOf(record) : lastOutputs(installation))
    .map((output) => output.name)
    .filter((known) => known !== LOGS_OUTPUT);
  const near = nearest(name, names);
  const known = names.length > 0 ? `its outputs: ${names.join(', ')}` : 'it has no outputs';
  return new CnabError('not-found', `${where} has no output ${JSON.stringify(name)}`, {
    suggestions: [near === undefined ? known : `did you mean "${near}"?`],
  });
}
