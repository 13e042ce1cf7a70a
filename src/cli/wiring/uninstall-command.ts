import { forgetInstallation } from '../../action/forget.js';
import { NotInstalled } from '../../action/refuse.js';
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

/** After a time-out, a bug of ours or an interruption no other name is tried. */
const ENDS_ALL: ReadonlySet<ExitCode> = new Set([4, OUR_BUG, 130, 143]);

/** Uninstalls one name after the other: one that fails does not keep the others. */
export abstract class UninstallCommand extends PlanCommand {
  protected async uninstallAll(names: readonly string[], flags: UninstallFlags): Promise<ExitCode> {
    // What is wrong with the flags is told once, not for each name.
    settingsOf(flags);
    const wanted = [...new Set(names)];
    const done: Uninstalled[] = [];
    for (const name of wanted) {
      const one = await this.uninstall(name, flags);
      done.push(one);
      if (this.isStopped || ENDS_ALL.has(one.exitCode)) break;
    }
    const untried = wanted.slice(done.length);
    if (untried.length > 0 && !flags.quiet) {
      await this.say(`note: not tried any more: ${untried.map((name) => `"${name}"`).join(', ')}`);
    }
    const views = [
      ...done.map(({ view }) => view),
      ...untried.map((name) => this.notRun(name, 'canceled', 'not tried')),
    ];
    const view = views.length === 1 && views[0] ? views[0] : severalViews(views);
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
      if (flags['ignore-not-found'] && error instanceof NotInstalled) {
        return await this.quietly(name, 'not installed', flags);
      }
      const exitCode =
        error instanceof CnabError
          ? this.exitCodeOfError(error)
          : failureOf(error, { debug: false, version: '' }).exitCode;
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
    return { view: this.notRun(installation, 'succeeded', note), exitCode: 0 };
  }

  private notRun(installation: string, status: 'succeeded' | 'canceled', note: string): View {
    const known = { action: 'uninstall', installation, status, ran: 'no', note, outputs: [] };
    return { toJson: () => document(this.commandName, known), toText: () => '' };
  }
}

/** Several names, one document. */
function severalViews(views: readonly View[]): View {
  return {
    toJson: (): Json => document('uninstall', { installations: views.map((view) => view.toJson()) }),
    toText: () =>
      views
        .map((view) => view.toText())
        .filter((text) => text !== '')
        .join('\n\n'),
  };
}
