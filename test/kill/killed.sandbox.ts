import { tryCancel, type Cancel } from './cancel.js';
import { randomFrom } from './moments.js';
import type { Place } from './place.js';
import { sandboxPlace } from './sandbox-place.js';
import { SHAPES } from './shapes.js';
import { drawTrial, referenceRun, tryKill, type Reference } from './trial.js';

/** Another one for each run of the tests; a failure names it. */
const SEED = Number(process.env['CNAB_KILL_SEED'] ?? Date.now() % 1_000_000);
const TRIALS = 12;
/** They wait most of their time. */
const AT_A_TIME = 4;

const CANCELS: readonly Omit<Cancel, 'installation'>[] = [
  { moment: { after: 'start', ms: 200 }, to: 'group', stubborn: true },
  { moment: { after: 'start', ms: 200 }, to: 'shell', stubborn: false },
];

describe('a command that is killed', function () {
  this.timeout(90_000);
  let place: Place;
  let ends: Promise<void>[] = [];

  before(async () => {
    place = await sandboxPlace();
    const references = await Promise.all(
      SHAPES.map((shape) => referenceRun(place, shape, `undisturbed-${shape.name}`)),
    );
    const of = (index: number): Reference => references[index % references.length] as Reference;
    const cancels = CANCELS.map((cancel, index) => async () => {
      await tryCancel(place, of(0), { ...cancel, installation: `canceled-${index}` });
    });
    const kills = Array.from({ length: TRIALS }, (_, index) => async () => {
      const trial = drawTrial(of(index), `app-${index}`, place, randomFrom(SEED * 1000 + index));
      await tryKill(place, of(index), trial);
    });
    ends = someAtATime([...cancels, ...kills]);
  });
  after(async () => {
    await Promise.allSettled(ends);
    await place.close();
  });

  for (const [index, { to }] of CANCELS.entries()) {
    const whom = to === 'group' ? 'all its processes' : 'its shell alone';
    it(`scenario 20: as CI cancels a step, SIGINT, SIGTERM, SIGKILL to ${whom}, is settled by resume and ran once`, () =>
      ends[index]);
  }
  for (let index = 0; index < TRIALS; index++) {
    it(`scenario 20: leaves a run that resume ends as if nothing had been (seed ${SEED}, kill ${index})`, () =>
      ends[CANCELS.length + index]);
  }
});

/** Starts a few; each that ends makes room for the next one. */
function someAtATime(tasks: readonly (() => Promise<void>)[]): Promise<void>[] {
  let begun = 0;
  const starts: (() => void)[] = [];
  const next = (): void => starts[begun++]?.();
  const ends = tasks.map(async (task) => {
    await new Promise<void>((resolve) => starts.push(resolve));
    try {
      await task();
    } finally {
      next();
    }
  });
  // The tests that wait for them come one after the other.
  for (const end of ends) end.catch(() => undefined);
  for (let count = 0; count < AT_A_TIME; count++) next();
  return ends;
}
