import { canonicalDigest } from '../bundle/canonical.js';
import type { Json, LoadedBundle } from '../bundle/bundle.js';
import { validateBundle } from '../bundle/validate.js';
import type { TargetClaims } from '../claim/claim-store.js';
import type { Claim, ClaimRecord, Installation } from '../claim/claim.js';
import { isAbsent, lastEffective } from '../claim/status.js';
import type { Operation } from '../driver/driver.js';
import { CnabError } from '../errors.js';
import { resolveCredentials } from './credentials.js';
import { checkExtensions } from './extensions.js';
import { chooseImage } from './image.js';
import { choicesLeft, claimExtras, customOfClaim, installedValues, keptFrom, mergeChoices } from './kept.js';
import { buildOperation } from './operation.js';
import { checkNamedOutputs } from './named-outputs.js';
import { resolveParameters, type ResolvedParameters } from './parameters.js';
import { permit, traitsOf, type ActionTraits } from './permit.js';
import { notInstalled } from './refuse.js';
import type { ActionContext, ActionRequest, ActionStart } from './request.js';
import { refuseUnfinished } from './unfinished.js';
import { parameterSecrets } from './secrets.js';
import { readSourceOutput } from './source-output.js';
import { identityOf } from './run-identity.js';

/** Everything that is decided before anything is recorded or created. */
export interface PreparedAction {
  readonly claim: Claim;
  readonly operation: Operation;
  readonly traits: ActionTraits;
  readonly parameters: ResolvedParameters;
  /** Values that no log may show. */
  readonly secrets: readonly Uint8Array[];
  readonly detach: boolean;
  readonly start: ActionStart;
  readonly digest: string;
  readonly warnings: readonly string[];
}

/** The action that a request stands for: `upgrade --install` is an install where there is nothing to upgrade. */
export function actionOf(request: ActionRequest, installation: Installation | undefined): string {
  const absent = installation === undefined || isAbsent(installation);
  return request.action === 'upgrade' && request.installIfAbsent && absent ? 'install' : request.action;
}

/** The bundle of the request, or the one that the installation was made with, checked again: a record is a file like any other. */
export async function bundleOf(request: ActionRequest, record: ClaimRecord | undefined): Promise<LoadedBundle> {
  if (request.bundle !== undefined) return request.bundle;
  if (record === undefined) {
    throw new CnabError(
      'invalid',
      `${request.action} needs a bundle: the path of a bundle.json or of a folder that holds one.`,
    );
  }
  const source = Buffer.from(JSON.stringify(record.claim.bundle));
  const origin = `the record of "${record.claim.installation}" (run ${record.claim.id})`;
  const { bundle, problems } = await validateBundle(source, origin);
  if (bundle === undefined || problems.length > 0) {
    throw new CnabError('invalid', `the bundle in ${origin} is not valid:`, {
      details: problems.map((problem) => `${problem.pointer}: ${problem.message}`),
      suggestions: ['Name a bundle on the command line.'],
    });
  }
  const { bundleFolder } = claimExtras(record.claim);
  return {
    bundle,
    source,
    digest: canonicalDigest(bundle as unknown as Json),
    origin,
    warnings: [],
    ...(bundleFolder === undefined ? {} : { folder: bundleFolder }),
  };
}

/**
 * Checks and resolves everything an action needs. Creates nothing, neither on disk nor on the cluster.
 * Rejects with CnabError: `invalid`, `not-found`, `wrong-state`, `contact-lost`.
 */
