import type { ActionEvents, ActionOutcome, ActionRequest } from '../../action/request.js';
import type { Json } from '../../bundle/bundle.js';
import { shellWord } from '../../bundle/shell-word.js';
import { makeFolder } from '../../claim/atomic-write.js';
import { onDisk } from '../../claim/disk-error.js';
import type { Driver, StopReason } from '../../driver/driver.js';
import { CnabError, messageOf, type ErrorCode } from '../../errors.js';
import type { ActionFlags } from '../action-flags.js';
import { BaseCommand } from '../base-command.js';
import { exitCodeOf, SUCCEEDED, type ExitCode } from '../exit-codes.js';
import type { View } from '../format.js';
import { runScreen, type RunScreen } from '../run-screen.js';
import { settingsOf } from '../settings.js';
import { stopSignals, type StopSignals } from '../signals.js';
import { ActionView, unfinishedDocument, type UnfinishedAction } from '../views/action.js';
import { endLine, startLines, unusedVariables } from './action-lines.js';
import { requestOf, type ActionPlan } from './inputs.js';
import { copyOutputs, outputsFolderOf, type OutputsFolder } from './outputs-folder.js';
import { readPodPatch } from './pod-patch.js';
import { processParts, type Parts } from './parts.js';

/** A command that runs an action of a bundle on the target that flags and kubeconfig name. */
export abstract class ActionCommand extends BaseCommand {
  parts: Parts = processParts();
  /** What is known so far, for the document of a run that does not come to an end. */
  protected known: UnfinishedAction = {};
  private stopped: StopReason | undefined;
  private sawForbidden = false;
  private screen: RunScreen | undefined;
  private stop: StopSignals | undefined;

  /** Runs it, with everything that is to be seen on the way. Rejects as `runAction` does. */
  protected async act(plan: ActionPlan, flags: ActionFlags): Promise<ActionOutcome> {
    const { surroundings, parts } = this;
    this.known = { action: plan.action, installation: plan.installation };
    const podPatch = await readPodPatch(flags['pod-patch'], surroundings.cwd);
    const settings = { ...settingsOf(flags), ...podPatch };
    const driverName = flags.driver ?? 'kubernetes';
    const screen = runScreen({
      surroundings,
      clock: parts.clock,
      quiet: flags.quiet === true,
      colors: flags['no-color'] !== true && !surroundings.env['NO_COLOR'],
      title: `${plan.action} ${plan.installation}`,
    });
    this.screen = screen;
    const stop = (this.stop ??= this.listen());
    const endTimer = stop.startTimer(settings.timeoutMs, parts.clock);
    unusedVariables(surroundings.env, driverName, flags).forEach((line) => screen.say(line));
    const started = parts.clock.now();
    try {
      const folder = await outputsFolderOf(flags, surroundings.cwd);
      const request = await requestOf(plan, flags, {
        home: this.home,
        surroundings,
        signal: stop.signal,
        onStderr: (chunk) => void screen.log(chunk),
      });
      await onDisk('create', this.home, () => makeFolder(this.home));
      const driver = await parts.openDriver(driverName, settings, {
        home: this.home,
        surroundings,
        version: this.config.version,
        onPluginOutput: (chunk) => void screen.log(chunk),
      });
      try {
        await this.confirm(plan, flags, driver, stop.signal);
        const { runAction } = await import('../../action/run-action.js');
        const outcome = await runAction(request, {
          store: parts.openStore(this.home),
          driver,
          clock: parts.clock,
          signal: stop.signal,
          events: this.events(screen, folder),
        });
        outcome.warnings.forEach((warning) => screen.say(`warning: ${warning}`));
        await screen.end();
        if (!flags.quiet) await this.say(endLine(outcome, parts.clock.now() - started));
        return this.withHints(outcome, request);
      } finally {
        await driver.close();
      }
    } finally {
      endTimer();
      await screen.end();
    }
  }

