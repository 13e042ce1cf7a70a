import type { Bundle } from '../bundle/bundle.js';
import { CnabError } from '../errors.js';

/** Extensions of the spec (800s) that this runtime understands. */
const SUPPORTED = new Set(['io.cnab.parameter-sources']);

/**
 * A bundle says in `requiredExtensions` what a runtime must understand (spec 101). Throws CnabError `invalid` for what is
 * not understood, unless the user takes the risk; then each is a warning.
 */
export function checkExtensions(bundle: Bundle, ignore: boolean): readonly string[] {
  const unknown = (bundle.requiredExtensions ?? []).filter((name) => !SUPPORTED.has(name));
  if (unknown.length === 0) return [];
  if (ignore) return unknown.map((name) => `required extension ${name} is not supported and was ignored.`);
  throw new CnabError(
    'invalid',
    `bundle ${bundle.name} ${bundle.version} requires extensions that are not supported: ${unknown.join(', ')}.`,
    { suggestions: ['To run it all the same: --ignore-required-extensions'] },
  );
}