export async function prepareAction(
  request: ActionRequest,
  context: ActionContext,
  claims: TargetClaims,
  installation: Installation | undefined,
): Promise<PreparedAction> {
  const { target } = claims;
  const action = actionOf(request, installation);
  const record = installation === undefined ? undefined : lastEffective(installation);
  if (action !== 'install' && record === undefined && request.bundle === undefined) {
    throw await notInstalled(request.installation, target, context.store);
  }
  const loaded = await bundleOf({ ...request, action }, record);
  const { bundle } = loaded;
  const traits = traitsOf(bundle, action);
  if (!traits.stateless) {
    if (action !== 'install' && record === undefined)
      throw await notInstalled(request.installation, target, context.store);
    if (installation !== undefined) {
      if (!request.force) await refuseUnfinished(installation, claims, context);
      permit(action, installation, target, request.force);
    }
  } else if (request.detach) {
    throw new CnabError('invalid', `action "${action}" is stateless and leaves no record: nobody could take it up`, {
      suggestions: ['run it without --detach'],
    });
  }
  checkNamedOutputs(request.namedOutputs ?? [], bundle);
  const extensionWarnings = checkExtensions(bundle, request.ignoreRequiredExtensions);

  const previous = action === 'install' ? undefined : record;
  const kept = keptFrom(previous, request.reset);
  const choices = mergeChoices(request.choices, kept.choices);
  const { image, warnings: imageWarnings } = chooseImage(
    bundle,
    (type) => context.driver.handles(type),
    choices.relocation,
  );
  const parameters = await resolveParameters({
    bundle,
    action,
    given: request.parameters,
    overrides: kept.overrides,
    keptSecrets: kept.sensitiveParameters,
    installed: installation === undefined || action === 'install' ? new Map() : installedValues(installation),
    keptFrom: previous === undefined ? 'before' : `revision ${previous.claim.revision}`,
    outputOf: (name) => readSourceOutput(claims, installation, name),
  });
  const credentials = await resolveCredentials(
    bundle,
    action,
    traits.stateless,
    request.credentials(choices.credentialSets),
  );

  const id = await claims.nextId(request.installation);
  const claim: Claim = {
    schemaVersion: '1.0.0',
    id,
    installation: request.installation,
    revision: traits.modifies || record === undefined ? id : record.claim.revision,
    created: new Date(context.clock.now()).toISOString(),
    action,
    bundle,
    parameters: valuesOf(parameters),
    custom: customOfClaim({
      overrides: parameters.overrides,
      choices,
      bundleDigest: loaded.digest,
      ...(loaded.folder === undefined ? {} : { bundleFolder: loaded.folder }),
      sensitiveParameters: parameters.sensitive,
    }),
  };
  const operation = buildOperation({
    claim,
    bundleSource: loaded.source,
    image,
    parameters: parameters.applied,
    credentials,
    ...(loaded.folder === undefined ? {} : { bundleFolder: loaded.folder }),
    ...(choices.relocation === undefined ? {} : { relocation: choices.relocation }),
    ...(choices.serviceAccount === undefined ? {} : { serviceAccount: choices.serviceAccount }),
  });
  context.driver.check(operation);
  return {
    claim,
    operation,
    traits,
    parameters,
    detach: request.detach === true,
    secrets: [...parameterSecrets(claim), ...credentials.values()],
    start: {
      ...startOf(
        claim,
        target,
        previous,
        parameters,
        choicesLeft(request.choices, kept.choices),
        choices.serviceAccount,
      ),
      resumable: !traits.stateless,
    },
    digest: loaded.digest,
    warnings: [
      ...loaded.warnings,
      ...traits.warnings,
      ...extensionWarnings,
      // The sandbox runs the bundle's folder and no image.
      ...(target.driver === 'sandbox' ? [] : imageWarnings),
      ...parameters.warnings,
    ],
  };
}

function valuesOf(parameters: ResolvedParameters): Record<string, Json> {
  return Object.fromEntries(
    parameters.applied.flatMap(({ name, value }) => (value === undefined ? [] : [[name, value]])),
  );
}

function startOf(
  claim: Claim,
  target: TargetClaims['target'],
  previous: ClaimRecord | undefined,
  parameters: ResolvedParameters,
  keptChoices: ActionRequest['choices'],
  serviceAccount: string | undefined,
): ActionStart {
  const keepsSomething =
    parameters.kept.length > 0 ||
    keptChoices.credentialSets.length > 0 ||
    keptChoices.serviceAccount !== undefined ||
    keptChoices.relocation !== undefined;
  return {
    ...identityOf(claim, target),
    ...(serviceAccount === undefined ? {} : { serviceAccount }),
    ...(previous !== undefined && keepsSomething
      ? { kept: { revision: previous.claim.revision, parameters: parameters.kept, choices: keptChoices } }
      : {}),
  };
}
