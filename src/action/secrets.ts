import { appliesTo, type Bundle } from '../bundle/bundle.js';
import { rootedPath } from '../bundle/paths.js';
import { valueText } from '../bundle/values.js';
import type { Claim } from '../claim/claim.js';
import { isSensitiveParameter } from '../claim/status.js';
import type { RunInputs, RunState } from '../driver/driver.js';
import { CnabError } from '../errors.js';
import { asked } from './asked.js';
import { textsOf } from './mask.js';
import { traitsOf } from './permit.js';
import type { ActionContext } from './request.js';

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
function needsCredentialSecrets({ bundle, action }: Claim): boolean {
  return credentialsFor(bundle, action).length > 0;
}

/**
 * The credentials' values, read where the bundle has them put. Throws CnabError `not-found` where one that the run cannot
 * have begun without is not there: what it was is then not known, and cannot be masked.
 */
function credentialSecrets({ bundle, action }: Claim, inputs: RunInputs): readonly Uint8Array[] {
  const { stateless } = traitsOf(bundle, action);
  return credentialsFor(bundle, action).flatMap(([name, { env, path, required }]) => {
    const values = [
      env === undefined ? undefined : inputs.environment.get(env),
      path === undefined ? undefined : inputs.files.get(rootedPath(path)),
    ].filter((value) => value !== undefined);
    if (required === true && !stateless && values.length === 0) {
      throw new CnabError('not-found', `credential "${name}" is not among what the run was given`);
    }
    return values;
  });
}

function credentialsFor(bundle: Bundle, action: string) {
  return Object.entries(bundle.credentials ?? {}).filter(([, credential]) => appliesTo(credential, action));
}

/** What no log of a run may show, read back from its claim and from the run itself. */
export interface RunSecrets {
  readonly values: readonly Uint8Array[];
  /** Set where they cannot be known, and the log may therefore neither be shown nor recorded: why, as a clause. */
  readonly withheld?: string;
}

export interface RunWithSecrets {
  readonly claim: Claim;
  readonly state: RunState;
  /** Where they were read already. */
  readonly inputs?: RunInputs;
}

export async function readSecrets(
  { claim, state, inputs }: RunWithSecrets,
  { driver, signal }: Pick<ActionContext, 'driver' | 'signal'>,
): Promise<RunSecrets> {
  const known = parameterSecrets(claim);
  if (!needsCredentialSecrets(claim)) return { values: known };
  try {
    const read = inputs ?? (await asked(signal, driver.inputs({ runId: claim.id, state }, signal)));
    return { values: [...known, ...credentialSecrets(claim, read)] };
  } catch (error) {
    if (!(error instanceof CnabError)) throw error;
    return { values: known, withheld: `the credentials that it may show cannot be read back (${error.message})` };
  }
}
