import type { ActionFlags } from '../action-flags.js';
import type { ExitCode } from '../exit-codes.js';
import { settingsOf } from '../settings.js';
import { PreviewView } from '../views/preview.js';
import { ActionCommand } from './action-command.js';
import { startLines } from './action-lines.js';
import { requestOf, type ActionPlan } from './inputs.js';
import { outputsFolderOf } from './outputs-folder.js';
import { readPodPatch } from './pod-patch.js';

/** An action that can also be looked at before it is run. */
export abstract class PlanCommand extends ActionCommand {
  /** Runs it and tells how it ended, or, with `--dry-run`, what it would do. Rejects as `runAction` does. */
  protected async perform(plan: ActionPlan, flags: ActionFlags): Promise<ExitCode> {
    if (!flags['dry-run']) return await this.report(await this.act(plan, flags), flags);
    return await this.print(await this.preview(plan, flags), this.formatOf(flags));
  }

  /**
   * Asks the cluster who it is, because that decides which installation is meant, and what runs there; records and creates
   * nothing. There is nothing to clean up, so a signal ends it at once.
   */
  protected async preview(plan: ActionPlan, flags: ActionFlags): Promise<PreviewView> {
    const { home, parts, surroundings } = this;
    this.known = { action: plan.action, installation: plan.installation };
    const { signal } = new AbortController();
    await outputsFolderOf(flags, surroundings.cwd);
    const passOn = (chunk: Uint8Array): void => void this.passOn(chunk);
    const podPatch = await readPodPatch(flags['pod-patch'], surroundings.cwd);
    const settings = { ...settingsOf(flags), ...podPatch, dryRun: true };
    const request = await requestOf(plan, flags, {
      home,
      surroundings,
      store: parts.openStore(home),
      signal,
      onStderr: passOn,
    });
    const place = { home, surroundings, version: this.config.version, onPluginOutput: passOn };
    const driver = await parts.openDriver(flags.driver ?? 'kubernetes', settings, place);
    try {
      const { planAction } = await import('../../action/plan-action.js');
      const nothing = (): void => undefined;
      const prepared = await planAction(request, {
        store: parts.openStore(home),
        driver,
        clock: parts.clock,
        signal,
        events: { onLog: nothing, onProgress: nothing, onWarning: nothing, onStart: nothing },
      });
      const lines = [
        ...startLines({ ...prepared.start, runId: 'none, this is a dry run', resumable: false }),
        ...prepared.warnings.map((warning) => `warning: ${warning}`),
      ];
      for (const line of flags.quiet ? [] : lines) await this.say(line);
      return new PreviewView(this.commandName, prepared, driver.preview?.(prepared.operation) ?? []);
    } finally {
      await driver.close();
    }
  }
}
