import { shellWord } from '../bundle/shell-word.js';
import { CnabError, type CnabErrorOptions } from '../errors.js';
import type { ClaimStore } from '../claim/claim-store.js';
import type { Target } from '../claim/target.js';

/** The flags that lead a command to a target, for a suggestion to paste. */
export function flagsFor(target: Target): string {
  const { kubeconfig } = target;
  const choice = choiceOf(target);
  return kubeconfig === undefined ? choice : `--kubeconfig ${shellWord(kubeconfig)} ${choice}`.trimEnd();
}

/** The flags that choose a target among those that are recorded, for a command that asks no cluster. */
export function choiceOf({ driver, context, namespace }: Target): string {
  if (driver !== 'kubernetes') return `--driver ${shellWord(driver)}`;
  const flags = [
    ...(context === undefined ? [] : [`--context ${shellWord(context)}`]),
    ...(namespace === undefined ? [] : [`--namespace ${shellWord(namespace)}`]),
  ];
  return flags.join(' ');
}

/** A target as a clause: `prod (https://10.0.0.1:6443), namespace payments`, `the sandbox`. */
export function describeTarget(target: Target): string {
  if (target.driver !== 'kubernetes') return target.label === target.driver ? `the ${target.driver}` : target.label;
  const cluster = target.context ?? target.server ?? target.label;
  const server = target.server !== undefined && target.server !== cluster ? ` (${target.server})` : '';
  return `${cluster}${server}, namespace ${target.namespace ?? 'default'}`;
}

/** Nothing of that name is recorded on the target: other things that are not found, a credential set, are no `NotInstalled`. */
export class NotInstalled extends CnabError {
  constructor(message: string, options: CnabErrorOptions) {
    super('not-found', message, options);
  }
}

/**
 * The error for a name that has no record on the target: it neither follows the name to where it is installed
 * nor stays silent about that. A remembered server and namespace with another UID behind it is another cluster.
 */
export async function notInstalled(name: string, target: Target, store: ClaimStore): Promise<CnabError> {
  const elsewhere = (await store.targetsOf(name)).filter((other) => other.id !== target.id);
  const replaced = elsewhere.find((other) => isReplaced(other, target));
  if (replaced) {
    return new CnabError(
      'wrong-state',
      `${describeTarget(target)} is not the cluster that "${name}" was installed on: ` +
        `the namespace behind the same address has another UID.`,
      {
        suggestions: [
          `To drop the old record: cnab forget ${shellWord(name)}`,
          `To install it on this cluster: cnab install ${shellWord(name)} BUNDLE ${flagsFor(target)}`.trimEnd(),
        ],
      },
    );
  }
  return new NotInstalled(`no installation "${name}" on ${describeTarget(target)}.`, {
    suggestions: [
      ...elsewhere.map((other) => `It is installed on ${describeTarget(other)}: add ${flagsFor(other)}`),
      `${elsewhere.length > 0 ? 'Or install it here' : 'Install it'}: cnab install ${shellWord(name)} BUNDLE ${flagsFor(target)}`.trimEnd(),
    ],
  });
}

function isReplaced(remembered: Target, now: Target): boolean {
  return (
    remembered.driver === now.driver &&
    now.server !== undefined &&
    remembered.server === now.server &&
    remembered.namespace === now.namespace &&
    remembered.uid !== undefined &&
    now.uid !== undefined &&
    remembered.uid !== now.uid
  );
}
