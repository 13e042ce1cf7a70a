import { CnabError } from '../errors.js';

/** A flag's value as the parser gives it. */
export type FlagValue = string | boolean | readonly string[];

/** Where a flag's value came from, the strongest first. */
export const SOURCES = ['command line', 'environment', 'config file'] as const;
export type Source = (typeof SOURCES)[number];

/** What is to be known of a flag to take its value from somewhere else than the command line. */
export interface FlagShape {
  readonly type: 'boolean' | 'option';
  /** May be given several times. */
  readonly multiple?: boolean;
  /** The only values there are. */
  readonly options?: readonly string[];
}

type Environment = Readonly<Record<string, string | undefined>>;

/** Every flag has an environment variable. */
export function variableOf(flag: string): string {
  return `CNAB_${flag.toUpperCase().replaceAll('-', '_')}`;
}

/**
 * A flag's value in its environment variable; of one that may be given several times, each line is a value. Undefined
 * where the variable is not set or empty. Throws CnabError `invalid`, which never shows a value that may be a secret.
 */
export function environmentValue(name: string, flag: FlagShape, env: Environment): FlagValue | undefined {
  const variable = variableOf(name);
  const text = env[variable];
  if (text === undefined || text === '') return undefined;
  if (flag.type === 'boolean') {
    const value = asBoolean(text);
    if (value !== undefined) return value;
    throw new CnabError('invalid', `${variable} is neither yes nor no: set it to true or false`);
  }
  if (flag.multiple) return text.split('\n').filter((line) => line !== '');
  if (flag.options && !flag.options.includes(text)) {
    throw new CnabError('invalid', `${variable} is ${JSON.stringify(text)}: it is one of ${flag.options.join(', ')}`);
  }
  return text;
}

/** What a word in an environment variable means; undefined for one that is neither. */
export function asBoolean(text: string | undefined): boolean | undefined {
  if (/^(?:1|true|yes|y|on)$/i.test(text ?? '')) return true;
  if (/^(?:0|false|no|n|off)$/i.test(text ?? '')) return false;
  return undefined;
}
