import { createInterface } from 'node:readline/promises';
import { describeTarget } from '../../action/refuse.js';
import type { Target } from '../../claim/target.js';
import type { StopReason } from '../../driver/driver.js';
import { CnabError } from '../../errors.js';
import type { ConfigFile } from '../config-file.js';
import { safeLine } from '../log-guard.js';
import { isInteractive, type Surroundings } from '../surroundings.js';

export interface Confirmation {
  readonly action: string;
  readonly installation: string;
  readonly target: Target;
  readonly config: ConfigFile;
  readonly surroundings: Surroundings;
  /** Ends the question; its reason is a `StopReason`. */
  readonly signal: AbortSignal;
}

/**
 * Lets a run against a context that the config file protects pass only when a person has typed the installation's name.
 * Rejects with CnabError: `invalid` for another answer and where nobody can be asked, `interrupted` and `timed-out` where
 * the question is cut short.
 */
export async function confirmProtected(run: Confirmation): Promise<void> {
  const { action, installation, target, config, surroundings, signal } = run;
  if (target.context === undefined || !config.protectedContexts.includes(target.context)) return;
  const what = `${action} ${installation} -> ${describeTarget(target)}`;
  const isProtected = `the context "${target.context}" is protected by ${config.file}`;
  if (surroundings.stdin.isTTY !== true || !isInteractive(surroundings.stderr, surroundings.env)) {
    throw new CnabError('invalid', `${isProtected} and nobody can be asked here: ${what} was not begun`, {
      suggestions: ['if it is meant, add --yes'],
    });
  }
  const answer = await ask(`${safeLine(what)}\n${safeLine(isProtected)}. Type the installation's name to go on: `, run);
  if (signal.aborted) {
    const { kind } = signal.reason as StopReason;
    throw new CnabError(
      kind === 'timeout' ? 'timed-out' : 'interrupted',
      `nobody has answered: ${action} was not begun`,
    );
  }
  if (answer === installation) return;
  throw new CnabError('invalid', `the answer is not "${installation}": ${action} was not begun`);
}

/** One line that is typed; undefined where the question is ended by Ctrl-D or a signal. */
async function ask(question: string, { surroundings, signal }: Confirmation): Promise<string | undefined> {
  const { stdin: input, stderr: output } = surroundings;
  // Not as a terminal of readline's: that would take Ctrl-C for itself, which is to begin the orderly stop.
  const lines = createInterface({ input, output, terminal: false });
  const closed = new Promise<undefined>((resolve) => lines.once('close', () => resolve(undefined)));
  try {
    const answer = await Promise.race([lines.question(question, { signal }), closed]);
    if (answer === undefined) output.write('\n');
    return answer?.trim();
  } catch (error) {
    if (signal.aborted) return undefined;
    throw error;
  } finally {
    lines.close();
  }
}
