import { LOGS_OUTPUT, type Claim, type OutputMetadata, type Result, type Status } from '../claim/claim.js';
import type { OperationResult } from '../driver/driver.js';
import { CnabError } from '../errors.js';
import type { JudgedOutputs, KeptOutput } from './judge.js';
import { customOfResult } from './kept.js';

/** How a run is recorded and reported once the driver and the outputs have been judged together. */
export interface Verdict {
  /** `running` only of a run that goes on without us. */
  readonly status: Exclude<Status, 'pending'>;
  readonly error?: CnabError;
}

/**
 * One status for the run: exit code 0 with outputs that are missing, lost or invalid is `failed` (decision 12 of the
 * reference), with the error kind that says that the bundle itself did not fail.
 */
export function verdictOf(action: string, result: OperationResult, judged: Pick<JudgedOutputs, 'failures'>): Verdict {
  if (result.status !== 'succeeded') {
    return { status: result.status, error: result.error ?? plainFailure(action, result) };
  }
  if (result.error !== undefined) return { status: 'failed', error: result.error };
  if (judged.failures.length === 0) return { status: 'succeeded' };
  return {
    status: 'failed',
    error: new CnabError('outputs-incomplete', `${action} ended with exit code 0, but its outputs are not complete:`, {
      details: judged.failures,
    }),
  };
}

function plainFailure(action: string, { exitCode, status }: OperationResult): CnabError {
  if (status === 'unknown') return new CnabError('contact-lost', `${action} has an unknown outcome.`);
  if (status === 'canceled') return new CnabError('interrupted', `${action} was canceled.`);
  return new CnabError(
    'bundle-failed',
    `${action} failed${exitCode === undefined ? '' : ` with exit code ${exitCode}`}.`,
  );
}

export function runningResult(id: string, claim: Claim, now: number): Result {
  return { id, claimId: claim.id, created: timestamp(now), status: 'running' };
}

/** The document that settles a run whose process ended before it could. */
export function unknownResult(id: string, claim: Claim, now: number): Result {
  const message = 'the process that ran it ended without recording a result; a later command went on with --force';
  const custom = customOfResult({ ran: 'unknown', logComplete: false, code: 'contact-lost' });
  return { id, claimId: claim.id, created: timestamp(now), status: 'unknown', message, custom };
}

/** The document that settles a run whose process was killed before it began. */
export function unbegunResult(id: string, claim: Claim, now: number): Result {
  return unfinishedResult(id, claim, now, false, 'the process that was to run it ended before it was begun');
}

/** The document for a run that this process could not bring to a proper end: a full disk, a bug of ours. */
export function unfinishedResult(id: string, claim: Claim, now: number, driving: boolean, message: string): Result {
  const custom = driving
    ? customOfResult({ ran: 'unknown', logComplete: false, code: 'contact-lost' })
    : customOfResult({ ran: 'no', logComplete: false });
  return { id, claimId: claim.id, created: timestamp(now), status: driving ? 'unknown' : 'failed', message, custom };
}

export function finalResult(
  id: string,
  claim: Claim,
  now: number,
  verdict: Verdict,
  result: OperationResult,
  outputs: readonly KeptOutput[],
): Result {
  const { error } = verdict;
  return {
    id,
    claimId: claim.id,
    created: timestamp(now),
    status: verdict.status,
    ...(error === undefined ? {} : { message: [error.message, ...error.details].join('\n') }),
    ...(outputs.length === 0
      ? {}
      : { outputs: Object.fromEntries(outputs.map((output) => [output.name, metadata(output)])) }),
    custom: customOfResult({
      ran: result.ran,
      ...(result.exitCode === undefined ? {} : { exitCode: result.exitCode }),
      ...(error === undefined ? {} : { code: error.code }),
      logComplete: result.logComplete,
    }),
  };
}

/** True where the bundle declares an output of the log's well-known name: then the bundle's is kept, not ours (spec 804). */
export function declaresLog(claim: Claim): boolean {
  return claim.bundle.outputs !== undefined && Object.hasOwn(claim.bundle.outputs, LOGS_OUTPUT);
}

function metadata({ sha256, byBundle }: KeptOutput): OutputMetadata {
  return { contentDigest: `sha256:${sha256}`, generatedByBundle: String(byBundle) };
}

function timestamp(now: number): string {
  return new Date(now).toISOString();
}
