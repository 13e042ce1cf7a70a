import { createReadStream } from 'node:fs';
import { unknownRuns, usableRuns } from '../../action/adopt.js';
import { followRun } from '../../action/follow-run.js';
import { meantRun, unaskedNote } from '../../action/meant-run.js';
import { describeTarget, flagsFor } from '../../action/refuse.js';
import { readNote } from '../../action/run-note.js';
import { stateOf, surveyRuns, takeUpCommand } from '../../action/unfinished.js';
import type { TargetClaims } from '../../claim/claim-store.js';
import type { Claim, ClaimRecord, Installation } from '../../claim/claim.js';
import type { Target } from '../../claim/target.js';
import type { Driver, FoundRun } from '../../driver/driver.js';
import { CnabError } from '../../errors.js';
import { exitCodeOf, SUCCEEDED, type ExitCode } from '../exit-codes.js';
import { audienceOf, logGuard } from '../log-guard.js';
import { settingsOf } from '../settings.js';
import { stopSignals, type Signal } from '../signals.js';
import { write } from '../write.js';
import type { FoundInstallation, TargetChoice } from './find-installation.js';
import { findLog } from './find-log.js';
import { runNamed } from './find-run.js';
import { StoreCommand } from './store-command.js';
import { openShown, tailFile, type ShownFile } from './tail-file.js';

interface LogFlags extends TargetChoice {
  readonly run?: string | undefined;
  readonly quiet?: boolean;
  readonly kubeconfig?: string | undefined;
}

/** What is being followed, and where it is shown. */
interface Following {
  readonly signal: AbortSignal;
  readonly show: (bytes: Uint8Array) => Promise<void>;
  readonly driver: () => Promise<Driver>;
}

/** Prints the log of a run: the stored one, or, while it has no end, as it grows. */
export abstract class LogCommand extends StoreCommand {
  protected async showStored(
    claims: TargetClaims,
    installation: Installation,
    flags: LogFlags,
    show: Following['show'],
  ): Promise<void> {
    const { stored, note } = await findLog(claims, installation, flags.run ?? 'last');
    if (note !== undefined && !flags.quiet) await this.say(note);
    for await (const chunk of createReadStream(stored.file) as AsyncIterable<Buffer>) await show(chunk);
  }

  /** Gives `body` what shows a log: control characters are shown, not obeyed. */
  protected async guarded(body: (show: Following['show']) => Promise<ExitCode>): Promise<ExitCode> {
    const { stdout, env } = this.surroundings;
    const guard = logGuard(audienceOf(env));
    try {
      return await body((bytes) => write(stdout, guard.push(bytes)));
    } finally {
      await write(stdout, guard.end());
    }
  }

  /** Follows a run until it ends; a signal ends the following alone. Touches neither record nor run. */
  protected async follow(name: string, flags: LogFlags, show: Following['show']): Promise<ExitCode> {
    let left: Signal | undefined;
    const { signal } = stopSignals(this.parts.signals, {
      fromTerminal: false,
      asks: 'leave',
      onStop: (_line, _reason, by) => (left = by),
      onLeave: () => undefined,
    });
    await this.onTarget(flags, (driver) => this.followMeant(name, flags, { signal, show, driver }));
    if (left === undefined) return SUCCEEDED;
    return left === 'SIGHUP' ? exitCodeOf('contact-lost') : exitCodeOf('interrupted', left);
  }

  private async followMeant(name: string, flags: LogFlags, following: Following): Promise<void> {
    const found = await this.find(name, flags, '-f').catch((error: unknown) => {
      if (error instanceof CnabError && error.code === 'not-found') return error;
      throw error;
    });
    const known = found instanceof CnabError ? undefined : found;
    const run = flags.run === undefined ? undefined : runNamed(flags.run);
    const notes: string[] = [];
    const others = (): Promise<readonly FoundRun[]> => this.others(name, known, flags, following);
    const unfinished = known === undefined ? [] : (await surveyRuns(known.claims, known.installation)).unfinished;
    const meant = await meantRun({ run, to: 'look' }, known?.installation, unfinished, others, (error) =>
      notes.push(`note: ${unaskedNote(error)}`),
    );
    if (following.signal.aborted) return;
    await this.note(flags, notes);
    if (meant.kind === 'elsewhere') return await this.followElsewhere(name, meant.found, flags, following);
    if (found instanceof CnabError) throw found;
    const { claims, installation } = found;
    if (meant.kind === 'open') return await this.followOpen(claims, meant.run.record, flags, following);
    return await this.showStored(claims, installation, flags, following.show);
  }

  /** Runs that the target knows and this store does not. One of another driver was never there. */
  private async others(
    name: string,
    known: FoundInstallation | undefined,
    flags: LogFlags,
    { signal, driver: open }: Following,
  ): Promise<readonly FoundRun[]> {
    if (known !== undefined && known.target.driver !== driverOf(flags)) return [];
    const driver = await open();
    if (known !== undefined) await assertOn(known.target, driver, signal);
    return await unknownRuns(name, known?.installation, { driver, signal });
  }

