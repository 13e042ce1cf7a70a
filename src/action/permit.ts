import { BUILT_IN_ACTIONS, type Bundle } from '../bundle/bundle.js';
import { own } from '../bundle/own.js';
import { shellWord } from '../bundle/shell-word.js';
import type { Installation } from '../claim/claim.js';
import { isInstalled, isUninstalled } from '../claim/status.js';
import type { Target } from '../claim/target.js';
import { CnabError } from '../errors.js';
import { choiceOf, flagsFor } from './refuse.js';

/** What an action does to its installation (spec 101, "actions"). */
export interface ActionTraits {
  readonly modifies: boolean;
  /** True: it may run where nothing is installed, needs no credential and leaves no record. */
  readonly stateless: boolean;
  readonly warnings: readonly string[];
}

/**
 * Looks the action up in the bundle. Throws CnabError `invalid` when it is neither built in nor declared.
 * The spec does not define an action that modifies and is stateless: it is recorded, as Porter does.
 */
export function traitsOf(bundle: Bundle, action: string): ActionTraits {
  if ((BUILT_IN_ACTIONS as readonly string[]).includes(action)) {
    return { modifies: true, stateless: false, warnings: [] };
  }
  const declared = own(bundle.actions, action);
  if (declared === undefined) {
    const names = Object.keys(bundle.actions ?? {});
    throw new CnabError('invalid', `bundle ${bundle.name} ${bundle.version} has no action "${action}".`, {
      suggestions: [names.length > 0 ? `Its custom actions: ${names.join(', ')}` : 'It declares no custom actions.'],
    });
  }
  const modifies = declared.modifies === true;
  const stateless = declared.stateless === true;
  return {
    modifies,
    stateless: stateless && !modifies,
    warnings:
      modifies && stateless
        ? [`action "${action}" is declared both modifying and stateless: it is run and recorded as a modifying one.`]
        : [],
  };
}

/**
 * Throws CnabError `wrong-state` when the installation's history forbids the action. A failed run leaves the state
 * undefined, so anything may repair it (cnab-spec issue 237).
 */
export function permit(action: string, installation: Installation, target: Target, force: boolean): void {
  const { name } = installation;
  const word = shellWord(name);
  if (action === 'install' && isInstalled(installation) && !force) {
    throw new CnabError('wrong-state', `"${name}" is already installed.`, {
      suggestions: [
        `To change it: cnab upgrade ${word} ${flagsFor(target)}`.trimEnd(),
        'To run install once more: --force',
      ],
    });
  }
  if (action !== 'install' && isUninstalled(installation) && !force) {
    throw new CnabError('wrong-state', `"${name}" is uninstalled, so ${action} cannot be run on it.`, {
      suggestions: [
        `To install it again: cnab install ${word} BUNDLE ${flagsFor(target)}`.trimEnd(),
        `To drop its record: cnab forget ${word} ${choiceOf(target)}`.trimEnd(),
      ],
    });
  }
}
