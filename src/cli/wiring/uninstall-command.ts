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
    // What is wrong with the flags is told once, not for each name.
    settingsOf(flags);
    const done: Uninstalled[] = [];
    for (const name of new Set(names)) {
      const one = await this.uninstall(name, flags);
      done.push(one);
      if (this.isStopped || [4, 130, 143].includes(one.exitCode)) break;
    }
    const view = done.length === 1 && done[0] ? done[0].view : severalViews(done);
    const errors = done.flatMap(({ error }) => (error === undefined ? [] : [error]));
    return await this.answer(view, flags, errors, done.find(({ exitCode }) => exitCode !== 0)?.exitCode ?? 0);
  }

  private async uninstall(name: string, flags: UninstallFlags): Promise<Uninstalled> {
    this.known = { action: 'uninstall', installation: name };
    try {
      const settled = await this.settled(name, flags);
      if (settled !== undefined) return await this.quietly(name, settled, flags);
      if (flags['dry-run']) {
        return { view: await this.preview({ action: 'uninstall', installation: name }, flags), exitCode: 0 };
      }
      const outcome = await this.act(
        { action: 'uninstall', installation: name, deleteRecord: flags['delete-record'] === true },
        flags,
      );
      const exitCode = this.exitCodeFor(outcome);
      const view = new ActionView(this.commandName, outcome, { exitCode });
      return { view, exitCode, ...(outcome.error ? { error: outcome.error } : {}) };
    } catch (error) {
      if (flags['ignore-not-found'] && error instanceof CnabError && error.code === 'not-found') {
        return await this.quietly(name, 'not installed', flags);
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

  /**
   * What is said of a name that was uninstalled before, where that is no failure: with `--ignore-not-found`, and with
   * `--delete-record`, which has only the record to delete. Undefined where there is something to run or to refuse.
   */
  private async settled(name: string, flags: UninstallFlags): Promise<string | undefined> {
    if (!flags['delete-record'] && !flags['ignore-not-found']) return undefined;
    const store = this.parts.openStore(this.home);
    if ((await store.targetsOf(name)).length === 0) return undefined;
    const { surroundings, home } = this;
    const place = { surroundings, home, version: this.config.version, onPluginOutput: () => undefined };
    const settings = { ...settingsOf(flags), dryRun: flags['dry-run'] === true };
    const driver = await this.parts.openDriver(flags.driver ?? 'kubernetes', settings, place);
    try {
      const target = await driver.target(new AbortController().signal);
      const installation = await store.on(target).read(name);
      if (installation === undefined || !isUninstalled(installation)) return undefined;
      if (!flags['delete-record']) return 'already uninstalled';
      if (flags['dry-run']) return 'record would be deleted';
      await forgetInstallation(name, target, store);
      return 'record deleted';
    } finally {
      await driver.close();
    }
  }

  /** Nothing was run, and that is no failure. */
  private async quietly(installation: string, note: string, flags: UninstallFlags): Promise<Uninstalled> {
    if (!flags.quiet) await this.say(`note: "${installation}": ${note}; nothing was run`);
    const known = { action: 'uninstall', installation, status: 'succeeded', ran: 'no', note, outputs: [] };
    const body = document(this.commandName, known);
    return { view: { toJson: () => body, toText: () => '' }, exitCode: 0 };
  }
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
