import { error, quoted, type Finding } from '../problem.js';
import type { BundleView } from '../view.js';

/** What a bundle requires it must also carry, once each (spec 101; cnab-go refuses everything else). */
export function extensionsRule(view: BundleView): readonly Finding[] {
  const seen = new Set<string>();
  return view.requiredExtensions.flatMap(([position, name]) => {
    const path = ['requiredExtensions', position];
    if (seen.has(name)) return [error(path, `the extension ${quoted(name)} is required twice: list it once`)];
    seen.add(name);
    if (view.custom.has(name) || view.isBroken('custom')) return [];
    return [error(path, `the extension ${quoted(name)} is required but not there: add it under "custom"`)];
  });
}
