import { Command } from '@oclif/core/command';
import type { Json } from '../bundle/bundle.js';
import type { CnabError } from '../errors.js';
import { exitCodeOf, SUCCEEDED, type ExitCode } from './exit-codes.js';
import { commonFlags } from './flags.js';
import { document, jsonText, yamlText, type Format, type View } from './format.js';
import { audienceOf, safeText } from './log-guard.js';
import { errorJson, failureOf } from './report.js';
import { homeFolder, processSurroundings, type Surroundings } from './surroundings.js';
import { write } from './write.js';

/**
 * What every command shares: its surroundings, how it prints a result and how it says something beside it.
 * The result goes to stdout, everything else to stderr. Errors are thrown and rendered in one place (`run.ts`).
 */
export abstract class BaseCommand extends Command {
  static override baseFlags = commonFlags;

  surroundings: Surroundings = processSurroundings();

  /** Resolves with the exit code; rejects with CnabError or, where it is our bug, anything else. */
  abstract override run(): Promise<ExitCode>;

  /** Where claims, results and outputs are kept. */
  protected get home(): string {
    return homeFolder(this.surroundings, this.config.dataDir);
  }

  /** What a user types for this command. */
  protected get commandName(): string {
    return (this.id ?? '').replaceAll(':', ' ');
  }

  protected formatOf(flags: { readonly output?: string | undefined; readonly json?: boolean }): Format {
    return flags.json ? 'json' : ((flags.output as Format | undefined) ?? 'table');
  }

  /** Prints one result; the last thing a command does. */
  protected async print(view: View, format: Format): Promise<ExitCode> {
    const { stdout, env } = this.surroundings;
    if (format === 'json') await write(stdout, jsonText(view.toJson()));
    else if (format === 'yaml') await write(stdout, yamlText(view.toJson()));
    else {
      const text = safeText(view.toText(), audienceOf(env));
      if (text !== '') await write(stdout, `${text}\n`);
    }
    return SUCCEEDED;
  }

  /** A line beside the result. */
  protected async say(line: string): Promise<void> {
    const { stderr, env } = this.surroundings;
    await write(stderr, `${safeText(line, audienceOf(env))}\n`);
  }

  protected async showError(error: unknown): Promise<void> {
    await this.say(failureOf(error, { debug: this.argv.includes('--debug'), version: this.config.version }).text);
  }

  /** The exit code of an error that this command threw. */
  exitCodeOfError(error: CnabError): ExitCode {
    return exitCodeOf(error.code);
  }

  /** The one JSON document of a run of this command that failed. */
  failureDocument(thrown: unknown, exitCode: ExitCode): Json {
    return document(this.commandName, { error: errorJson(thrown, exitCode) });
  }
}
