import type { ActionContext, ActionEvents, ActionOutcome } from '../../action/request.js';
import { takeUpCommand } from '../../action/unfinished.js';
import type { Json } from '../../bundle/bundle.js';
import { makeFolder } from '../../claim/atomic-write.js';
import { onDisk } from '../../claim/disk-error.js';
import type { Target } from '../../claim/target.js';
import type { Driver } from '../../driver/driver.js';
import type { DriverSettings } from '../../driver/settings.js';
import { CnabError, messageOf, type ErrorCode } from '../../errors.js';
import type { ActionFlags } from '../action-flags.js';
import { BaseCommand } from '../base-command.js';
import { exitCodeOf, SUCCEEDED, type ExitCode } from '../exit-codes.js';
import type { View } from '../format.js';
import { runScreen, type RunScreen } from '../run-screen.js';
import { stopSignals, type Signal, type StopSignals } from '../signals.js';
import { unfinishedDocument, type UnfinishedAction } from '../views/action.js';
import { startLines } from './action-lines.js';
import { copyOutputs, type OutputsFolder } from './outputs-folder.js';
import { processParts, type Parts } from './parts.js';

/** A command that is on a run: one that it begins, takes up or waits for. */
export abstract class RunCommand extends BaseCommand {
  parts: Parts = processParts();
  /** What is known so far, for the document of a run that does not come to an end. */
  protected known: UnfinishedAction = {};
  /** True once the log has a line that speaks of missing rights. */
  protected sawForbidden = false;
  /** Of a command that only looks on a signal and the time-out end the looking on, not the run. */
  protected readonly asks: 'stop' | 'leave' = 'stop';
  private where: Target | undefined;
  private stopped: Signal | 'timeout' | undefined;
  /** What is to be said once the time is over for which somebody looks on, where the run goes on then. */
  protected timeOver: string | undefined;
  private graceMs: number | undefined;
  private screen: RunScreen | undefined;
  private stop: StopSignals | undefined;

  /** Gives the screen and the signals of one run to `body`. `title`: what goes on, `install app`. */
  protected async onScreen<T>(
    title: string,
    flags: ActionFlags,
    times: { readonly timeoutMs: number; readonly graceMs?: number },
    body: (screen: RunScreen, signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const { surroundings, parts } = this;
    const screen = (this.screen = runScreen({
      surroundings,
      clock: parts.clock,
      quiet: flags.quiet === true,
      colors: flags['no-color'] !== true && !surroundings.env['NO_COLOR'],
      title,
    }));
    this.graceMs = times.graceMs;
    // Once for all runs of the command.
    const stop = (this.stop ??= this.listen());
    const endTimer = stop.startTimer(times.timeoutMs, parts.clock);
    try {
      return await body(screen, stop.signal);
    } finally {
      endTimer();
      await screen.end();
    }
  }

  /** Gives the driver that flags name to `body`, and closes it. */
  protected async withDriver<T>(
    flags: Pick<ActionFlags, 'driver'>,
    settings: DriverSettings,
    screen: Pick<RunScreen, 'log'>,
    body: (driver: Driver) => Promise<T>,
  ): Promise<T> {
    const { home, parts, surroundings } = this;
    await onDisk('create', home, () => makeFolder(home));
    const driver = await parts.openDriver(flags.driver ?? 'kubernetes', settings, {
      ...{ home, surroundings, version: this.config.version },
      onPluginOutput: (chunk) => void screen.log(chunk),
    });
    try {
      return await body(driver);
    } finally {
      await driver.close();
    }
  }

  protected contextOf(driver: Driver, signal: AbortSignal, events: ActionEvents): ActionContext {
    const { parts } = this;
    return { store: parts.openStore(this.home), driver, clock: parts.clock, signal, events };
  }

  protected eventsOn(screen: RunScreen, folder: OutputsFolder | undefined): ActionEvents {
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
        this.where = target;
        this.known = { ...this.known, action: start.action, runId, revision, target: target.label };
        startLines(start).forEach((line) => screen.say(line));
      },
      ...(folder === undefined ? {} : { onOutputs: copyOutputs(folder, (line) => screen.say(line)) }),
    };
  }

  /** Asks before something is done to a run against a protected context. */
  protected async confirm(
    what: { readonly action: string; readonly installation: string },
    flags: ActionFlags,
    driver: Driver,
    signal: AbortSignal,
  ): Promise<void> {
    const { configFile: config, surroundings } = this;
    if (flags.yes || config === undefined || config.protectedContexts.length === 0) return;
    const { confirmProtected } = await import('./protected.js');
    const target = await driver.target(signal);
    const { action, installation } = what;
    await this.screen?.aside(() => confirmProtected({ action, installation, target, config, surroundings, signal }));
  }

  private listen(): StopSignals {
    return stopSignals(this.parts.signals, {
      fromTerminal: this.surroundings.stdin.isTTY === true,
      asks: this.asks,
      resume: () => this.resumeCommand(),
      grace: () => (this.known.runId === undefined ? undefined : this.graceMs),
      onStop: (line, _reason, signal) => {
        this.stopped = signal ?? 'timeout';
        // Whether the run does go on is known only when the command ends.
        if (signal === undefined && this.asks === 'leave') this.timeOver = line;
        else this.screen?.say(line);
      },
      onLeave: (line) => {
        this.screen?.say(line);
        process.exit(exitCodeOf('interrupted'));
      },
    });
  }

  /** True once a signal or the time-out has ended what this command was to do. */
  protected get isStopped(): boolean {
    return this.stopped !== undefined;
  }

  /** What takes up the run that this command is on; undefined while there is none. */
  protected resumeCommand(): string | undefined {
    const { installation, runId } = this.known;
    if (installation === undefined || runId === undefined || this.where === undefined) return undefined;
    return takeUpCommand('resume', installation, this.where);
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

  /** A run that was left goes on: that is no failure where it was asked for. */
  protected exitCodeFor({ error, status }: Pick<ActionOutcome, 'error' | 'status'>): ExitCode {
    if (error) return this.exitCodeOfError(error);
    if (status === 'succeeded') return SUCCEEDED;
    if (status === 'running') return this.stopped === undefined ? SUCCEEDED : this.exitCodeOfKind('interrupted');
    if (status === 'canceled') return this.exitCodeOfKind('interrupted');
    return this.exitCodeOfKind(status === 'unknown' ? 'contact-lost' : 'bundle-failed');
  }

  override exitCodeOfError(error: CnabError): ExitCode {
    return this.exitCodeOfKind(error.code);
  }

  /** An interruption is told apart by what interrupted: shells know the signals, and a time-out has its own code. */
  private exitCodeOfKind(code: ErrorCode): ExitCode {
    const { stopped } = this;
    if (code !== 'interrupted' || stopped === undefined) return exitCodeOf(code);
    if (stopped === 'timeout') return exitCodeOf(this.asks === 'leave' ? 'still-running' : 'timed-out');
    // A terminal that is gone: the run goes on, and this process has lost it.
    if (stopped === 'SIGHUP') return exitCodeOf('contact-lost');
    return exitCodeOf(code, stopped);
  }

  override failureDocument(thrown: unknown, exitCode: ExitCode): Json {
    return unfinishedDocument(this.commandName, this.known, thrown, exitCode);
  }
}
