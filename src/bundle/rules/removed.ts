import { own } from '../own.js';
import { warning, type Finding } from '../problem.js';
import { subjectOf } from '../subject.js';
import type { BundleView } from '../view.js';

/** Fields that the spec once had and that are ignored now, although an author may count on them. */
export function removedFieldsRule(view: BundleView): readonly Finding[] {
  return view.parameters.flatMap(([name, parameter]) => {
    if (own(parameter as unknown as Record<string, unknown>, 'immutable') === undefined) return [];
    const path = ['parameters', name];
    const advice = 'write "readOnly": true in its definition';
    return [
      warning(
        [...path, 'immutable'],
        `${subjectOf(path)} is marked as immutable, which CNAB no longer has: ${advice}`,
        'key',
      ),
    ];
  });
}
