import { shellWord } from '../bundle/shell-word.js';
import { CnabError } from '../errors.js';
import type { LiveOwner } from './claim-store.js';
import type { LockAttempt } from './lock.js';

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
    const { pid, host, purpose, since } = owner;
    const judged =
      owner.bootId === facts.bootId &&
      owner.pidNamespace === facts.pidNamespace &&
      (owner.bootId !== undefined || host === facts.host);
    super('busy', `${what} is in use: ${purpose} by process ${pid} on ${host}, since ${since}`, {
      suggestions: judged
        ? ['wait until it ends, or stop that process']
        : [`if that process is gone (it cannot be seen from ${facts.host}), remove its lock: rm ${shellWord(path)}`],
    });
    this.owner = { pid, host, purpose, since };
  }
}
