import { appliesTo, type Bundle } from '../bundle/bundle.js';
import { rootedPath } from '../bundle/paths.js';
import { valueText } from '../bundle/values.js';
import type { Claim } from '../claim/claim.js';
import { isSensitiveParameter } from '../claim/status.js';
import type { RunInputs } from '../driver/driver.js';
import { textsOf } from './mask.js';

/**
 * What no log may show of a run's parameters. A tool may print a sensitive object's members without the rest, and its
 * definition says that they are secrets.
 */
export function parameterSecrets(claim: Claim): readonly Uint8Array[] {
  return Object.entries(claim.parameters ?? {})
    .filter(([name]) => isSensitiveParameter(claim, name))
    .flatMap(([, value]) => [valueText(value), ...textsOf(value)])
    .map((text) => Buffer.from(text));
}

/** True where the run may have been given credentials: no claim holds their values. */
export function needsCredentialSecrets({ bundle, action }: Claim): boolean {
  return credentialsFor(bundle, action).length > 0;
}

/** The credentials' values, read where the bundle has them put. */
export function credentialSecrets({ bundle, action }: Claim, inputs: RunInputs): readonly Uint8Array[] {
  return credentialsFor(bundle, action).flatMap(({ env, path }) => {
    const values = [
      env === undefined ? undefined : inputs.environment.get(env),
      path === undefined ? undefined : inputs.files.get(rootedPath(path)),
    ];
    return values.filter((value) => value !== undefined);
  });
}

function credentialsFor(bundle: Bundle, action: string) {
  return Object.values(bundle.credentials ?? {}).filter((credential) => appliesTo(credential, action));
}
