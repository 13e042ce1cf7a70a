import { checkInstallationName } from '../bundle/names.js';
import { prepareAction, type PreparedAction } from './prepare.js';
import { leavesNoRecord, prepareRecorded } from './prepare-recorded.js';
import type { ActionContext, ActionRequest } from './request.js';

/**
 * What `runAction` would do, decided in the same way; nothing is recorded, created or run, and nothing is locked.
 * Rejects as `runAction` refuses.
 */
export async function planAction(request: ActionRequest, context: ActionContext): Promise<PreparedAction> {
  checkInstallationName(request.installation);
  const claims = context.store.on(await context.driver.target(context.signal));
  const installation = await claims.read(request.installation);
  const prepare = (await leavesNoRecord(request, installation)) ? prepareAction : prepareRecorded;
  return await prepare(request, context, claims, installation);
}
