import type { Bundle } from '../bundle/bundle.js';
import { nearest } from '../bundle/nearest.js';
import { CnabError } from '../errors.js';

/** Throws CnabError `invalid` that lists the names that are no outputs of the bundle, each with a near one. */
export function checkNamedOutputs(names: readonly string[], { name: bundle, outputs }: Bundle): void {
  const known = Object.keys(outputs ?? {});
  const unknown = [...new Set(names)].filter((name) => !known.includes(name));
  if (unknown.length === 0) return;
  throw new CnabError('invalid', `bundle "${bundle}" has no output ${unknown.map((name) => `"${name}"`).join(', ')}`, {
    suggestions: [
      ...unknown.flatMap((name) => {
        const near = nearest(name, known);
        return near === undefined ? [] : [`did you mean "${near}"?`];
      }),
      known.length === 0 ? 'it declares no outputs' : `its outputs: ${known.join(', ')}`,
    ],
  });
}
