import { nearest } from '../bundle/nearest.js';
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
