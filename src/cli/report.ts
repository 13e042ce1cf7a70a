import type { Json } from '../bundle/bundle.js';
import { CnabError, messageOf } from '../errors.js';
import { exitCodeOf, OUR_BUG, type ExitCode } from './exit-codes.js';
import { withoutAbsent } from './format.js';
import { safeLine } from './log-guard.js';

/** What people and scripts are told about an error. */
export interface Failure {
  readonly error: CnabError | undefined;
  readonly exitCode: ExitCode;
  readonly text: string;
}

const INDENT = '       ';
/** Trouble of the machine that a part may have let through: the user can act on it, so it is no bug of ours. */
const MACHINE_TROUBLE = new Set(['EACCES', 'EPERM', 'ENOSPC', 'EROFS', 'EDQUOT', 'EMFILE', 'ENFILE', 'EIO', 'ENOMEM']);

/**
 * The one place where an error becomes text and an exit code. Its message, and each detail and suggestion, is one line,
 * whatever it says: a newline in foreign words would make a suggestion of ours out of them.
 */
export function failureOf(thrown: unknown, options: { readonly debug: boolean; readonly version: string }): Failure {
  const error = actionable(thrown);
  if (!error) return { error: undefined, exitCode: OUR_BUG, text: bugText(thrown, options.version) };
  const lines = [`error: ${error.message}`, ...error.details, ...error.suggestions];
  const text = lines.map((line) => safeLine(line.trimEnd())).join(`\n${INDENT}`);
  return { error, exitCode: exitCodeOf(error.code), text: options.debug ? `${text}\n${causes(error)}` : text };
}

/** The `error` key of a JSON document. */
export function errorJson(thrown: unknown, exitCode: ExitCode): Json {
  const error = actionable(thrown);
  if (!error) return { code: 'bug', message: messageOf(thrown), exitCode };
  return withoutAbsent({
    code: error.code,
    message: error.message,
    details: error.details.length > 0 ? error.details : undefined,
    suggestions: error.suggestions.length > 0 ? error.suggestions : undefined,
    exitCode,
  });
}

function actionable(thrown: unknown): CnabError | undefined {
  if (thrown instanceof CnabError) return thrown;
  if (!(thrown instanceof Error)) return undefined;
  const { code, syscall, path } = thrown as NodeJS.ErrnoException;
  if (code !== undefined && syscall !== undefined && MACHINE_TROUBLE.has(code)) {
    return new CnabError('unavailable', `the machine refuses: ${thrown.message}`, {
      suggestions: path === undefined ? [] : [`look at the rights and the free space of ${path}`],
      cause: thrown,
    });
  }
  return undefined;
}

function bugText(thrown: unknown, version: string): string {
  const stack = thrown instanceof Error ? stackOf(thrown) : safeLine(String(thrown));
  return [
    `error: this is a bug in cnab, not a mistake of yours: ${safeLine(messageOf(thrown))}`,
    `${INDENT}Please report it with the lines below (cnab ${version}, Node ${process.version}, ${process.platform}).`,
    stack,
  ].join('\n');
}

function causes(error: Error): string {
  const lines: string[] = [];
  for (let at: unknown = error; at instanceof Error; at = at.cause) {
    lines.push(`${lines.length === 0 ? '' : 'caused by: '}${stackOf(at)}`);
  }
  return lines.join('\n');
}

/** The message in one line, and where it was thrown: of the stack's own text only the places, which are indented. */
function stackOf({ name, message, stack = '' }: Error): string {
  const places = stack.split('\n').filter((line) => /^ {4}at /.test(line));
  return [`${name}: ${message}`, ...places].map(safeLine).join('\n');
}
