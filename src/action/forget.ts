import type { ClaimStore } from '../claim/claim-store.js';
import type { Target } from '../claim/target.js';
import { notInstalled } from './refuse.js';

/**
 * Deletes the record of an installation and runs nothing: what it created stays where it is.
 * Rejects with CnabError `not-found` where there is no record, `busy` while something runs.
 */
export async function forgetInstallation(name: string, target: Target, store: ClaimStore): Promise<void> {
  const claims = store.on(target);
  if (!(await store.targetsOf(name)).some(({ id }) => id === target.id)) throw await notInstalled(name, target, store);
  const lock = await claims.lock(name, 'forget');
  try {
    await claims.remove(name);
  } finally {
    await lock.release();
  }
}
