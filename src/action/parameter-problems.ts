import type { Bundle } from '../bundle/bundle.js';
import { nearest } from '../bundle/nearest.js';
import { shellWord } from '../bundle/shell-word.js';
import { CnabError } from '../errors.js';

const MOST_NAMES = 10;

/** The end of a sentence about a name that the bundle does not have. */
export function advice(bundle: Bundle, name: string): string {
  const names = Object.keys(bundle.parameters ?? {});
  const meant = nearest(name, names);
  if (meant !== undefined) return `: did you mean "${meant}"?`;
  if (names.length === 0) return '.';
  const more = names.length > MOST_NAMES ? ` and ${names.length - MOST_NAMES} more` : '';
  return `; it has ${names.slice(0, MOST_NAMES).join(', ')}${more}.`;
}

export function missing(name: string, description: string | undefined): string {
  return `parameter "${name}" is required and has no value${description === undefined ? '.' : `: ${description}`}`;
}

/** `lacking`: names of what is required and has no value. */
export function notFitting(problems: readonly string[], lacking: readonly string[]): CnabError {
  const flags = lacking.map((name) => `-p ${shellWord(`${name}=VALUE`)}`);
  return new CnabError('invalid', 'the parameters do not fit the bundle:', {
    details: problems,
    suggestions: flags.length > 0 ? [`Add: ${flags.join(' ')}`] : [],
  });
}
