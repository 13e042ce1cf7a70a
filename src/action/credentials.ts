import { appliesTo, type Bundle } from '../bundle/bundle.js';
import { sourceFlag } from '../credential/resolve.js';
import { CnabError } from '../errors.js';
import type { CredentialResolver } from './request.js';

/** Names of the credentials that concern the action: only those are resolved and injected. */
function credentialNames(bundle: Bundle, action: string): readonly string[] {
  return Object.entries(bundle.credentials ?? {})
    .filter(([, credential]) => appliesTo(credential, action))
    .map(([name]) => name);
}

/**
 * Values by credential name. Rejects with CnabError `invalid` that lists all required ones without a source, with flags
 * to paste. A stateless action requires none but gets those that are there (spec 101).
 */
export async function resolveCredentials(
  bundle: Bundle,
  action: string,
  stateless: boolean,
  resolver: CredentialResolver,
): Promise<ReadonlyMap<string, Uint8Array>> {
  const names = credentialNames(bundle, action);
  if (names.length === 0) return new Map();
  const found = await resolver(names);
  const missing = stateless
    ? []
    : names.filter((name) => bundle.credentials?.[name]?.required === true && !found.has(name));
  if (missing.length > 0) {
    throw new CnabError('invalid', `${action} of bundle ${bundle.name} needs credentials that were not given:`, {
      details: missing.map((name) => describe(bundle, name)),
      suggestions: [
        `Name a source for each: ${missing.map(sourceFlag).join(' ')}`,
        'Or a credential set that has them: -c SET',
      ],
    });
  }
  return new Map(names.flatMap((name) => entry(name, found.get(name))));
}

function entry(name: string, value: Uint8Array | undefined): [string, Uint8Array][] {
  return value === undefined ? [] : [[name, value]];
}

function describe(bundle: Bundle, name: string): string {
  const { env, path, description } = bundle.credentials?.[name] ?? {};
  const goes = [
    ...(env === undefined ? [] : [`variable ${env}`]),
    ...(path === undefined ? [] : [`file ${path}`]),
  ].join(' and ');
  return `credential "${name}" (${goes})${description === undefined ? '' : `: ${description}`}`;
}
