import { CnabError } from '../errors.js';
import { quoted } from './problem.js';

/** Graphic characters: letters, marks, numbers, punctuation, symbols and spaces, no tab or line break (spec 101 and 103). */
const GRAPHIC = /^[\p{L}\p{M}\p{N}\p{P}\p{S}\p{Zs}]+$/u;
const NOT_GRAPHIC = /[^\p{L}\p{M}\p{N}\p{P}\p{S}\p{Zs}]/u;

/** UTF-16 code units. The spec has no limit; a name ends up in environment variables, labels and file names. */
const LONGEST_NAME = 255;

/**
 * What is wrong with the name of a bundle or an installation, as the end of a sentence (`is empty: …`); undefined when
 * nothing is. Dots, slashes, spaces and any script are legal: whoever stores a name encodes it.
 */
export function nameProblem(name: string): string | undefined {
  if (name === '') return 'is empty: give it at least one character';
  if (name.length > LONGEST_NAME) return `has ${name.length} characters: shorten it to at most ${LONGEST_NAME}`;
  if (GRAPHIC.test(name)) return undefined;
  const code = NOT_GRAPHIC.exec(name)?.[0].codePointAt(0) ?? 0;
  const character = `U+${code.toString(16).toUpperCase().padStart(4, '0')}`;
  return `holds ${character}, which is no visible character or space: only letters, numbers, punctuation, symbols and spaces are allowed`;
}

/** @throws CnabError `invalid` when the text cannot name an installation. */
export function checkInstallationName(name: string): void {
  const problem = nameProblem(name);
  if (problem !== undefined) throw new CnabError('invalid', `the installation name ${quoted(name)} ${problem}.`);
}
