import { CnabError } from '../errors.js';
import { LogSplice } from './log-splice.js';
import { secretPatterns, SecretMask } from './mask.js';
import type { ActionContext } from './request.js';
import { readSecrets, type RunWithSecrets } from './secrets.js';

/** What has been shown of the log already: its beginning, in a file that another process writes. */
export interface ShownLog {
  readonly bytes: number;
  readonly read: (position: number, length: number) => Promise<Buffer>;
}

/**
 * Shows the log of a run from its target until the run tool has ended, secrets masked; touches nothing of the run. False
 * where a part is known to be missing. Rejects with CnabError `unavailable` where its secrets cannot be known, and as
 * `Driver.follow` does.
 */
export async function followRun(
  run: RunWithSecrets,
  context: Pick<ActionContext, 'driver' | 'signal'>,
  show: (bytes: Buffer) => Promise<void>,
  shown?: ShownLog,
): Promise<boolean> {
  const { claim, state } = run;
  const { values, withheld } = await readSecrets(run, context);
  if (context.signal.aborted) return true;
  if (withheld !== undefined) {
    throw new CnabError('unavailable', `the log of ${claim.action} (run ${claim.id}) is not shown: ${withheld}.`);
  }
  const mask = new SecretMask(secretPatterns(values));
  const splice = new LogSplice(shown?.read ?? (() => Promise.resolve(Buffer.alloc(0))), shown?.bytes ?? 0);
  let gap = false;
  const put = async (bytes: Buffer): Promise<void> => {
    const fresh = await splice.push(bytes);
    gap ||= fresh.gap === true;
    if (fresh.bytes.length > 0) await show(fresh.bytes);
  };
  const { complete } = await context.driver.follow(
    { runId: claim.id, state },
    { signal: context.signal, onLog: (chunk) => put(mask.write(chunk)) },
  );
  // What is held back may be the beginning of a secret, of which more comes where the run goes on.
  if (!context.signal.aborted) await put(mask.end());
  const rest = splice.end();
  if (rest.bytes.length > 0) await show(rest.bytes);
  return complete && !gap && rest.gap !== true;
}
