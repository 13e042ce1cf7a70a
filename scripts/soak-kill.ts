// Kills the command at random moments and takes its run up again, until all is settled: equal to the undisturbed run, with the run tool
// started once, or not run at all (npm run soak:kill). Prints what it does, and exits with 1 where that does not hold, or where less than
// half of the kills found a run that had begun.
//
//   --on sandbox|node  default sandbox; the node is test/cluster/up's, one that is up is used (CNAB_CLUSTER_DIR)
//   --runs N           kills: default 200, on the node 20; a command that was faster than its kill does not count
//   --cancels N        cancels as a CI system does them: default 12, on the node 4
//   --seed N           the same kills again; --from I: from the trial with this number on
//   --jobs N           trials at a time, default 2
//   --only SHAPE       small, exec or log instead of all three
import { drawMoment, randomFrom } from '../test/kill/moments.js';
import type { Place } from '../test/kill/place.js';
import { sandboxPlace } from '../test/kill/sandbox-place.js';
import { SHAPES } from '../test/kill/shapes.js';
import { drawTrial, referenceRun, tryKill, type Reference, type Trial } from '../test/kill/trial.js';
import { tryCancel, type Cancel } from '../test/kill/cancel.js';
import { option } from './on-node/figures.js';
import { onNode } from './on-node/inside.js';

const SEED = Number(option('seed') ?? Date.now() % 1_000_000);
const FROM = Number(option('from') ?? 0);
const JOBS = Number(option('jobs') ?? 2);

if (option('on') === 'node') {
  await onNode(import.meta.url, async () => {
    const { nodePlace } = await import('../test/kill/node-place.js');
    return soak(await nodePlace(), Number(option('runs') ?? 20), Number(option('cancels') ?? 4));
  });
} else {
  const holds = await soak(await sandboxPlace(), Number(option('runs') ?? 200), Number(option('cancels') ?? 12));
  process.exitCode = holds ? 0 : 1;
}

async function soak(place: Place, kills: number, cancels: number): Promise<boolean> {
  try {
    const references: Reference[] = [];
    for (const shape of SHAPES.filter(({ name }) => name === (option('only') ?? name))) {
      const reference = await referenceRun(place, shape, `undisturbed-${shape.name}`);
      const { untilStart, running, settling } = reference.timeline;
      console.log(`undisturbed ${shape.name}: start ${ms(untilStart)}, run ${ms(running)}, end ${ms(settling)}`);
      references.push(reference);
    }
    console.log(`seed ${SEED}, ${place.name}, ${kills} kills, ${cancels} cancels, ${JOBS} at a time`);
    const killed = await killMany(place, references, kills);
    const canceled = await cancelMany(place, references, cancels);
    console.log(`\nkills:   ${summary(killed)}\ncancels: ${summary(canceled)}`);
    const equal = killed.get('equal') ?? 0;
    const tried = equal + (killed.get('not-run') ?? 0);
    if (tried < kills) console.log(`FAILED: ${tried} of ${kills} kills were tried`);
    if (equal < kills / 2) console.log(`FAILED: ${equal} of ${kills} kills found a run that had begun`);
    return tried >= kills && equal >= kills / 2 && !killed.has('FAILED') && !canceled.has('FAILED');
  } finally {
    await place.close();
  }
}

/** How often each end came. */
async function killMany(place: Place, references: readonly Reference[], wanted: number): Promise<Map<string, number>> {
  const ends = new Map<string, number>();
  let next = FROM;
  let done = 0;
  await Promise.all(
    Array.from({ length: JOBS }, async () => {
      // A place where every command is over before its kill would be tried for ever.
      while (done < wanted && next < FROM + 3 * wanted) {
        const index = next++;
        done += 1;
        const random = randomFrom(SEED * 1000 + index);
        const reference = at(references, index);
        const trial = drawTrial(reference, `app-${index}`, place, random);
        const end = await attempt(() => tryKill(place, reference, trial));
        const kind = end instanceof Error ? 'FAILED' : end.kind;
        if (kind === 'over') done -= 1;
        ends.set(kind, (ends.get(kind) ?? 0) + 1);
        const resumes = end instanceof Error ? '' : `, ${end.resumes} resumes`;
        console.log(`kill ${index} ${reference.shape.name}, ${momentOf(trial)}: ${kind}${resumes}`);
        if (end instanceof Error) console.log(end.message);
      }
    }),
  );
  return ends;
}

async function cancelMany(
  place: Place,
  references: readonly Reference[],
  wanted: number,
): Promise<Map<string, number>> {
  const ends = new Map<string, number>();
  let next = FROM;
  await Promise.all(
    Array.from({ length: JOBS }, async () => {
      while (next < FROM + wanted) {
        const index = next++;
        const random = randomFrom(SEED * 1000 + 500_000 + index);
        const reference = at(references, index);
        const cancel: Cancel = {
          installation: `canceled-${index}`,
          // Most of them while it runs: only then is there something to stop.
          moment:
            random() < 0.6
              ? { after: 'start', ms: Math.round(random() * 900) }
              : drawMoment(reference.timeline, random),
          to: index % 2 === 0 ? 'group' : 'shell',
          stubborn: random() < 0.6,
        };
        const end = await attempt(() => tryCancel(place, reference, cancel));
        const kind = end instanceof Error ? 'FAILED' : `${end.status}${end.killed ? ', killed' : ''}`;
        ends.set(kind, (ends.get(kind) ?? 0) + 1);
        console.log(`cancel ${index} ${JSON.stringify(cancel)}: ${kind}`);
        if (end instanceof Error) console.log(end.message);
      }
    }),
  );
  return ends;
}

async function attempt<T>(act: () => Promise<T>): Promise<T | Error> {
  try {
    return await act();
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

function at(references: readonly Reference[], index: number): Reference {
  const reference = references[index % references.length];
  if (reference === undefined) throw new Error('there is no reference');
  return reference;
}

function momentOf({ moment, againAfterMs, resumeIn }: Trial): string {
  const again = againAfterMs === undefined ? '' : `, resume killed after ${againAfterMs} ms`;
  const where = resumeIn === 'empty' ? ', taken up from an empty home' : '';
  return `${moment.ms} ms after the ${moment.after}${again}${where}`;
}

function summary(ends: ReadonlyMap<string, number>): string {
  return [...ends].map(([kind, count]) => `${count} ${kind}`).join(', ');
}

function ms(value: number): string {
  return `${value.toFixed(0)} ms`;
}
