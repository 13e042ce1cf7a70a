import { isAbsolute } from 'node:path';
import { BUILT_IN_ACTIONS } from '../bundle/bundle.js';
import { scanJson } from '../bundle/json-scan.js';
import { member, own } from '../bundle/own.js';
import { validateBundle } from '../bundle/validate.js';
import { CUSTOM_KEY, type Claim } from '../claim/claim.js';
import { DamagedDocument, formatDocument, MAX_DOCUMENT_BYTES, parseClaim } from '../claim/documents.js';
import { timeOfUlid } from '../claim/ulid.js';
import type { FoundRun } from '../driver/driver.js';
import { CnabError } from '../errors.js';

const TOO_LARGE = `it is larger than ${MAX_DOCUMENT_BYTES} bytes`;
/** What clocks of machines that are looked after differ by. */
const SKEW_MS = 5 * 60_000;
/** A clock that shows another zone's time is off by hours; a Job that was put back from a backup is made days after its run. */
const NEAR_MS = 24 * 60 * 60_000;

/**
 * The claim that a run on the target carries, which whoever may write there may have written: it is what was asked for, its
 * bundle valid, and its ids can do no harm among good records, where an id of a time to come would be the newest for ever and
 * leave no room for another. Rejects with CnabError `invalid`. `now`: milliseconds since 1970.
 */
export async function carriedClaim(
  bytes: Uint8Array,
  found: Pick<FoundRun, 'runId' | 'action' | 'created'>,
  installation: string,
  now: number,
): Promise<Claim> {
  const { runId, action } = found;
  const refuse = (reason: string, details: readonly string[] = []): CnabError =>
    new CnabError('invalid', `the record that run ${runId} of "${installation}" carries cannot be used: ${reason}`, {
      details,
      suggestions: ['look at it: somebody may have changed it on the cluster'],
    });
  if (bytes.length > MAX_DOCUMENT_BYTES) throw refuse(TOO_LARGE);
  const claim = parsed(bytes, refuse);
  if (claim.id !== runId) throw refuse(`it is that of run ${JSON.stringify(claim.id)}`);
  if (claim.installation !== installation) throw refuse(`it is that of ${JSON.stringify(claim.installation)}`);
  if (claim.action !== action) throw refuse(`it is that of the action "${claim.action}", not of "${action}"`);
  const problem = timesProblem(claim, found.created, now) ?? choicesProblem(claim);
  if (problem !== undefined) throw refuse(problem);
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
    // By the limit of a bundle.json: what is nested more deeply can be parsed, and neither be written nor worked with.
    if (scanJson(Buffer.from(bytes).toString('utf8')).tooDeepAt !== undefined) throw refuse('it is nested too deeply');
    // As it will be written, which makes it larger.
    if (Buffer.byteLength(formatDocument(document)) > MAX_DOCUMENT_BYTES) throw refuse(TOO_LARGE);
    return document;
  } catch (error) {
    if (error instanceof DamagedDocument) throw refuse(error.message);
    if (error instanceof RangeError) throw refuse(TOO_LARGE);
    throw error;
  }
}

/** Why its id, its revision or its time cannot be those of a run whose Job was made at `made`. */
function timesProblem({ id, revision, created }: Claim, made: number, now: number): string | undefined {
  const isRfc3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/.test(created);
  const times = [
    ['id', 'ULID', timeOfUlid(id)],
    ['revision', 'ULID', timeOfUlid(revision)],
    ['"created"', 'time', isRfc3339 ? Date.parse(created) : undefined],
  ] as const;
  for (const [what, kind, time] of times) {
    if (time === undefined || Number.isNaN(time)) return `its ${what} is no ${kind}`;
    const at = new Date(time).toISOString();
    if (time > now + SKEW_MS) return `its ${what} is of ${at}, a time that is still to come`;
    // A revision may be as old as the installation.
    if (what !== 'revision' && Math.abs(time - made) > NEAR_MS) {
      return `its ${what} is of ${at}, and its Job was made ${new Date(made).toISOString()}`;
    }
  }
  return undefined;
}

/** What later actions of the installation would take from it by themselves. */
function choicesProblem({ custom }: Claim): string | undefined {
  const choices = member(member(custom, CUSTOM_KEY), 'choices');
  if (choices === undefined) return undefined;
  const [sets, account, relocation] = [
    member(choices, 'credentialSets'),
    member(choices, 'serviceAccount'),
    member(choices, 'relocation'),
  ];
  if (!Array.isArray(sets) || !sets.every(isSetName)) return 'the credential sets that it names are none';
  if (account !== undefined && !isAccountName(account)) return 'the service account that it names is none';
  if (relocation !== undefined && !isRelocation(relocation)) return 'its relocation mapping is none';
  return undefined;
}

const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u;

/** The name of a set, or the absolute path of one. */
function isSetName(name: unknown): boolean {
  if (typeof name !== 'string' || name === '' || UNPRINTABLE.test(name)) return false;
  return isAbsolute(name) || !name.includes('/');
}

/** A DNS subdomain (RFC 1123), as the names of service accounts are. */
function isAccountName(name: unknown): boolean {
  return typeof name === 'string' && name.length <= 253 && /^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/.test(name);
}

function isRelocation(mapping: unknown): boolean {
  if (typeof mapping !== 'object' || mapping === null || Array.isArray(mapping)) return false;
  return Object.entries(mapping).every(
    ([from, to]) => typeof to === 'string' && [from, to].every((image) => image !== '' && !UNPRINTABLE.test(image)),
  );
}
