import { shellWord } from '../bundle/shell-word.js';
import { CnabError } from '../errors.js';
import type { LiveOwner } from './claim-store.js';
import type { LockAttempt } from './lock.js';
import { canJudge, processOf, type LockOwner, type ProcessFacts } from './owner.js';

/** `busy`: another process has an installation, or one run, which may belong to another target or to no record at all. */
export class InUse extends CnabError {
  /** Undefined where the lock changes hands all the time. */
  readonly owner: LiveOwner | undefined;

  /** `what`: `"app" on prod/payments`; `path`: the lock file. */
  constructor(
    readonly of: 'installation' | 'run',
    what: string,
    path: string,
    { owner, facts }: LockAttempt & { readonly got: false },
  ) {
    if (owner === undefined) {
      super('busy', `${what} is in use: its lock keeps changing hands`, { suggestions: ['try again'] });
      this.owner = undefined;
      return;
    }
    const { purpose, since } = owner;
    const seen = seenOwner(path, owner, facts);
    super('busy', `${what} is in use: ${purpose} by ${processOf(owner)}, since ${since}`, {
      suggestions: [seen.isJudged ? 'wait until it ends, or stop that process' : lockAdvice(seen, facts.host)],
    });
    this.owner = seen;
  }
}

/** What is told of the owner of a lock. */
export function seenOwner(lockFile: string, owner: LockOwner, facts: ProcessFacts): LiveOwner {
  const { pid, host, purpose, since } = owner;
  return { pid, host, purpose, since, isJudged: canJudge(owner, facts), lockFile };
}

/** What to do about a lock whose owner cannot be seen from here. */
export function lockAdvice({ lockFile }: LiveOwner, here?: string): string {
  return `if that process is gone (it cannot be seen from ${here ?? 'here'}), remove its lock: rm ${shellWord(lockFile)}`;
}
