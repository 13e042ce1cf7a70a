import { choiceOf, describeTarget, flagsFor } from '../../action/refuse.js';
import { nearest } from '../../bundle/nearest.js';
import type { ClaimStore, TargetClaims } from '../../claim/claim-store.js';
import type { Installation } from '../../claim/claim.js';
import type { Target } from '../../claim/target.js';
import { CnabError } from '../../errors.js';

/** Which targets the user speaks of; what is absent says nothing. */
export interface TargetChoice {
  readonly driver?: string | undefined;
  readonly context?: string | undefined;
  readonly namespace?: string | undefined;
}

export interface FoundInstallation {
  readonly target: Target;
  readonly claims: TargetClaims;
  readonly installation: Installation;
}

/** How an installation is looked for. */
export interface Search {
  readonly choice: TargetChoice;
  /** The target that an action would work on now; asked only where the name is on several. */
  readonly current: () => Promise<Target | undefined>;
  /** What the user typed without its flags, for suggestions to paste. */
  readonly command: string;
  /** The command goes on to the cluster. */
  readonly asksCluster?: boolean;
}

/**
 * The one installation of that name, wherever it is, for commands that only read the store; of several the current
 * target's. Rejects with CnabError: `not-found` where there is none (it says where the name is installed instead),
 * `invalid` where several remain (it lists them with the flags that choose).
 */
export async function findInstallation(store: ClaimStore, name: string, search: Search): Promise<FoundInstallation> {
  const { choice, current, command } = search;
  const flags = search.asksCluster === true ? flagsFor : choiceOf;
  const all = await store.targetsOf(name);
  let chosen = all.filter((target) => matches(target, choice));
  if (chosen.length > 1) {
    const here = await current();
    const there = chosen.filter(({ id }) => id === here?.id);
    if (there.length > 0) chosen = there;
  }
  if (chosen.length > 1) {
    throw new CnabError('invalid', `"${name}" is installed on ${chosen.length} targets: say which one you mean`, {
      suggestions: chosen.map((target) => `cnab ${command} ${flags(target)}   (${describeTarget(target)})`),
    });
  }
  const target = chosen[0];
  const claims = target && store.on(target);
  const installation = await claims?.read(name);
  if (!target || !claims || !installation) throw await notRecorded(store, name, all);
  return { target, claims, installation };
}

/** True when a target is one that the flags speak of. */
export function matches(target: Target, choice: TargetChoice): boolean {
  const fits = (wanted: string | undefined, actual: string | undefined): boolean =>
    wanted === undefined || wanted === actual;
  return (
    fits(choice.driver, target.driver) &&
    fits(choice.context, target.context) &&
    fits(choice.namespace, target.namespace)
  );
}

async function notRecorded(store: ClaimStore, name: string, elsewhere: readonly Target[]): Promise<CnabError> {
  if (elsewhere.length > 0) {
    return new CnabError('not-found', `no installation "${name}" is recorded on the target that the flags name`, {
      suggestions: elsewhere.map((target) => `it is installed on ${describeTarget(target)}: use ${choiceOf(target)}`),
    });
  }
  const lists = await Promise.all((await store.targets()).map((target) => store.on(target).list()));
  const names = lists.flatMap(({ installations }) => installations.map((installation) => installation.name));
  const near = nearest(name, names);
  return new CnabError('not-found', `no installation "${name}" is recorded`, {
    suggestions: [near === undefined ? 'to see what is: cnab list --all' : `did you mean "${near}"?`],
  });
}
