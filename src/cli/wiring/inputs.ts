import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { ActionRequest, Choices } from '../../action/request.js';
import type { Bundle, LoadedBundle } from '../../bundle/bundle.js';
import { own } from '../../bundle/own.js';
import type { ClaimStore } from '../../claim/claim-store.js';
import { lastEffective } from '../../claim/status.js';
import { CnabError, messageOf } from '../../errors.js';
import type { ActionFlags } from '../action-flags.js';
import type { Surroundings } from '../surroundings.js';
import { openBundle } from './bundles.js';

/** What a command asks for beside its flags. */
export interface ActionPlan {
  readonly action: string;
  readonly installation: string;
  /** Reference of the bundle; absent: the one of the last modifying run. */
  readonly bundle?: string | undefined;
  readonly installIfAbsent?: boolean;
  readonly deleteRecord?: boolean;
}

export interface InputPlaces {
  readonly home: string;
  readonly surroundings: Surroundings;
  readonly store: ClaimStore;
  /** Ends commands that give values. */
  readonly signal: AbortSignal;
  /** What such commands say on stderr: a question for a pass phrase. */
  readonly onStderr: (chunk: Uint8Array) => void;
}

/** Everything that the command line asks of an action. Rejects with CnabError `invalid` or `not-found`. */
export async function requestOf(plan: ActionPlan, flags: ActionFlags, places: InputPlaces): Promise<ActionRequest> {
  refuseDetached(plan, flags);
  const { surroundings } = places;
  const credentials = await credentialsOf(flags, places);
  if (plan.bundle === '-' && (flags.credential ?? []).some((text) => text.endsWith('=-'))) {
    throw new CnabError('invalid', 'standard input is either the bundle or a credential, not both');
  }
  const bundle = plan.bundle === undefined ? undefined : await openBundle(plan.bundle, surroundings);
  return {
    action: plan.action,
    installation: plan.installation,
    ...(bundle === undefined ? {} : { bundle }),
    parameters: await parametersOf(plan, flags, bundle, places),
    choices: await choicesOf(flags, places),
    credentials,
    reset: flags.reset === true,
    force: flags.force === true,
    installIfAbsent: plan.installIfAbsent === true,
    deleteRecord: plan.deleteRecord === true,
    detach: flags.detach === true,
    namedOutputs: flags['include-sensitive'] ?? [],
    ignoreRequiredExtensions: flags['ignore-required-extensions'] === true,
  };
}

/** What is done with the end of a run has to be asked of whoever waits for that. */
function refuseDetached(plan: ActionPlan, flags: ActionFlags): void {
  if (!flags.detach) return;
  const asked = [
    ...(plan.deleteRecord ? ['--delete-record'] : []),
    ...(flags['outputs-dir'] === undefined ? [] : ['--outputs-dir']),
  ];
  const [first] = asked;
  if (first === undefined) return;
  throw new CnabError('invalid', `${first} is about the end of the run, and --detach does not wait for that`, {
    suggestions:
      first === '--outputs-dir' ? ['give it to the command that does: cnab wait NAME --outputs-dir DIR'] : [],
  });
}

async function parametersOf(
  { installation }: ActionPlan,
  flags: ActionFlags,
  bundle: LoadedBundle | undefined,
  places: InputPlaces,
) {
  const { home, signal, onStderr, surroundings } = places;
  const { readGivenParameters } = await import('../../credential/parameter-sources.js');
  const hasSets = (flags.params ?? []).length > 0;
  const bundles =
    bundle !== undefined ? [bundle.bundle] : hasSets ? await recordedBundles(places.store, installation) : [];
  const wanted = (name: string): boolean => bundles.some(({ parameters }) => own(parameters, name) !== undefined);
  return readGivenParameters({
    params: flags.param ?? [],
    paramFiles: flags['param-file'] ?? [],
    valueFiles: flags.params ?? [],
    // A parameter set may serve several bundles; what this one does not declare is not looked up.
    ...(bundles.length === 0 ? {} : { wanted }),
    ...{ home, signal, onStderr, env: surroundings.env, cwd: surroundings.cwd },
  });
}

/** The bundles that an action may use which names none: those of the installations of that name, on whatever target. */
async function recordedBundles(store: ClaimStore, name: string): Promise<readonly Bundle[]> {
  try {
    const found = await Promise.all((await store.targetsOf(name)).map((target) => store.on(target).read(name)));
    return found.flatMap((installation) => {
      const record = installation && lastEffective(installation);
      return record === undefined ? [] : [record.claim.bundle];
    });
  } catch (error) {
    // The action itself says what is wrong with its record.
    if (!(error instanceof CnabError)) throw error;
    return [];
  }
}

/** A `--credential` that cannot be read is refused here, before anything is locked or asked. */
async function credentialsOf(flags: ActionFlags, places: InputPlaces): Promise<ActionRequest['credentials']> {
  const { home, signal, onStderr, surroundings } = places;
  const { createCredentialResolver } = await import('../../credential/resolve.js');
  const { parseSingles } = await import('../../credential/single.js');
  parseSingles(flags.credential ?? []);
  const common = {
    single: flags.credential ?? [],
    stdin: surroundings.stdin as AsyncIterable<Uint8Array>,
    ...{ home, signal, onStderr, env: surroundings.env, cwd: surroundings.cwd },
  };
  return (sets) => createCredentialResolver({ ...common, sets });
}

/** What later actions of the installation keep. A set that is a file is kept by its absolute path. */
async function choicesOf(flags: ActionFlags, { home, surroundings: { cwd } }: InputPlaces): Promise<Choices> {
  const { locateSet } = await import('../../credential/locate.js');
  const account = flags['service-account'];
  const mapping = flags['relocation-mapping'];
  const credentialSets: string[] = [];
  for (const given of flags.credentials ?? []) {
    // Looked for also where this action needs no credential: a slip would be kept for the one that does.
    const { path } = await locateSet(given, 'credential', { home, cwd });
    credentialSets.push(path === resolve(cwd, given) ? path : given);
  }
  return {
    credentialSets,
    ...(account === undefined ? {} : { serviceAccount: account }),
    ...(mapping === undefined ? {} : { relocation: await readRelocation(mapping, cwd) }),
  };
}

async function readRelocation(file: string, cwd: string): Promise<Readonly<Record<string, string>>> {
  let json: unknown;
  try {
    json = JSON.parse(await readFile(resolve(cwd, file), 'utf8'));
  } catch (error) {
    throw new CnabError('invalid', `the relocation mapping ${file} cannot be read: ${messageOf(error)}`, {
      cause: error,
    });
  }
  const isMap = typeof json === 'object' && json !== null && !Array.isArray(json);
  if (!isMap || !Object.values(json as object).every((to) => typeof to === 'string')) {
    throw new CnabError('invalid', `the relocation mapping ${file} must be one JSON object of image references`, {
      suggestions: ['like {"example/app:1.0": "registry.internal/app:1.0"}'],
    });
  }
  return json as Readonly<Record<string, string>>;
}
