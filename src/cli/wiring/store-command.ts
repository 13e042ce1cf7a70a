import type { ClaimStore } from '../../claim/claim-store.js';
import { BaseCommand } from '../base-command.js';
import { findInstallation, type FoundInstallation, type TargetChoice } from './find-installation.js';
import { openStore } from './open-store.js';

/** A command that reads the store and asks no cluster. */
export abstract class StoreCommand extends BaseCommand {
  protected get store(): ClaimStore {
    return openStore(this.home);
  }

  /** `rest` is what stands between the command and the flags, for the suggestions to paste. */
  protected find(name: string, choice: TargetChoice, ...rest: string[]): Promise<FoundInstallation> {
    const command = [this.commandName, name, ...rest].map(quoteWord).join(' ');
    return findInstallation(this.store, name, choice, command);
  }
}

/** A word as a shell takes it. */
function quoteWord(word: string): string {
  return /^[\w@%+=:,./ -]+$/.test(word) && !word.includes('  ') ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
