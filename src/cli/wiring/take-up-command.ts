import { withLater } from '../../action/outcome.js';
import type { ActionContext, ActionOutcome } from '../../action/request.js';
import { recordedOutcome } from '../../action/recorded-outcome.js';
import type { LookedOn } from '../../action/look-on.js';
import type { Resumed } from '../../action/resume-action.js';
import type { Waited } from '../../action/wait-for-run.js';
import type { Json } from '../../bundle/bundle.js';
import { outputsOf, statusOf } from '../../claim/status.js';
import type { Target } from '../../claim/target.js';
import { CnabError } from '../../errors.js';
import type { ActionFlags } from '../action-flags.js';
import { SUCCEEDED, type ExitCode } from '../exit-codes.js';
import { document } from '../format.js';
import { errorJson } from '../report.js';
import { settingsOf } from '../settings.js';
import { ActionView } from '../views/action.js';
import { LookedView } from '../views/looked.js';
import { endLines, leftHints } from './action-lines.js';
import { runNamed } from './find-run.js';
import { outputsFolderOf } from './outputs-folder.js';
import { listOutputs } from './outputs-of.js';
import { RunCommand } from './run-command.js';
import { copyStored } from './stored-outputs.js';

interface TakeUpFlags extends ActionFlags {
  readonly run?: string | undefined;
  readonly cancel?: boolean;
  readonly 'take-over'?: boolean;
}

/** A command that takes up a run which another process began, or waits for its end. */
export abstract class TakeUpCommand extends RunCommand {
  /** Rejects as `resumeAction` does. */
  protected async resume(name: string, flags: TakeUpFlags): Promise<ExitCode> {
    const { resumeAction } = await import('../../action/resume-action.js');
    const cancel = flags.cancel === true;
    const resumed = await this.takeUp(cancel ? 'cancel' : 'resume', name, flags, (context) =>
      resumeAction({ ...requestFor(name, flags), cancel, takeOver: flags['take-over'] === true }, context),
    );
    if (resumed.kind === 'ended') return await this.nothingToDo(resumed, flags);
    const { outcome } = resumed;
    const { error: _, ...canceled } = outcome;
    // A run that is canceled has ended as this command was to end it.
    return await this.tell(cancel && outcome.status === 'canceled' ? canceled : outcome, flags, cancel);
  }

  /** Rejects as `waitForRun` does. */
  protected async wait(name: string, flags: TakeUpFlags): Promise<ExitCode> {
    const { waitForRun } = await import('../../action/wait-for-run.js');
    let target: Target | undefined;
    const waiting = this.takeUp('wait', name, flags, async (context) => {
      target = await context.driver.target(context.signal);
      return await waitForRun(requestFor(name, flags), context);
    });
    const waited = await waiting.catch((error: unknown) => {
      const isLeft = error instanceof CnabError && error.code === 'interrupted';
      if (!isLeft || this.timeOver === undefined) throw error;
      const suggestions = target === undefined ? [] : leftHints(name, target);
      return new CnabError('still-running', this.timeOver, { suggestions, cause: error });
    });
    if (waited instanceof CnabError) return await this.tellLeft(waited, flags);
    if (waited.kind === 'settled') return await this.tell(waited.outcome, flags);
    if (waited.kind === 'looked') return await this.tellLooked(waited, flags);
    const { outcome, lacking } = await this.recorded(waited, flags);
    if (lacking === undefined) return await this.tell(outcome, flags);
    if (outcome.error !== undefined) await this.say(`warning: ${lacking.message}`);
    return await this.tell(withLater(outcome, lacking), flags);
  }

  /** What is known of a run that could not be taken up is what is recorded of it: nothing is said of how it stands. */
  override failureDocument(thrown: unknown, exitCode: ExitCode): Json {
    const { installation, target, runId, revision, action } = this.known;
    const error = errorJson(thrown, exitCode);
    return document(this.commandName, { action, installation, target, runId, revision, outputs: [], error });
  }

