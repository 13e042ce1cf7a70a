import type { ClaimStore, RunFolder, TargetClaims } from '../claim/claim-store.js';
import type { Claim } from '../claim/claim.js';
import { CnabError } from '../errors.js';
import { describeTarget } from './refuse.js';
import { takeUpCommand } from './unfinished.js';

/** Where runs are kept. */
export interface RunsPlace {
  readonly claims: TargetClaims;
  readonly store: ClaimStore;
}

/**
 * Gives the folder of a run to `body`, and keeps every other process out of it meanwhile. Ids come from clusters too, and one
 * namespace may be known as two targets: so a folder that is kept for a run of another one is not touched. Rejects with
 * CnabError: `InUse` (`busy`) while another process has it, `wrong-state` where it is another target's or installation's.
 */
export async function onRun<T>(
  { id, installation }: Pick<Claim, 'id' | 'installation'>,
  purpose: string,
  { claims, store }: RunsPlace,
  body: (folder: RunFolder) => Promise<T>,
): Promise<T> {
  const folder = await claims.openRun(id, { installation, purpose });
  try {
    const { keptFor } = folder;
    if (keptFor !== undefined && (keptFor.targetId !== claims.target.id || keptFor.installation !== installation)) {
      throw await keptForAnother(id, keptFor, claims, store);
    }
    return await body(folder);
  } finally {
    // A lock that stays is one of a process that is gone, which nobody heeds.
    await folder.close().catch(() => undefined);
  }
}

async function keptForAnother(
  id: string,
  { installation, targetId }: NonNullable<RunFolder['keptFor']>,
  claims: TargetClaims,
  store: ClaimStore,
): Promise<CnabError> {
  const targets = targetId === claims.target.id ? [claims.target] : await store.targets();
  const target = targets.find((each) => each.id === targetId);
  const where = target === undefined ? `target ${targetId}` : describeTarget(target);
  return new CnabError(
    'wrong-state',
    `run ${id} is kept here as one of "${installation}" on ${where}: it stays as it is.`,
    {
      suggestions:
        target === undefined
          ? []
          : [`To take that one up: ${takeUpCommand('resume', installation, target, `--run ${id}`)}`],
    },
  );
}
