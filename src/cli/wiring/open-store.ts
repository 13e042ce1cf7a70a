import type { ClaimStore } from '../../claim/claim-store.js';
import { isAliveBy } from '../../claim/owner.js';
import { createClaimStore } from '../../claim/store.js';
import { systemClock } from '../../driver/clock.js';

/** The store on files below `home`, with this process as the owner of its locks. */
export function openStore(home: string): ClaimStore {
  return createClaimStore({
    home,
    clock: systemClock,
    pid: process.pid,
    isAlive: isAliveBy((pid, signal) => process.kill(pid, signal)),
  });
}
