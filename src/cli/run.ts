import type { Command } from '@oclif/core/command';
import { Config } from '@oclif/core/config';
import { settings } from '@oclif/core/settings';
import type { Json } from '../bundle/bundle.js';
import { nearest } from '../bundle/nearest.js';
import { CnabError } from '../errors.js';
import type { BaseCommand } from './base-command.js';
import { OUR_BUG, SUCCEEDED, type ExitCode } from './exit-codes.js';
import type { ConfigFile } from './config-file.js';
import { letGoOfDeadTerminals } from './dead-terminal.js';
import { asBoolean } from './flag-values.js';
import { chooseFormat, document, jsonText, yamlText, type Format } from './format.js';
import { audienceOf, safeText } from './log-guard.js';
import { errorJson, failureOf } from './report.js';
import { processSurroundings, type Surroundings } from './surroundings.js';
import { usageError } from './usage.js';
import { tolerateLostReader, write } from './write.js';

type PackageJson = NonNullable<Exclude<Parameters<typeof Config.load>[0], string | undefined>['pjson']>;
type CommandClass = (new (argv: string[], config: Config) => BaseCommand) & Pick<Command.Class, 'flags' | 'baseFlags'>;

/** How long something that was left open may keep the process alive after its answer. */
const PATIENCE_MS = 5000;

/**
 * The whole command, up to its exit code. Whatever escapes it (an event nobody listens to) is our bug and exit 70.
 * `root` is the folder of package.json, `pjson` what it holds.
 */
export async function runCli(argv: readonly string[], root: string, pjson: PackageJson): Promise<ExitCode> {
  process.once('uncaughtException', (error) => {
    const { text } = failureOf(error, { debug: true, version: pjson.version });
    process.stderr.write(`${safeText(text, audienceOf(process.env))}\n`);
    process.exit(OUR_BUG);
  });
  process.once('exit', () => letGoOfDeadTerminals([process.stdin, process.stdout, process.stderr]));
  const exitCode = await runCommand(argv, root, pjson);
  setTimeout(() => process.exit(exitCode), PATIENCE_MS).unref();
  return exitCode;
}

/** Finds the command and runs it. Resolves with the exit code and never rejects: the one place where errors are shown. */
async function runCommand(argv: readonly string[], root: string, pjson: PackageJson): Promise<ExitCode> {
  const surroundings = processSurroundings();
  tolerateLostReader(surroundings.stdout);
  tolerateLostReader(surroundings.stderr);
  // Without this, NODE_ENV=test or development makes the framework look for TypeScript.
  settings.enableAutoTranspile = false;
  let command: BaseCommand | undefined;
  let version = '';
  let name = '';
  let answersInBytes = false;
  try {
    const config = await Config.load({ root, pjson });
    version = config.version;
    const { id, rest } = splitId(argv, config);
    if (wantsHelp(argv)) return await showHelp(config, argv);
    if (argv[0] === '--version' || argv[0] === '-V')
      return await runCommand(['version', ...argv.slice(1)], root, pjson);
    const found = config.findCommand(id);
    if (!found && config.findTopic(id) && rest.every((arg) => arg.startsWith('-'))) return await showHelp(config, [id]);
    if (!found) throw unknownCommand(argv, config);
    name = id.replaceAll(':', ' ');
    const commandClass = (await found.load()) as unknown as CommandClass;
    answersInBytes = !('json' in { ...commandClass.baseFlags, ...commandClass.flags });
    command = new commandClass(rest, config);
    return await run(command, name, commandClass);
  } catch (thrown) {
    return await report(thrown, { argv, name, version, command, answersInBytes, surroundings });
  }
}

async function run(command: BaseCommand, name: string, commandClass: CommandClass): Promise<ExitCode> {
  try {
    return await command.run();
  } catch (thrown) {
    const flagNames = Object.keys({ ...commandClass.baseFlags, ...commandClass.flags });
    throw usageError(thrown, name, flagNames) ?? command.explained(thrown);
  }
}

interface ReportContext {
  readonly argv: readonly string[];
  readonly name: string;
  readonly version: string;
  readonly command: BaseCommand | undefined;
  /** What is on stdout is somebody's file: a document is written there only where the command line itself asks for one. */
  readonly answersInBytes: boolean;
  readonly surroundings: Surroundings;
}

