import type { ParserOutput } from '@oclif/core/interfaces';
import { CnabError } from '../errors.js';
import type { ConfigFile } from './config-file.js';
import { environmentValue, SOURCES, variableOf, type FlagShape, type FlagValue, type Source } from './flag-values.js';
import { chooseFormat, type Format } from './format.js';
import type { Surroundings } from './surroundings.js';

/** Where each flag of a command got its value: command line > environment > config file > default. */
export class FlagSources {
  private readonly found = new Map<string, Source>();

  constructor(
    private readonly env: Surroundings['env'],
    private readonly config: ConfigFile | undefined,
  ) {}

  /** The flags as the parser is to see them: what the command line leaves out it asks here, and only then. */
  layered<T extends object>(flags: T | undefined): T | undefined {
    if (flags === undefined) return undefined;
    const layer = ([name, flag]: [string, FlagShape]) => [
      name,
      // With a no: a flag must be able to beat an environment or a config file that says yes.
      {
        ...flag,
        env: undefined,
        default: () => Promise.resolve(this.elsewhere(name, flag)),
        ...(flag.type === 'boolean' ? { allowNo: true } : {}),
      },
    ];
    return Object.fromEntries(Object.entries(flags as Record<string, FlagShape>).map(layer)) as T;
  }

  /**
   * Notes what stood on the command line. Throws CnabError `invalid` for an empty value: that is a variable of a script
   * that is not set (`-n "$NAMESPACE"`), and must not mean the default.
   */
  note(raw: ParserOutput['raw']): void {
    for (const token of raw) {
      if (token.type !== 'flag') continue;
      if (token.input !== '') this.found.set(token.flag, 'command line');
      else throw new CnabError('invalid', `--${token.flag} is empty: give it a value or leave it out`);
    }
  }

  of(name: string): Source | undefined {
    return this.found.get(name);
  }

  format(flags: { readonly output?: string | undefined; readonly json?: boolean | undefined }): Format {
    return chooseFormat(
      SOURCES.map((source) => ({
        json: this.of('json') === source ? flags.json : undefined,
        output: this.of('output') === source ? flags.output : undefined,
      })),
    );
  }

  /** Says of a flag in an error where its value stands, since it is not on the command line. */
  explain(error: unknown): unknown {
    if (!(error instanceof CnabError) || error.code !== 'invalid') return error;
    const named = [...this.found].filter(
      ([name, source]) => source !== 'command line' && new RegExp(`--${name}(?![\\w-])`).test(error.message),
    );
    if (named.length === 0) return error;
    const places = named.map(
      ([name, source]) => `--${name} is set by ${source === 'environment' ? variableOf(name) : this.config?.file}`,
    );
    const { code, message, details, suggestions, cause } = error;
    return new CnabError(code, message, { details, suggestions: [...suggestions, ...places], cause });
  }

  private elsewhere(name: string, flag: FlagShape): FlagValue | undefined {
    const fromEnvironment = environmentValue(name, flag, this.env);
    const value = fromEnvironment ?? this.config?.values.get(name);
    if (value !== undefined) this.found.set(name, fromEnvironment === undefined ? 'config file' : 'environment');
    return value;
  }
}
