import { CnabError } from '../errors.js';

/** What the framework's parser throws; matched by shape, because its errors carry argv and configuration along. */
interface ParseError extends Error {
  readonly parse?: unknown;
  readonly oclif?: { readonly exit?: number };
  readonly args?: readonly { readonly name?: string }[] | readonly string[];
  readonly flags?: readonly string[];
}

/**
 * One clear sentence for a mistake on the command line. Values never appear: they may be secrets.
 * Undefined when the error is not of the framework.
 */
export function usageError(thrown: unknown, command: string, flagNames: readonly string[]): CnabError | undefined {
  if (!(thrown instanceof Error) || thrown instanceof CnabError) return undefined;
  const error = thrown as ParseError;
  if (error.oclif === undefined && error.parse === undefined) return undefined;
  const help = `see: cnab ${command} --help`;
  const kind = error.constructor.name;
  if (kind === 'RequiredArgsError') {
    const names = ((error.args ?? []) as { name?: string }[]).map((arg) => (arg.name ?? '').toUpperCase());
    return new CnabError('invalid', `${command} needs ${names.join(' and ')}`, { suggestions: [help] });
  }
  if (kind === 'UnexpectedArgsError') {
    const count = (error.args ?? []).length;
    return new CnabError('invalid', `${command} takes fewer arguments: ${count} too many`, { suggestions: [help] });
  }
  if (kind === 'NonExistentFlagsError') {
    const given = (error.flags ?? []).map((flag) => flag.replace(/=.*$/s, ''));
    const near = given.flatMap((flag) => nearest(flag.replace(/^--?/, ''), flagNames) ?? []);
    const message = `${command} has no flag ${given.join(', ')}`;
    return new CnabError('invalid', message, {
      suggestions: near.length > 0 ? [`did you mean ${near.map((name) => `--${name}`).join(', ')}?`] : [help],
    });
  }
  return new CnabError('invalid', firstSentence(error.message), { suggestions: [help] });
}

/** The framework adds a second line of its own; a value after `=` is dropped, it may be a secret. */
function firstSentence(message: string): string {
  const line = message.replaceAll(/\u001b\[[\d;]*m/g, '').split('\nSee more help')[0] ?? '';
  return line.replace(/^The following errors? occurred:\s*/, '').replace(/\s*\n\s*/g, '; ');
}

/** The known name that is nearest to a mistyped one, if any is near (at most a third of its letters differ). */
export function nearest(given: string, known: readonly string[]): string | undefined {
  const ranked = known
    .map((name) => ({ name, distance: name.startsWith(given) && given.length > 2 ? 1 : distance(given, name) }))
    .sort((a, b) => a.distance - b.distance || (a.name < b.name ? -1 : 1));
  const best = ranked[0];
  return best && best.distance <= Math.max(1, Math.floor(best.name.length / 3)) ? best.name : undefined;
}

/** Edits between two texts: insert, drop, replace or swap two neighbours. */
function distance(a: string, b: string): number {
  let before: number[] = [];
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1];
      let cost = Math.min((row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, (row[j - 1] ?? 0) + (same ? 0 : 1));
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        cost = Math.min(cost, (before[j - 2] ?? 0) + 1);
      next.push(cost);
    }
    before = row;
    row = next;
  }
  return row[b.length] ?? 0;
}
