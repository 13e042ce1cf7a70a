import { CnabError } from '../../errors.js';
import type { EnvironmentVariable } from '../driver.js';

/** Linux's MAX_ARG_STRLEN (32 pages) less the final NUL: `name=value` may have this many bytes. */
const MAX_VARIABLE_BYTES = 131_071;
/** A quarter of the usual 8 MiB stack limit is for arguments and environment (execve(2)); some is left for the image's own. */
const MAX_ENVIRONMENT_BYTES = 1_900_000;

const SHELL_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

/**
 * What the invocation's environment cannot carry, one sentence each. Seen on a kubelet: a value that is not UTF-8
 * arrives corrupted without a word, and one over the kernel's limit is a StartError. Never shows a value.
 */
export function environmentProblems(variables: readonly EnvironmentVariable[]): string[] {
  const problems: string[] = [];
  const names = new Set<string>();
  let total = 0;
  for (const { name, value, source } of variables) {
    const say = (what: string): void =>
      void problems.push(`${source}: environment variable ${JSON.stringify(name)} ${what}`);
    const bytes = Buffer.byteLength(name) + 1 + value.byteLength;
    total += bytes + 1;
    if (name === '') say('has no name');
    else if (name.includes('=')) say('has a "=" in its name');
    else if (!/^[\x20-\x7e]+$/.test(name)) say('has control or non-ASCII characters in its name');
    if (names.has(name)) say('is set twice');
    names.add(name);
    if (value.includes(0)) say('would hold a NUL byte, which no environment can carry: give the bundle a path for it');
    else if (!isUtf8(value))
      say('would hold bytes that are not UTF-8, which Kubernetes would corrupt: give the bundle a path for it');
    if (bytes > MAX_VARIABLE_BYTES) {
      say(
        `would have ${bytes} bytes with its name, and Linux takes ${MAX_VARIABLE_BYTES}: give the bundle a path for it`,
      );
    }
  }
  if (total > MAX_ENVIRONMENT_BYTES) {
    problems.push(
      `the environment would have ${total} bytes, and ${MAX_ENVIRONMENT_BYTES} are sure to fit: give the bundle paths instead`,
    );
  }
  return problems;
}

/** Names that reach the run tool, but not a shell script's variables (`my.var`): dash and busybox drop them. */
export function environmentWarnings(variables: readonly EnvironmentVariable[]): string[] {
  return variables
    .filter(({ name }) => !SHELL_NAME.test(name))
    .map(
      ({ name, source }) =>
        `${source}: a shell drops the environment variable ${JSON.stringify(name)}, because it is no shell name`,
    );
}

function isUtf8(bytes: Uint8Array): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    return true;
  } catch {
    return false;
  }
}

/**
 * Text for `command` and `value`, where Kubernetes expands `$(NAME)` and makes one dollar of two.
 * The expansion reads dollars in pairs from the left, so a run of them is doubled where it is longer than one or ends at a parenthesis.
 */
export function withoutExpansion(text: string): string {
  return text.replace(/\$+(?=\()|\$\$+/g, (dollars) => dollars + dollars);
}

/** One refusal for all problems together, so that they are mended in one go. */
export function refuse(what: string, problems: readonly string[], suggestions: readonly string[] = []): void {
  if (problems.length === 0) return;
  const [only] = problems;
  if (problems.length === 1 && only !== undefined) throw new CnabError('invalid', `${what}: ${only}`, { suggestions });
  throw new CnabError('invalid', `${what}, for ${problems.length} reasons`, { details: problems, suggestions });
}
