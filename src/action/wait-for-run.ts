import { checkInstallationName } from '../bundle/names.js';
import type { TargetClaims } from '../claim/claim-store.js';
import { isUnsettled, lastRun, statusOf, unsettled } from '../claim/status.js';
import { CnabError } from '../errors.js';
import type { ActionContext } from './request.js';
import { resumeAction, type Resumed, type ResumeRequest } from './resume-action.js';

/** How often the record of a run is looked at that a live process is on. */
const LOOK_MS = 500;

/**
 * Waits until a run has an end: the newest without one, else the newest. What a live process is on is waited for by its
 * record; what no process is on is taken up as `resumeAction` does. Rejects as that does but for `busy`, and with
 * `interrupted` when `context.signal` ends the waiting while another process is on it.
 */
export async function waitForRun(request: Omit<ResumeRequest, 'cancel'>, context: ActionContext): Promise<Resumed> {
  const { installation: name } = request;
  checkInstallationName(name);
  const claims = context.store.on(await context.driver.target(context.signal));
  let { runId } = request;
  for (;;) {
    const ended = await endedRun(name, runId, claims);
    if (ended !== undefined && 'kind' in ended) return ended;
    // It stays the one that was meant, also where the next action begins at once.
    runId ??= ended?.runId;
    try {
      return await resumeAction(
        { installation: name, cancel: false, ...(runId === undefined ? {} : { runId }) },
        context,
      );
    } catch (error) {
      if (!(error instanceof CnabError) || error.code !== 'busy') throw error;
      const owner = await claims.owner(name);
      const who = owner === undefined ? 'another process' : `process ${owner.pid} on ${owner.host}`;
      context.events.onProgress({ phase: 'running', detail: `${who} is on it` });
    }
    await context.clock.sleep(LOOK_MS, context.signal).catch(() => undefined);
    if (context.signal.aborted) {
      throw new CnabError('interrupted', `the run of "${name}" goes on: only the waiting for it has ended.`);
    }
  }
}

/** The run when it has an end; else which one it is; undefined where the store knows none. */
async function endedRun(
  name: string,
  runId: string | undefined,
  claims: TargetClaims,
): Promise<Resumed | { readonly runId: string } | undefined> {
  const installation = await claims.read(name);
  if (installation === undefined) return undefined;
  const record =
    runId === undefined
      ? (unsettled(installation) ?? lastRun(installation))
      : installation.records.find(({ claim }) => claim.id === runId);
  if (record === undefined) return undefined;
  // What is recorded as unknown may still be found out; `resumeAction` tells when it is not.
  const isOpen = isUnsettled(record) || statusOf(record) === 'unknown';
  return isOpen ? { runId: record.claim.id } : { kind: 'ended', record, claims };
}