/** Shows an error on stderr and, where a document is wanted, as the one document on stdout. */
async function report(thrown: unknown, context: ReportContext): Promise<ExitCode> {
  const { stdout, stderr, env } = context.surroundings;
  const own = context.argv.slice(0, indexOrEnd(context.argv, '--'));
  const configured = context.command?.configFile?.values;
  const debug = own.includes('--debug') || (asBoolean(env['CNAB_DEBUG']) ?? configured?.get('debug') === true);
  const failure = failureOf(thrown, { debug, version: context.version });
  const exitCode = (failure.error && context.command?.exitCodeOfError(failure.error)) ?? failure.exitCode;
  // Each on its own: where one stream takes nothing, the other still can, and the exit code says it in any case.
  const format = context.answersInBytes ? wantedFormat(own, {}) : wantedFormat(own, env, configured);
  if (format !== 'table') {
    const fallback: Json = document(context.name, { error: errorJson(thrown, exitCode) });
    const body = context.command?.failureDocument(thrown, exitCode) ?? fallback;
    await write(stdout, format === 'json' ? jsonText(body) : yamlText(body)).catch(() => {});
  }
  await write(stderr, `${safeText(failure.text, audienceOf(env))}\n`).catch(() => {});
  return exitCode;
}

/** The format that is asked for, also when the command line could not be parsed. */
function wantedFormat(argv: readonly string[], env: Surroundings['env'], configured?: ConfigFile['values']): Format {
  let output: string | undefined;
  argv.forEach((arg, index) => {
    const match = /^(?:--output(?:=(.*))?|-o=?(.*))$/s.exec(arg);
    if (match) output ??= (match[1] ?? match[2] ?? '') || argv[index + 1];
  });
  const said = argv.filter((arg) => arg === '--json' || arg === '--no-json').at(-1);
  return chooseFormat([
    { json: said === undefined ? undefined : said === '--json', output },
    { json: asBoolean(env['CNAB_JSON']), output: env['CNAB_OUTPUT'] },
    { json: configured?.get('json') === true, output: configured?.get('output')?.toString() },
  ]);
}

/** A command's id are its first two words or its first one; the framework's own search takes a stray argument for a part of it. */
function splitId(argv: readonly string[], config: Config): { readonly id: string; readonly rest: string[] } {
  const two = argv.slice(0, 2).join(':');
  if (argv.length > 1 && config.findCommand(two)) return { id: two, rest: argv.slice(2) };
  return { id: argv[0] ?? '', rest: argv.slice(1) };
}

function wantsHelp(argv: readonly string[]): boolean {
  const own = argv.slice(0, indexOrEnd(argv, '--'));
  return argv.length === 0 || argv[0] === 'help' || own.includes('--help') || own.includes('-h');
}

async function showHelp(config: Config, argv: readonly string[]): Promise<ExitCode> {
  const subject = argv[0] === 'help' ? argv.slice(1) : argv;
  const words = subject.filter((arg) => !arg.startsWith('-'));
  const { id } = splitId(words, config);
  if (words.length > 0 && !config.findCommand(id) && !config.findTopic(id)) throw unknownCommand(words, config);
  const { CnabHelp } = await import('./help.js');
  await new CnabHelp(config).showHelp(words.length > 0 ? [id] : []);
  return SUCCEEDED;
}

function unknownCommand(argv: readonly string[], config: Config): CnabError {
  const known = config.commandIDs.map((id) => id.replaceAll(':', ' '));
  const words = argv.filter((arg) => !arg.startsWith('-'));
  const [first = ''] = argv;
  if (first.startsWith('-')) {
    return new CnabError('invalid', `${first.replace(/=.*$/s, '')} stands before the command`, {
      suggestions: ['flags come after it, as in: cnab list --json'],
    });
  }
  const inTopic = config.findTopic(words[0] ?? '') !== undefined;
  const near = nearest(words.slice(0, 2).join(' '), known) ?? nearest(words[0] ?? '', known);
  const given = JSON.stringify(inTopic ? words.slice(0, 2).join(' ') : (words[0] ?? first));
  return new CnabError('invalid', `there is no command ${given}`, {
    suggestions: [near === undefined ? 'see: cnab --help' : `did you mean: cnab ${near}`],
  });
}

function indexOrEnd(argv: readonly string[], what: string): number {
  const index = argv.indexOf(what);
  return index === -1 ? argv.length : index;
}
