import { checkInstallationName } from '../bundle/names.js';
import type { LiveOwner, TargetClaims } from '../claim/claim-store.js';
import type { ClaimRecord } from '../claim/claim.js';
import { InUse, lockAdvice } from '../claim/in-use.js';
import { processOf } from '../claim/owner.js';
import { CnabError } from '../errors.js';
import { unknownRuns } from './adopt.js';
import { HeldElsewhere } from './hold.js';
import { leftError, lookOn, type LookedOn, type SeenRun } from './look-on.js';
import { meantRun, unaskedNote, type MeantRun } from './meant-run.js';
import type { ActionContext } from './request.js';
import { resumeAction, type Resumed, type ResumeRequest } from './resume-action.js';
import { checkNamedOutputs } from './named-outputs.js';
import { readNote } from './run-note.js';
import { stateOf, surveyRuns } from './unfinished.js';

/** How often the record of a run is looked at that a live process is on. */
const LOOK_MS = 500;
/** The same where its process cannot be seen from here, and its target is asked too. */
const UNSEEN_LOOK_MS = 2000;
/** How long the record of a run that has ended is waited for, where nobody can tell whether its process lives. */
const RECORD_MS = 60_000;

export type Waited = Resumed | LookedOn;

/**
 * Waits until a run has an end: the newest without one, else the newest. What a live process is on is waited for by its
 * record; what no process is on is taken up as `resumeAction` does. A run of another machine, and one whose process cannot be
 * seen from here, is only looked at.
 *
 * Rejects as `resumeAction` does but for `busy`, as `lookOn` does, and with `interrupted` when `context.signal` ends the waiting.
 */
export async function waitForRun(
  request: Pick<ResumeRequest, 'installation' | 'runId' | 'namedOutputs'>,
  context: ActionContext,
): Promise<Waited> {
  checkInstallationName(request.installation);
  const claims = context.store.on(await context.driver.target(context.signal));
  return await new Waiting(request.installation, request.namedOutputs ?? [], claims, context).run(request.runId);
}

class Waiting {
  #isWarned = false;
  #pauseMs = LOOK_MS;
  /** Since when the run has no end in the record though there is none to wait for on its target. */
  #since: number | undefined;
  #looked: LookedOn | undefined;

  constructor(
    private readonly name: string,
    private readonly namedOutputs: readonly string[],
    private readonly claims: TargetClaims,
    private readonly context: ActionContext,
  ) {}

  async run(asked: string | undefined): Promise<Waited> {
    const { name, claims, context } = this;
    for (let run = asked; ;) {
      const meant = await this.#meant(run);
      const known = meant.kind === 'open' ? meant.run.record : meant.kind === 'ended' ? meant.record : undefined;
      // Before the waiting, not after it.
      if (known !== undefined) checkNamedOutputs(this.namedOutputs, known.claim.bundle);
      if (meant.kind === 'ended') return { ...meant, claims };
      const [seen] = meant.kind === 'elsewhere' ? meant.found : [];
      if (seen !== undefined) return await lookOn({ ...seen, installation: name }, claims.target, context);
      // It stays the one that was meant, also where the next action begins at once.
      run = known?.claim.id ?? run;
      const ended = await this.#step(run, known);
      if (ended !== undefined) return ended;
      await context.clock.sleep(this.#pauseMs, context.signal).catch(() => undefined);
      if (context.signal.aborted) throw leftError(name);
    }
  }

  /** Of an ended run it is told also where nobody can ask the target for a later one. */
  async #meant(run: string | undefined): Promise<MeantRun> {
    const { name, claims, context } = this;
    const installation = await claims.read(name);
    const unfinished = installation === undefined ? [] : (await surveyRuns(claims, installation)).unfinished;
    const others = (): ReturnType<typeof unknownRuns> => unknownRuns(name, installation, context);
    return await meantRun({ run, to: 'look' }, installation, unfinished, others, (error) =>
      context.events.onWarning(unaskedNote(error)),
    );
  }

  /** Undefined: it is to be looked at again. */
  async #step(runId: string | undefined, record: ClaimRecord | undefined): Promise<Waited | undefined> {
    const { name, claims, context } = this;
    const owner = await claims.owner(name);
    if (owner !== undefined) return await this.#owned(owner, record);
    try {
      const { namedOutputs } = this;
      return await resumeAction({ installation: name, namedOutputs, cancel: false, ...(runId && { runId }) }, context);
    } catch (error) {
      if (!(error instanceof CnabError) || error.code !== 'busy') throw error;
      if (error instanceof HeldElsewhere && record !== undefined) {
        return await lookOn(await this.#seen(record), claims.target, context);
      }
      const holder = error instanceof InUse ? error.owner : undefined;
      return holder === undefined ? undefined : await this.#owned(holder, record);
    }
  }

  async #owned(owner: LiveOwner, record: ClaimRecord | undefined): Promise<LookedOn | undefined> {
    const { context } = this;
    const who = processOf(owner);
    if (owner.isJudged) {
      context.events.onProgress({ phase: 'running', detail: `${who} is on it` });
      return undefined;
    }
    const advice = lockAdvice(owner);
    if (!this.#isWarned) {
      context.events.onWarning(`${who} (${owner.purpose} since ${owner.since}) has "${this.name}" locked: ${advice}`);
    }
    this.#isWarned = true;
    this.#pauseMs = UNSEEN_LOOK_MS;
    return await this.#unseen(record, who, advice);
  }

  /** The process may be at it yet, or be gone for ever: the target tells how the run ended, and some time later that counts. */
  async #unseen(record: ClaimRecord | undefined, who: string, advice: string): Promise<LookedOn | undefined> {
    const { context, name } = this;
    if (record !== undefined) this.#looked ??= await this.#look(record);
    const now = context.clock.now();
    this.#since ??= now;
    context.events.onProgress({ phase: 'cleaning-up', detail: `for ${who} to record how it ended` });
    if (now - this.#since < RECORD_MS) return undefined;
    if (this.#looked !== undefined) return { ...this.#looked, next: `its record has no end: ${advice}` };
    const what = record === undefined ? `no run of "${name}"` : `nothing of run ${record.claim.id} of "${name}"`;
    const message = `${what} is to be found, and whether ${who} still is on it cannot be seen from here.`;
    throw new CnabError('busy', message, { suggestions: [advice] });
  }

  /** Undefined where nothing of it is on the target. */
  async #look(record: ClaimRecord): Promise<LookedOn | undefined> {
    return await lookOn(await this.#seen(record), this.claims.target, this.context).catch((error: unknown) => {
      if (error instanceof CnabError && error.code === 'contact-lost') return undefined;
      throw error;
    });
  }

  async #seen({ claim }: ClaimRecord): Promise<SeenRun> {
    const { installation, action, id: runId } = claim;
    const noted = readNote((await this.claims.runLeft(runId).catch(() => undefined))?.state).state;
    const state = await stateOf(installation, { runId, state: noted }, this.context);
    return { runId, installation, action, state };
  }
}
