import { shellWord } from '../bundle/shell-word.js';
import { CnabError } from '../errors.js';

/** One `--credential`: the name and where its value comes from. */
export interface SingleCredential {
  readonly name: string;
  readonly source: { readonly kind: 'env' | 'path' | 'command'; readonly text: string } | { readonly kind: 'stdin' };
}

const FORMS = 'k=env:VAR, k=path:FILE, k=command:CMD, or k=- for standard input';

/**
 * Parses `k=env:VAR`, `k=path:FILE`, `k=command:CMD` and `k=-`. Throws CnabError `invalid` with all problems.
 * What may be a secret is not repeated: arguments are seen by every user of the machine, a message by even more.
 */
export function parseSingles(given: readonly string[]): readonly SingleCredential[] {
  const problems: string[] = [];
  const singles: SingleCredential[] = [];
  for (const [at, text] of given.entries()) {
    const parsed = parseSingle(text);
    if (typeof parsed !== 'string') singles.push(parsed);
    else problems.push(given.length === 1 ? parsed : `--credential number ${at + 1}: ${parsed}`);
  }
  const fromStdin = new Set(singles.filter(({ source }) => source.kind === 'stdin').map(({ name }) => name));
  if (fromStdin.size > 1) problems.push(`standard input is one credential only, not ${[...fromStdin].join(' and ')}`);
  if (problems.length > 0) {
    throw new CnabError('invalid', 'a credential is not given in a form that can be used:', {
      details: problems,
      suggestions: [`write --credential ${FORMS}`],
    });
  }
  return singles;
}

function parseSingle(text: string): SingleCredential | string {
  const equals = text.indexOf('=');
  if (equals < 0) return 'it has no "="';
  const name = text.slice(0, equals);
  const source = text.slice(equals + 1);
  if (name === '') return 'it has no name before the "="';
  if (source === '-') return { name, source: { kind: 'stdin' } };
  const match = /^(env|path|command):(.*)$/su.exec(source);
  if (match === null) {
    return (
      `a value is not taken from the command line, where other users and the shell's history see it: ` +
      `set a variable and write ${shellWord(`${name}=env:VAR`)}`
    );
  }
  const [, kind, rest = ''] = match;
  if (rest.trim() === '') return `"${name}" has nothing after "${kind}:"`;
  return { name, source: { kind: kind as 'env' | 'path' | 'command', text: rest } };
}