  private async followOpen(
    claims: TargetClaims,
    record: ClaimRecord,
    flags: LogFlags,
    following: Following,
  ): Promise<void> {
    const { id, installation: name } = record.claim;
    const left = await claims.runLeft(id);
    const shown = left === undefined ? undefined : await openShown(left.logFile);
    try {
      if (shown !== undefined) {
        const isOver = async (): Promise<boolean> => {
          // One that cannot be seen from here may be gone for ever: the target knows how it goes on.
          const isWritten = (await claims.owner(name))?.isJudged === true;
          return !isWritten || !(await this.isOpen(claims, name, id));
        };
        const { clock } = this.parts;
        await tailFile(shown, { clock, signal: following.signal, show: following.show, isOver });
      }
      // A process that is on another machine, or dead by now, has settled it or has not.
      if (following.signal.aborted || !(await this.isOpen(claims, name, id))) return;
      await this.followOnTarget(claims, record, flags, following, shown).catch(async (error: unknown) => {
        // Its process may have recorded the end meanwhile; what it wrote is still open.
        const isGone = error instanceof CnabError && error.code === 'not-found';
        if (!isGone || (await this.isOpen(claims, name, id))) throw error;
        const { clock } = this.parts;
        const isOver = (): Promise<boolean> => Promise.resolve(true);
        if (shown !== undefined) await tailFile(shown, { ...following, clock, isOver });
      });
    } finally {
      await shown?.close();
    }
  }

  private async isOpen(claims: TargetClaims, name: string, run: string): Promise<boolean> {
    const installation = await claims.read(name);
    if (installation === undefined) return false;
    const { unfinished } = await surveyRuns(claims, installation);
    return (await meantRun({ run, to: 'look' }, installation, unfinished, () => Promise.resolve([]))).kind === 'open';
  }

  /** No process of this store is on it. */
  private async followOnTarget(
    claims: TargetClaims,
    { claim }: ClaimRecord,
    flags: LogFlags,
    following: Following,
    shown: ShownFile | undefined,
  ): Promise<void> {
    const { signal, show, driver: open } = following;
    const driver = await open();
    await assertOn(claims.target, driver, signal);
    const noted = readNote((await claims.runLeft(claim.id))?.state);
    const run = { runId: claim.id, state: noted.state };
    const state = await stateOf(claim.installation, run, { driver, signal });
    const complete = await followRun({ claim, state }, { driver, signal }, show, shown);
    await this.sayEnd(claim, claims.target, complete, flags, signal);
  }

  /** A run that another machine began: only its target knows it. */
  private async followElsewhere(
    name: string,
    runs: readonly FoundRun[],
    flags: LogFlags,
    { signal, show, driver: open }: Following,
  ): Promise<void> {
    const driver = await open();
    const context = { driver, signal, clock: this.parts.clock };
    const refused: CnabError[] = [];
    for await (const { claim, found, inputs } of usableRuns(runs, name, context, refused)) {
      for (const { message } of flags.quiet ? [] : refused) await this.say(`warning: ${message}.`);
      const complete = await followRun({ claim, state: found.state, inputs }, context, show);
      return await this.sayEnd(claim, await driver.target(signal), complete, flags, signal);
    }
    throw refused[0] ?? new CnabError('not-found', `no run of "${name}" is there any more`);
  }

  private async sayEnd(
    claim: Claim,
    target: TargetClaims['target'],
    complete: boolean,
    flags: LogFlags,
    signal: AbortSignal,
  ): Promise<void> {
    if (signal.aborted || flags.quiet) return;
    if (!complete) await this.say(`note: a part of the log of ${claim.action} (run ${claim.id}) is missing`);
    const command = takeUpCommand('resume', claim.installation, target, `--run ${claim.id}`);
    await this.say(
      `note: ${claim.action} (run ${claim.id}) has ended; unless somebody else is on it, complete its record: ${command}`,
    );
  }

  /** Gives `body` what opens the driver that the flags name, once and only if it is asked. */
  private async onTarget<T>(flags: LogFlags, body: (driver: Following['driver']) => Promise<T>): Promise<T> {
    const { home, parts, surroundings } = this;
    let opened: Promise<Driver> | undefined;
    try {
      return await body(
        () =>
          (opened ??= parts.openDriver(driverOf(flags), settingsOf(flags), {
            ...{ home, surroundings, version: this.config.version },
            onPluginOutput: (chunk) => void this.passOn(chunk),
          })),
      );
    } finally {
      const driver = await opened?.catch(() => undefined);
      await driver?.close();
    }
  }
}

function driverOf({ driver }: LogFlags): string {
  return driver ?? 'kubernetes';
}

/** Rejects with CnabError `invalid` where the flags name another target, which knows nothing of what is recorded for this one. */
async function assertOn(target: Target, driver: Driver, signal: AbortSignal): Promise<void> {
  const here = await driver.target(signal);
  if (here.id === target.id) return;
  throw new CnabError('invalid', `the record is of ${describeTarget(target)}, not of ${describeTarget(here)}`, {
    suggestions: [`add ${flagsFor(target)}`],
  });
}