  private async takeUp<T extends Waited>(
    verb: 'resume' | 'cancel' | 'wait',
    installation: string,
    flags: TakeUpFlags,
    take: (context: ActionContext) => Promise<T>,
  ): Promise<T> {
    const { parts, surroundings } = this;
    this.known = { installation };
    const settings = settingsOf(flags);
    // Else the run has what it was begun with.
    const times = {
      timeoutMs: settings.timeoutMs,
      ...(settings.gracePeriodGiven === true ? { graceMs: settings.gracePeriodMs } : {}),
    };
    return await this.onScreen(`${verb} ${installation}`, flags, times, async (screen, signal) => {
      const folder = await outputsFolderOf(flags, surroundings.cwd);
      return await this.withDriver(flags, settings, screen, async (driver) => {
        if (verb === 'cancel') await this.confirm({ action: verb, installation }, flags, driver, signal);
        const events = this.eventsOn(screen, folder);
        const shown = verb === 'wait' ? { ...events, onLog: () => undefined } : events;
        const resumed = await take(this.contextOf(driver, signal, shown));
        if (resumed.kind !== 'settled') return resumed;
        const { outcome } = resumed;
        outcome.warnings.forEach((warning) => screen.say(`warning: ${warning}`));
        await screen.end();
        const begun = Date.parse(outcome.recorded?.claim.created ?? '');
        const took = Number.isNaN(begun) ? 0 : parts.clock.now() - begun;
        for (const line of flags.quiet ? [] : endLines(outcome, took, this.timeOver)) await this.say(line);
        return resumed;
      });
    });
  }

  private async nothingToDo(ended: Resumed & { kind: 'ended' }, flags: TakeUpFlags): Promise<ExitCode> {
    const { claim } = ended.record;
    const note = `nothing is to be taken up: the ${claim.action} of "${claim.installation}" (run ${claim.id}) has ended: ${statusOf(ended.record)}`;
    if (!flags.quiet) await this.say(note);
    const { outcome: told, lacking } = await this.recorded(ended, flags);
    const { error: known, ...outcome } = told;
    // Who asks for outputs that cannot all be had is not told that all is well.
    const isShort = known?.code === 'outputs-incomplete' || outcome.status === 'unknown';
    const error = lacking ?? (flags['outputs-dir'] !== undefined && isShort ? known : undefined);
    const exitCode = error === undefined ? SUCCEEDED : this.exitCodeOfError(error);
    const view = new ActionView(this.commandName, error ? { ...outcome, error } : outcome, { exitCode, note });
    return await this.answer(view, flags, error ? [error] : [], exitCode);
  }

  /** In the same words as of a run that is this store's own. */
  private async tellLeft(left: CnabError, flags: TakeUpFlags): Promise<ExitCode> {
    const exitCode = this.exitCodeOfError(left);
    for (const line of flags.quiet ? [] : [left.message, ...left.suggestions]) await this.say(line);
    const view = { toJson: () => this.failureDocument(left, exitCode), toText: () => '' };
    return await this.answer(view, flags, [], exitCode);
  }

  /** Who asks for outputs that are not here to be had is not told that all is well. */
  private async tellLooked(looked: LookedOn, flags: TakeUpFlags): Promise<ExitCode> {
    const { end, next, run } = looked;
    const folder = flags['outputs-dir'];
    const without =
      end.error === undefined && folder !== undefined
        ? new CnabError('outputs-incomplete', `${run.action} has succeeded, but nothing of it was put into ${folder}.`)
        : undefined;
    const error = end.error ?? without;
    const exitCode = error === undefined ? SUCCEEDED : this.exitCodeOfError(error);
    if (!flags.quiet) await this.say(`note: ${next}`);
    return await this.answer(new LookedView(looked, error, exitCode), flags, error ? [error] : [], exitCode);
  }

  /** `lacking`: why not all of its outputs are where they were asked for. */
  private async recorded(
    { record, claims }: Resumed & { kind: 'ended' },
    flags: TakeUpFlags,
  ): Promise<{ readonly outcome: ActionOutcome; readonly lacking: CnabError | undefined }> {
    const { outputs, problems } = await listOutputs(claims, outputsOf(record));
    for (const problem of problems) await this.say(`warning: ${problem}`);
    const folder = await outputsFolderOf(flags, this.surroundings.cwd);
    const notes: string[] = [];
    const lacking = folder && (await copyStored(claims, record, folder, (line) => notes.push(line)));
    for (const line of flags.quiet ? [] : notes) await this.say(line);
    return { outcome: recordedOutcome(record, claims.target, outputs), lacking };
  }

  private async tell(outcome: ActionOutcome, flags: ActionFlags, canceled = false): Promise<ExitCode> {
    const exitCode = canceled && outcome.status === 'canceled' ? SUCCEEDED : this.exitCodeFor(outcome);
    const view = new ActionView(this.commandName, outcome, { exitCode });
    return await this.answer(view, flags, outcome.error ? [outcome.error] : [], exitCode);
  }
}

function requestFor(installation: string, { run, 'include-sensitive': namedOutputs = [] }: TakeUpFlags) {
  return { installation, namedOutputs, ...(run === undefined ? {} : { runId: runNamed(run) }) };
}
