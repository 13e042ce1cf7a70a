import { createHash, randomBytes } from 'node:crypto';
import { open, readFile, rename, unlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { FILE_MODE, linkNew, tempBeside } from './atomic-write.js';
import { ignoreMissing, isMissing } from './disk-error.js';
import type { StoreClock } from './store-options.js';
import { factsOf, isDead, parseOwner, type LockOwner, type ProcessFacts, type ProcessProbe } from './owner.js';

const RETRY_MS = 50;
/** How often a lock file without a whole owner document is read before it counts as left behind by a crash: 2 s. */
const HALF_WRITTEN_READS = 40;
/** How often to start again when the lock changes hands meanwhile. */
const ATTEMPTS = 20;
/** Guards of guards: one more for each process that died while it took over a dead one's lock. */
const MAX_GUARDS = 8;

export type LockAttempt =
  | { readonly got: true; readonly tookOver: boolean; readonly release: () => Promise<void> }
  /** `owner` is undefined where the lock changes hands all the time. */
  | { readonly got: false; readonly owner: LockOwner | undefined; readonly facts: ProcessFacts };

export interface LockContext {
  readonly probe: ProcessProbe;
  readonly clock: StoreClock;
}

/**
 * Takes the lock file `path` (its folder exists) or says who has it. Rejects with errno errors.
 *
 * The file appears whole, by link(2). A dead owner's file is replaced by rename(2), and only under a guard: a lock
 * file of its own, named after the very document that was judged. So of two processes that find the same dead owner
 * one replaces it, and the other, which gets the guard later, finds a document that it did not judge.
 */
export async function takeLock(path: string, purpose: string, context: LockContext, depth = 0): Promise<LockAttempt> {
  const facts = await factsOf(context.probe);
  const own: LockOwner = {
    token: randomBytes(16).toString('hex'),
    ...facts,
    purpose,
    since: new Date(context.clock.now()).toISOString(),
  };
  const temp = tempBeside(path);
  try {
    for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
      await writeOwner(temp, own);
      const outcome = await attemptOnce(path, temp, own, context, depth);
      if (outcome !== 'changed') return outcome;
      await unlink(temp).catch(ignoreMissing);
      await context.clock.sleep(RETRY_MS);
    }
    return { got: false, owner: undefined, facts };
  } finally {
    await unlink(temp).catch(() => undefined);
  }
}

/** The owner of the lock file `path` where it is not known to be dead. Takes nothing over. Rejects with errno errors. */
export async function liveOwner(
  path: string,
  { probe }: Pick<LockContext, 'probe'>,
): Promise<{ readonly owner: LockOwner; readonly facts: ProcessFacts } | undefined> {
  const owner = parseOwner((await readText(path)) ?? '');
  if (owner === undefined) return undefined;
  const facts = await factsOf(probe);
  return (await isDead(owner, facts, probe, dirname(path))) ? undefined : { owner, facts };
}

/** `changed`: the lock was released or taken over while it was looked at. */
async function attemptOnce(
  path: string,
  temp: string,
  own: LockOwner,
  context: LockContext,
  depth: number,
): Promise<LockAttempt | 'changed'> {
  if (await linkNew(temp, path)) return await confirmed(path, own, false);
  const found = await readOwner(path, context);
  if (found === 'gone') return 'changed';
  const { owner, text } = found;
  const dead = owner === undefined || (await isDead(owner, own, context.probe, dirname(path)));
  if (!dead || depth >= MAX_GUARDS) return { got: false, owner, facts: own };

  const guard = await takeLock(guardOf(path, text), `take over: ${own.purpose}`, context, depth + 1);
  if (!guard.got) return 'changed';
  try {
    if ((await readText(path)) !== text) return 'changed';
    await rename(temp, path);
    return await confirmed(path, own, true);
  } finally {
    await guard.release();
  }
}

async function confirmed(path: string, own: LockOwner, tookOver: boolean): Promise<LockAttempt> {
  // Where link(2) is missing two processes can both think that they were first; the file knows.
  const owner = parseOwner((await readText(path)) ?? '');
  if (owner?.token !== own.token) return { got: false, owner, facts: own };
  let released = false;
  return {
    got: true,
    tookOver,
    release: async () => {
      if (released) return;
      released = true;
      if (parseOwner((await readText(path)) ?? '')?.token === own.token) await unlink(path).catch(ignoreMissing);
    },
  };
}

interface Found {
  readonly text: string;
  /** Undefined where the document stayed half written. */
  readonly owner: LockOwner | undefined;
}

/** Gives a document that is not whole a little time, in case its writer is still at it. */
async function readOwner(path: string, { clock }: LockContext): Promise<Found | 'gone'> {
  for (let read = 1; ; read += 1) {
    const text = await readText(path);
    if (text === undefined) return 'gone';
    const owner = parseOwner(text);
    if (owner !== undefined || read >= HALF_WRITTEN_READS) return { text, owner };
    await clock.sleep(RETRY_MS);
  }
}

function guardOf(path: string, judged: string): string {
  const hash = createHash('sha256')
    .update(`${basename(path)}\0${judged}`)
    .digest('hex');
  return join(dirname(path), `.guard-${hash.slice(0, 32)}`);
}

async function writeOwner(path: string, owner: LockOwner): Promise<void> {
  const file = await open(path, 'wx', FILE_MODE);
  try {
    await file.writeFile(`${JSON.stringify(owner)}\n`);
  } finally {
    await file.close();
  }
}

async function readText(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}
