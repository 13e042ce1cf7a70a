import { nearest } from '../nearest.js';
import { error, quoted, type Finding } from '../problem.js';
import { subjectOf } from '../subject.js';
import type { BundleView } from '../view.js';

/** A parameter's and an output's `definition` must name an entry of `definitions` (spec 101). */
export function referencesRule(view: BundleView): readonly Finding[] {
  if (view.isBroken('definitions')) return [];
  const check = (section: string, name: string, definition: string): readonly Finding[] => {
    if (view.definitionNames.has(definition)) return [];
    const meant = nearest(definition, view.definitionNames);
    const advice = meant === undefined ? 'add it under "definitions"' : `did you mean ${quoted(meant)}?`;
    return [
      error(
        [section, name, 'definition'],
        `${subjectOf([section, name])} uses the definition ${quoted(definition)}, which is not there: ${advice}`,
      ),
    ];
  };
  return [
    ...view.parameters.flatMap(([name, { definition }]) => check('parameters', name, definition)),
    ...view.outputs.flatMap(([name, { definition }]) => check('outputs', name, definition)),
  ];
}
