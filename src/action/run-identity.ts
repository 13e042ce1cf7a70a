import type { Claim } from '../claim/claim.js';
import type { Target } from '../claim/target.js';

/** By what a run is told of, at its start and at its end. */
export interface RunIdentity {
  readonly action: string;
  readonly installation: string;
  readonly target: Target;
  readonly runId: string;
  readonly revision: string;
}

export function identityOf(claim: Claim, target: Target): RunIdentity {
  const { action, installation, id, revision } = claim;
  return { action, installation, target, runId: id, revision };
}
