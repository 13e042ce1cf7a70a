import type { ClaimRecord } from '../claim/claim.js';
import { lastResult, statusOf } from '../claim/status.js';
import type { Target } from '../claim/target.js';
import { CnabError, ERROR_CODES, type ErrorCode } from '../errors.js';
import { claimExtras, resultExtras } from './kept.js';
import type { ActionOutcome, OutputSummary } from './request.js';
import { identityOf } from './run-identity.js';

/** How a run ended, as its record has it, in the form in which the process that ran it told it. */
export function recordedOutcome(record: ClaimRecord, target: Target, outputs: readonly OutputSummary[]): ActionOutcome {
  const { claim } = record;
  const result = lastResult(record);
  const { ran = 'unknown', exitCode, code, logComplete } = result === undefined ? {} : resultExtras(result);
  const recorded = statusOf(record);
  const status = recorded === 'pending' ? 'running' : recorded;
  const error =
    status === 'succeeded' || status === 'running' ? undefined : errorOf(claim.action, status, code, result?.message);
  return {
    ...identityOf(claim, target),
    status,
    ran,
    ...(exitCode === undefined ? {} : { exitCode }),
    bundle: { name: claim.bundle.name, version: claim.bundle.version, digest: claimExtras(claim).bundleDigest },
    outputs,
    logComplete: logComplete ?? false,
    ...(error === undefined ? {} : { error }),
    warnings: [],
    ...(result === undefined ? {} : { recorded: { claim, result } }),
  };
}

const BY_STATUS = { failed: 'bundle-failed', canceled: 'interrupted', unknown: 'contact-lost' } as const;

function errorOf(
  action: string,
  status: keyof typeof BY_STATUS,
  code: string | undefined,
  message: string | undefined,
): CnabError {
  const known = ERROR_CODES.find((candidate) => candidate === code);
  const kind: ErrorCode = known ?? BY_STATUS[status];
  const [first, ...details] = (message ?? '').split('\n');
  return new CnabError(kind, first || `${action} has ended: ${status}.`, { details });
}
