import type { TargetClaims } from '../claim/claim-store.js';
import type { Installation } from '../claim/claim.js';
import { lastEffective } from '../claim/status.js';
import { refuseRunElsewhere, unlessElsewhere } from './elsewhere.js';
import { traitsOf } from './permit.js';
import { actionOf, bundleOf, prepareAction, type PreparedAction } from './prepare.js';
import type { ActionContext, ActionRequest } from './request.js';

/** Stateless actions leave no record and need no lock (spec 101); everything else does. */
export async function leavesNoRecord(request: ActionRequest, installation: Installation | undefined): Promise<boolean> {
  const record = installation === undefined ? undefined : lastEffective(installation);
  const action = actionOf(request, installation);
  if (['install', 'upgrade', 'uninstall'].includes(action) || (request.bundle ?? record) === undefined) return false;
  const { bundle } = await bundleOf(request, record);
  return traitsOf(bundle, action).stateless;
}

/**
 * Prepares an action that is recorded, and asks the target meanwhile for runs of other machines, which it must not run
 * into. Rejects as `prepareAction` and `refuseRunElsewhere` do.
 */
export async function prepareRecorded(
  request: ActionRequest,
  context: ActionContext,
  claims: TargetClaims,
  installation: Installation | undefined,
): Promise<PreparedAction> {
  // Records may be a copy of older ones (a CI job's cache): that they know the name says nothing of the newest run.
  const elsewhere = request.force
    ? Promise.resolve([])
    : refuseRunElsewhere(request.installation, installation, claims.target, context);
  const preparing = prepareAction(request, context, claims, installation);
  const [prepared, warnings] = await Promise.all([
    preparing.catch(unlessElsewhere(() => elsewhere, context.events.onWarning)),
    elsewhere,
  ]);
  return { ...prepared, warnings: [...warnings, ...prepared.warnings] };
}
