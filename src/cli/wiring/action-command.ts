import type { ActionOutcome, ActionRequest } from '../../action/request.js';
import { takeUpCommand } from '../../action/unfinished.js';
import { CnabError } from '../../errors.js';
import type { ActionFlags } from '../action-flags.js';
import type { ExitCode } from '../exit-codes.js';
import { settingsOf } from '../settings.js';
import { ActionView } from '../views/action.js';
import { endLines, unusedVariables } from './action-lines.js';
import { requestOf, type ActionPlan } from './inputs.js';
import { outputsFolderOf } from './outputs-folder.js';
import { readPodPatch } from './pod-patch.js';
import { RunCommand } from './run-command.js';

/** A command that runs an action of a bundle on the target that flags and kubeconfig name. */
export abstract class ActionCommand extends RunCommand {
  /** Runs it, with everything that is to be seen on the way. Rejects as `runAction` does. */
  protected async act(plan: ActionPlan, flags: ActionFlags): Promise<ActionOutcome> {
    const { home, surroundings, parts } = this;
    this.known = { action: plan.action, installation: plan.installation };
    const podPatch = await readPodPatch(flags['pod-patch'], surroundings.cwd);
    const settings = { ...settingsOf(flags), ...podPatch };
    const title = `${plan.action} ${plan.installation}`;
    const times = { timeoutMs: settings.timeoutMs, graceMs: settings.gracePeriodMs };
    return await this.onScreen(title, flags, times, async (screen, signal) => {
      unusedVariables(surroundings.env, flags.driver ?? 'kubernetes', flags).forEach((line) => screen.say(line));
      const started = parts.clock.now();
      const folder = await outputsFolderOf(flags, surroundings.cwd);
      const onStderr = (chunk: Uint8Array): void => void screen.log(chunk);
      const request = await requestOf(plan, flags, {
        home,
        surroundings,
        store: parts.openStore(home),
        signal,
        onStderr,
      });
      return await this.withDriver(flags, settings, screen, async (driver) => {
        await this.confirm(plan, flags, driver, signal);
        const { runAction } = await import('../../action/run-action.js');
        const outcome = await runAction(request, this.contextOf(driver, signal, this.eventsOn(screen, folder)));
        outcome.warnings.forEach((warning) => screen.say(`warning: ${warning}`));
        await screen.end();
        for (const line of flags.quiet ? [] : endLines(outcome, parts.clock.now() - started)) await this.say(line);
        return this.withHints(outcome, request);
      });
    });
  }

  /** Prints how it ended and resolves with the exit code. */
  protected async report(outcome: ActionOutcome, flags: ActionFlags): Promise<ExitCode> {
    const exitCode = this.exitCodeFor(outcome);
    const view = new ActionView(this.commandName, outcome, { exitCode });
    return await this.answer(view, flags, outcome.error ? [outcome.error] : [], exitCode);
  }

  /** What to do next, where only the command line knows it. */
  private withHints(outcome: ActionOutcome, request: ActionRequest): ActionOutcome {
    const { error, installation, runId, recorded, target, outstanding } = outcome;
    if (error === undefined) return outcome;
    const account = request.choices.serviceAccount;
    const isFailure = error.code === 'bundle-failed';
    const mayBeTakenUp = recorded !== undefined && (outstanding !== undefined || error.code === 'contact-lost');
    const suggestions = [
      ...error.suggestions,
      ...(isFailure && recorded ? [`its log: ${takeUpCommand('logs', installation, target, `--run ${runId}`)}`] : []),
      ...(isFailure && this.sawForbidden && account === undefined && target.driver === 'kubernetes'
        ? ['the log says "forbidden": a bundle that works on the cluster needs --service-account NAME']
        : []),
      ...(mayBeTakenUp ? [`what has not come can still be had: ${takeUpCommand('resume', installation, target)}`] : []),
    ];
    const { code, message, details, cause } = error;
    return { ...outcome, error: new CnabError(code, message, { details, suggestions, cause }) };
  }
}
