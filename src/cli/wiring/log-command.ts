import { createReadStream } from 'node:fs';
import { usableRuns } from '../../action/adopt.js';
import { followRun } from '../../action/follow-run.js';
import { describeTarget, flagsFor } from '../../action/refuse.js';
import { readNote } from '../../action/run-note.js';
import { stateOf, takeUpCommand } from '../../action/unfinished.js';
import type { TargetClaims } from '../../claim/claim-store.js';
import type { Claim, ClaimRecord, Installation } from '../../claim/claim.js';
import { isUnsettled, lastRun, unsettled } from '../../claim/status.js';
import type { Driver } from '../../driver/driver.js';
import { CnabError } from '../../errors.js';
import { exitCodeOf, SUCCEEDED, type ExitCode } from '../exit-codes.js';
import { audienceOf, logGuard } from '../log-guard.js';
import { settingsOf } from '../settings.js';
import { stopSignals, type Signal } from '../signals.js';
import { write } from '../write.js';
import type { TargetChoice } from './find-installation.js';
import { findLog } from './find-log.js';
import { runOf } from './find-run.js';
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
    const following: Following = { signal, show };
    const found = await this.find(name, flags, '-f').catch((error: unknown) => {
      if (error instanceof CnabError && error.code === 'not-found') return error;
      throw error;
    });
    if (found instanceof CnabError) await this.followUnknown(name, flags, following, found);
    else await this.followKnown(found.claims, found.installation, flags, following);
    if (left === undefined) return SUCCEEDED;
    return left === 'SIGHUP' ? exitCodeOf('contact-lost') : exitCodeOf('interrupted', left);
  }

  private async followKnown(
    claims: TargetClaims,
    installation: Installation,
    flags: LogFlags,
    following: Following,
  ): Promise<void> {
    const { name } = installation;
    const record =
      flags.run === undefined ? (unsettled(installation) ?? lastRun(installation)) : runOf(installation, flags.run);
    if (record === undefined || !isUnsettled(record)) {
      return await this.showStored(claims, installation, flags, following.show);
    }
    const { id } = record.claim;
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

  private async isOpen(claims: TargetClaims, name: string, runId: string): Promise<boolean> {
    const record = (await claims.read(name))?.records.find(({ claim }) => claim.id === runId);
    return record !== undefined && isUnsettled(record);
  }

  /** No process of this store is on it. */
  private async followOnTarget(
    claims: TargetClaims,
    { claim }: ClaimRecord,
    flags: LogFlags,
    following: Following,
    shown: ShownFile | undefined,
  ): Promise<void> {
    await this.onDriver(flags, async (driver) => {
      const here = await driver.target(following.signal);
      if (here.id !== claims.target.id) {
        throw new CnabError(
          'invalid',
          `the run is on ${describeTarget(claims.target)}, not on ${describeTarget(here)}`,
          {
            suggestions: [`add ${flagsFor(claims.target)}`],
          },
        );
      }
      const noted = readNote((await claims.runLeft(claim.id))?.state);
      const run = { runId: claim.id, state: noted.state };
      const state = await stateOf(claim.installation, run, { driver, signal: following.signal });
      const complete = await followRun({ claim, state }, { driver, signal: following.signal }, following.show, shown);
      await this.sayEnd(claim, claims.target, complete, flags, following.signal);
    });
  }

  /** A run that another machine began: only its target knows it. */
  private async followUnknown(name: string, flags: LogFlags, following: Following, unknown: CnabError): Promise<void> {
    const { signal, show } = following;
    await this.onDriver(flags, async (driver) => {
      const context = { driver, signal, clock: this.parts.clock };
      const refused: CnabError[] = [];
      for await (const run of usableRuns(name, flags.run?.toUpperCase(), undefined, context, refused)) {
        const { claim, found, inputs } = run;
        for (const { message } of flags.quiet ? [] : refused) await this.say(`warning: ${message}.`);
        const complete = await followRun({ claim, state: found.state, inputs }, context, show);
        return await this.sayEnd(claim, await driver.target(signal), complete, flags, signal);
      }
      throw refused[0] ?? unknown;
    });
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
    const command = takeUpCommand('resume', claim.installation, target);
    await this.say(
      `note: ${claim.action} (run ${claim.id}) has ended; unless somebody else is on it, complete its record: ${command}`,
    );
  }

  private async onDriver(flags: LogFlags, body: (driver: Driver) => Promise<void>): Promise<void> {
    const { home, parts, surroundings } = this;
    const driver = await parts.openDriver(flags.driver ?? 'kubernetes', settingsOf(flags), {
      ...{ home, surroundings, version: this.config.version },
      onPluginOutput: (chunk) => void this.say(Buffer.from(chunk).toString().trimEnd()),
    });
    try {
      await body(driver);
    } finally {
      await driver.close();
    }
  }
}
