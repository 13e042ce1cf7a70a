import type { TargetClaims } from '../claim/claim-store.js';
import { asWarning } from './as-warning.js';
import { onRun } from './on-run.js';
import type { ActionContext } from './request.js';
import type { Leftover } from './unfinished.js';

/** Puts away what a killed process of ours could not any more. Gives warnings instead of rejecting. */
export async function releaseLeftovers(
  leftovers: readonly Leftover[],
  installation: string,
  claims: TargetClaims,
  { driver, store }: Pick<ActionContext, 'driver' | 'store'>,
): Promise<readonly string[]> {
  const warnings: string[] = [];
  for (const { runId, state } of leftovers) {
    const failures = await asWarning(() =>
      onRun({ id: runId, installation }, 'put away', { claims, store }, async (folder) => {
        warnings.push(...(await driver.release({ runId, state })));
        await folder.remove();
      }),
    );
    warnings.push(...failures);
  }
  return warnings;
}
