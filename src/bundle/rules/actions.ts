import { BUILT_IN_ACTIONS } from '../bundle.js';
import { nearest } from '../nearest.js';
import { error, quoted, warning, type Finding } from '../problem.js';
import { subjectOf } from '../subject.js';
import type { BundleView } from '../view.js';

const BUILT_IN: ReadonlySet<string> = new Set(BUILT_IN_ACTIONS);

/** Custom actions are not named like built-in ones (spec 101), and what applies to an action names one that exists. */
export function actionsRule(view: BundleView): readonly Finding[] {
  const own = view.actions.flatMap(([name, action]) => {
    if (BUILT_IN.has(name)) {
      return [error(['actions', name], `every bundle has the action ${quoted(name)}: remove it from "actions"`, 'key')];
    }
    if (action.modifies === true && action.stateless === true) {
      return [
        warning(
          ['actions', name],
          `${subjectOf(['actions', name])} is stateless and modifies: it is run as one that modifies and leaves a record`,
        ),
      ];
    }
    return [];
  });
  if (view.isBroken('actions')) return own;
  const known = new Set([...BUILT_IN_ACTIONS, ...view.actionNames]);
  const sections = ['parameters', 'credentials', 'outputs'] as const;
  return [
    ...own,
    ...sections.flatMap((section) =>
      view[section].flatMap(([name, { applyTo }]) => checkScope([section, name], applyTo ?? [], known)),
    ),
  ];
}

function checkScope(
  path: readonly string[],
  applyTo: readonly string[],
  known: ReadonlySet<string>,
): readonly Finding[] {
  return applyTo.flatMap((action, index) => {
    if (known.has(action)) return [];
    const meant = nearest(action, known);
    const advice = meant === undefined ? 'it never takes effect' : `did you mean ${quoted(meant)}?`;
    return [
      warning(
        [...path, 'applyTo', String(index)],
        `${subjectOf(path)} applies to ${quoted(action)}, which is no action of the bundle: ${advice}`,
      ),
    ];
  });
}
