import type { Bundle, Json } from '../bundle/bundle.js';
import { member } from '../bundle/own.js';
import { CnabError } from '../errors.js';

const PARAMETER_SOURCES = 'io.cnab.parameter-sources';

/** Extensions of the spec (800s) that this runtime understands. */
const SUPPORTED = new Set([PARAMETER_SOURCES]);

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

/**
 * Outputs that may give the parameter its value, in the order of `priority` (extension io.cnab.parameter-sources, spec
 * 810). No schema has looked at it: what is not of its form names none.
 */
export function sourceOutputsOf(bundle: Bundle, parameter: string): readonly string[] {
  const entry = member(member(bundle.custom, PARAMETER_SOURCES), parameter);
  const priority = member(entry, 'priority');
  const name = member(member(member(entry, 'sources'), 'output'), 'name');
  if (!Array.isArray(priority) || typeof name !== 'string') return [];
  return (priority as readonly Json[]).includes('output') ? [name] : [];
}
