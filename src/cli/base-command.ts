import { Command } from '@oclif/core/command';
import type { Input, OutputFlags, ParserOutput } from '@oclif/core/interfaces';
import type { Json } from '../bundle/bundle.js';
import type { CnabError } from '../errors.js';
import { openConfigFile, type ConfigFile } from './config-file.js';
import { exitCodeOf, SUCCEEDED, type ExitCode } from './exit-codes.js';
import { FlagSources } from './flag-sources.js';
import type { FlagShape } from './flag-values.js';
import { commonFlags } from './flags.js';
import { document, jsonText, yamlText, type Format, type View } from './format.js';
import { audienceOf, safeStatement, safeText } from './log-guard.js';
import { errorJson, failureOf } from './report.js';
import { homeFolder, processSurroundings, type Surroundings } from './surroundings.js';
import { write } from './write.js';

/** The framework's own bound of flags and arguments, which it does not export. */
type Given = OutputFlags<Record<string, never>>;

/**
 * What every command shares: its surroundings, how it prints a result and how it says something beside it.
 * The result goes to stdout, everything else to stderr. Errors are thrown and rendered in one place (`run.ts`).
 */
export abstract class BaseCommand extends Command {
  static override baseFlags = commonFlags;

  surroundings: Surroundings = processSurroundings();
  /** Absent where there is none, and before the command line is parsed. */
  configFile: ConfigFile | undefined;
  private sources: FlagSources | undefined;
  private wantsDebug = false;

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

  /** As the framework does, with the precedence command line > environment > config file > default. */
  protected override async parse<F extends Given, B extends Given, A extends Given>(
    options: Input<F, B, A>,
    argv?: string[],
  ): Promise<ParserOutput<F, B, A>> {
    this.configFile = await openConfigFile(this.surroundings, this.config.configDir, () => this.everyFlag());
    const sources = (this.sources = new FlagSources(this.surroundings.env, this.configFile));
    const { flags, baseFlags } = options;
    const layered = { flags: sources.layered(flags), baseFlags: sources.layered(baseFlags) };
    const parsed = await super.parse({ ...options, ...layered } as Input<F, B, A>, argv);
    sources.note(parsed.raw);
    this.wantsDebug = (parsed.flags as { debug?: boolean }).debug === true;
    return parsed;
  }

  /** True where only the config file says it: a habit, and nothing that was asked for this time. */
  protected isHabit(flag: string): boolean {
    return this.sources?.of(flag) === 'config file';
  }

  protected formatOf(flags: { readonly output?: string | undefined; readonly json?: boolean | undefined }): Format {
    return this.sources?.format(flags) ?? 'table';
  }

  /** An error as it is to be told: one about a flag's value says where that stands. */
  explained(thrown: unknown): unknown {
    return this.sources?.explain(thrown) ?? thrown;
  }

  /** Of all commands, since one config file serves them all. */
  private everyFlag(): ReadonlyMap<string, FlagShape> {
    return new Map(this.config.commands.flatMap(({ flags }) => Object.entries(flags)));
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

  /** One line beside the result. What is shown decides nothing: a full disk behind `2>` must not change how a run ended. */
  protected async say(line: string): Promise<void> {
    const { stderr, env } = this.surroundings;
    await write(stderr, `${safeStatement(line, audienceOf(env))}\n`).catch(() => {});
  }

  /** What a program says that we have started for the user: a credential's command, a plugin of the kubeconfig. */
  protected async passOn(chunk: Uint8Array): Promise<void> {
    for (const line of Buffer.from(chunk).toString().trimEnd().split('\n')) await this.say(line);
  }

  protected async showError(error: unknown): Promise<void> {
    const { stderr, env } = this.surroundings;
    const { text } = failureOf(this.explained(error), { debug: this.wantsDebug, version: this.config.version });
    await write(stderr, `${safeText(text, audienceOf(env))}\n`).catch(() => {});
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
