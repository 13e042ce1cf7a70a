import { forgetInstallation } from '../../action/forget.js';
import type { Json } from '../../bundle/bundle.js';
import { isUninstalled } from '../../claim/status.js';
import { CnabError } from '../../errors.js';
import type { ActionFlags } from '../action-flags.js';
import { OUR_BUG, type ExitCode } from '../exit-codes.js';
import { document, type View } from '../format.js';
import { failureOf } from '../report.js';
import { settingsOf } from '../settings.js';
import { ActionView } from '../views/action.js';
import { PlanCommand } from './plan-command.js';

interface UninstallFlags extends ActionFlags {
  readonly 'ignore-not-found'?: boolean;
  readonly 'delete-record'?: boolean;
}

/** How it went with one name: a view to print, an exit code, and an error where there is one. */
interface Uninstalled {
  readonly view: View;
  readonly exitCode: ExitCode;
  readonly error?: unknown;
}

/** Uninstalls one name after the other: one that fails does not keep the others, an interruption or a time-out does. */
export abstract class UninstallCommand extends PlanCommand {
  protected async uninstallAll(names: readonly string[], flags: UninstallFlags): Promise<ExitCode> {
    const done: Uninstalled[] = [];
    for (const name of names) {
      const one = await this.uninstall(name, flags);
      done.push(one);
      if ([4, 130, 143].includes(one.exitCode)) break;
    }
    const view = done.length === 1 && done[0] ? done[0].view : severalViews(done);
    const errors = done.flatMap(({ error }) => (error === undefined ? [] : [error]));
    return await this.answer(view, flags, errors, done.find(({ exitCode }) => exitCode !== 0)?.exitCode ?? 0);
  }

  private async uninstall(name: string, flags: UninstallFlags): Promise<Uninstalled> {
    try {
      if (flags['delete-record'] && (await this.dropRecord(name, flags)))
        return quietly(this.commandName, name, flags['dry-run'] ? 'record would be deleted' : 'record deleted');
      if (flags['dry-run']) {
        return { view: await this.preview({ action: 'uninstall', installation: name }, flags), exitCode: 0 };
      }
      const outcome = await this.act(
        { action: 'uninstall', installation: name, deleteRecord: flags['delete-record'] === true },
        flags,
      );
      const exitCode = this.exitCodeFor(outcome);
      const view = new ActionView(this.commandName, outcome, exitCode);
      return { view, exitCode, ...(outcome.error ? { error: outcome.error } : {}) };
    } catch (error) {
      if (flags['ignore-not-found'] && error instanceof CnabError && error.code === 'not-found') {
        return quietly(this.commandName, name, 'not installed');
      }
      const exitCode =
        error instanceof CnabError
          ? this.exitCodeOfError(error)
          : failureOf(error, { debug: false, version: '' }).exitCode;
      if (exitCode === OUR_BUG) throw error;
      const body = this.failureDocument(error, exitCode);
      return { view: { toJson: () => body, toText: () => '' }, exitCode, error };
    }
  }

  /** True when the name was uninstalled before and only its record had to go. */
  private async dropRecord(name: string, flags: UninstallFlags): Promise<boolean> {
    const store = this.parts.openStore(this.home);
    if ((await store.targetsOf(name)).length === 0) return false;
    const { surroundings, home } = this;
    const place = { surroundings, home, version: this.config.version, onPluginOutput: () => undefined };
    const settings = { ...settingsOf(flags), dryRun: flags['dry-run'] === true };
    const driver = await this.parts.openDriver(flags.driver ?? 'kubernetes', settings, place);
    try {
      const target = await driver.target(new AbortController().signal);
      const installation = await store.on(target).read(name);
      if (installation === undefined || !isUninstalled(installation)) return false;
      if (!flags['dry-run']) await forgetInstallation(name, target, store);
      return true;
    } finally {
      await driver.close();
    }
  }
}

/** Nothing was run, and that is no failure. */
function quietly(command: string, installation: string, what: string): Uninstalled {
  const body = document(command, {
    action: 'uninstall',
    installation,
    status: 'succeeded',
    ran: 'no',
    note: what,
    outputs: [],
  });
  return { view: { toJson: () => body, toText: () => '' }, exitCode: 0 };
}

/** Several names, one document. */
function severalViews(done: readonly Uninstalled[]): View {
  return {
    toJson: (): Json => document('uninstall', { installations: done.map(({ view }) => view.toJson()) }),
    toText: () =>
      done
        .map(({ view }) => view.toText())
        .filter((text) => text !== '')
        .join('\n\n'),
  };
}