  private events(screen: RunScreen, folder: OutputsFolder | undefined): ActionEvents {
    this.sawForbidden = false;
    return {
      onLog: (chunk) => {
        this.sawForbidden ||= Buffer.from(chunk).includes('forbidden');
        return screen.log(chunk);
      },
      onProgress: (progress) => screen.progress(progress),
      onWarning: (sentence) => screen.say(`warning: ${sentence}`),
      onStart: (start) => {
        const { runId, revision, target } = start;
        this.known = { ...this.known, action: start.action, runId, revision, target: target.label };
        startLines(start).forEach((line) => screen.say(line));
      },
      ...(folder === undefined ? {} : { onOutputs: copyOutputs(folder, (line) => screen.say(line)) }),
    };
  }

  private async confirm(plan: ActionPlan, flags: ActionFlags, driver: Driver, signal: AbortSignal): Promise<void> {
    const { configFile: config, surroundings } = this;
    if (flags.yes || config === undefined || config.protectedContexts.length === 0) return;
    const { confirmProtected } = await import('./protected.js');
    const { action, installation } = plan;
    const target = await driver.target(signal);
    await this.screen?.aside(() => confirmProtected({ action, installation, target, config, surroundings, signal }));
  }

  /** Once for all actions of the command. */
  private listen(): StopSignals {
    return stopSignals(this.parts.signals, {
      fromTerminal: this.surroundings.stdin.isTTY === true,
      onStop: (line, reason) => {
        this.stopped = reason;
        this.screen?.say(line);
      },
      onLeave: () => process.exit(exitCodeOf('interrupted')),
    });
  }

  /** Prints how it ended and resolves with the exit code. */
  protected async report(outcome: ActionOutcome, flags: ActionFlags): Promise<ExitCode> {
    const exitCode = this.exitCodeFor(outcome);
    const view = new ActionView(this.commandName, outcome, exitCode);
    return await this.answer(view, flags, outcome.error ? [outcome.error] : [], exitCode);
  }

  /** Prints the end of runs that are over: a stdout that takes no more (a full disk) takes nothing back of how they ended. */
  protected async answer(
    view: View,
    flags: ActionFlags,
    errors: readonly unknown[],
    exitCode: ExitCode,
  ): Promise<ExitCode> {
    const lost = await this.print(view, this.formatOf(flags)).then(() => undefined, messageOf);
    for (const error of errors) await this.showError(error);
    if (lost === undefined) return exitCode;
    const error = new CnabError('outputs-incomplete', `the run is over, but ${lost}`, {
      suggestions: ['how it ended is recorded: cnab show NAME'],
    });
    await this.showError(error);
    return exitCode === SUCCEEDED ? exitCodeOf(error.code) : exitCode;
  }

  protected exitCodeFor({ error, status }: Pick<ActionOutcome, 'error' | 'status'>): ExitCode {
    if (error) return this.exitCodeOfError(error);
    if (status === 'succeeded') return 0;
    if (status === 'canceled') return this.exitCodeOfKind('interrupted');
    return this.exitCodeOfKind(status === 'unknown' ? 'contact-lost' : 'bundle-failed');
  }

  override exitCodeOfError(error: CnabError): ExitCode {
    return this.exitCodeOfKind(error.code);
  }

  /** An interruption is told apart by what interrupted: shells know the signals, and a time-out has its own code. */
  private exitCodeOfKind(code: ErrorCode): ExitCode {
    if (code === 'interrupted' && this.stopped?.kind === 'timeout') return exitCodeOf('timed-out');
    return exitCodeOf(code, this.stopped?.kind === 'signal' ? this.stopped.signal : undefined);
  }

  override failureDocument(thrown: unknown, exitCode: ExitCode): Json {
    return unfinishedDocument(this.commandName, this.known, thrown, exitCode);
  }

  /** What to do next, where only the command line knows it. */
  private withHints(outcome: ActionOutcome, request: ActionRequest): ActionOutcome {
    const { error, installation, runId, recorded } = outcome;
    if (error?.code !== 'bundle-failed') return outcome;
    const account = request.choices.serviceAccount;
    const suggestions = [
      ...error.suggestions,
      ...(recorded ? [`its log: cnab logs ${shellWord(installation)} --run ${runId}`] : []),
      ...(this.sawForbidden && account === undefined && outcome.target.driver === 'kubernetes'
        ? ['the log says "forbidden": a bundle that works on the cluster needs --service-account NAME']
        : []),
    ];
    const { code, message, details, cause } = error;
    return { ...outcome, error: new CnabError(code, message, { details, suggestions, cause }) };
  }
}
