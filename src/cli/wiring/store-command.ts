import { shellWord } from '../../bundle/shell-word.js';
import type { ClaimStore } from '../../claim/claim-store.js';
import type { Target } from '../../claim/target.js';
import { CnabError } from '../../errors.js';
import { BaseCommand } from '../base-command.js';
import { SUCCEEDED, type ExitCode } from '../exit-codes.js';
import { settingsOf } from '../settings.js';
import { findInstallation, type FoundInstallation, type TargetChoice } from './find-installation.js';
import { processParts, type Parts } from './parts.js';

/** A cluster that does not answer is not waited for longer. */
const PATIENCE_MS = 5000;

/** A command that reads the store. It asks no cluster, unless a name is on several targets and none is chosen. */
export abstract class StoreCommand extends BaseCommand {
  parts: Parts = processParts();

  protected get store(): ClaimStore {
    return this.parts.openStore(this.home);
  }

  /** `rest` is what stands between the command and the flags, for the suggestions to paste. */
  protected find(name: string, choice: TargetChoice, ...rest: string[]): Promise<FoundInstallation> {
    const command = [this.commandName, ...[name, ...rest].map(shellWord)].join(' ');
    const asksCluster = rest.includes('-f');
    const search = { asksCluster, choice: this.asked(choice), command, current: () => this.currentTarget(choice) };
    return findInstallation(this.store, name, search);
  }

  /** Without what only the config file says: that is where actions go, and must hide no installation elsewhere. */
  protected asked({ driver, context, namespace }: TargetChoice): TargetChoice {
    return {
      driver: this.isHabit('driver') ? undefined : driver,
      context: this.isHabit('context') ? undefined : context,
      namespace: this.isHabit('namespace') ? undefined : namespace,
    };
  }

  /** What is to be said beside the result. What is noted fails nothing: resolves with success. */
  protected async note(flags: { readonly quiet?: boolean }, notes: readonly string[]): Promise<ExitCode> {
    for (const line of flags.quiet ? [] : notes) await this.say(line);
    return SUCCEEDED;
  }

  /** Whatever keeps it from being known is no trouble here: the user is asked to say which one is meant. */
  private async currentTarget(choice: TargetChoice): Promise<Target | undefined> {
    const { home, surroundings } = this;
    const place = { home, surroundings, version: this.config.version, onPluginOutput: () => undefined };
    try {
      const driver = await this.parts.openDriver(choice.driver ?? 'kubernetes', settingsOf(choice), place);
      try {
        return await driver.target(AbortSignal.timeout(PATIENCE_MS));
      } finally {
        await driver.close();
      }
    } catch (error) {
      if (error instanceof CnabError || (error instanceof Error && error.name === 'AbortError')) return undefined;
      if (error instanceof Error && error.name === 'TimeoutError') return undefined;
      throw error;
    }
  }
}
