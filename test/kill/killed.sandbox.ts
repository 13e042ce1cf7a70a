import assert from 'node:assert/strict';
import { tryCancel, type Cancel } from './cancel.js';
import { randomFrom } from './moments.js';
import type { Place } from './place.js';
import { sandboxPlace } from './sandbox-place.js';
import { SHAPES } from './shapes.js';
import { drawTrial, referenceRun, surelyKilled, tryKill, type Reference, type Trial, type TrialEnd } from './trial.js';

/** Another one for each run of the tests; a failure names it. */
const SEED = Number(process.env['CNAB_KILL_SEED'] ?? Date.now() % 1_000_000);
const TRIALS = 12;
/** So many kills at least are to find a run that has begun and is not over, or the others prove little. */
const LEAST_EQUAL = 7;
/** They wait most of their time. */
const AT_A_TIME = 4;

const CANCELS: readonly Omit<Cancel, 'installation'>[] = [
  { moment: { after: 'start', ms: 200 }, to: 'group', stubborn: true },
  { moment: { after: 'start', ms: 200 }, to: 'shell', stubborn: false },
];

describe('a command that is killed', function () {
  this.timeout(300_000);
  let place: Place;
  let ends: Promise<void>[] = [];
  const kinds: TrialEnd['kind'][] = [];
  let killMore: () => Promise<void>;

  before(async () => {
    place = await sandboxPlace();
    const references = await Promise.all(
      SHAPES.map((shape) => referenceRun(place, shape, `undisturbed-${shape.name}`)),
    );
    const of = (index: number): Reference => references[index % references.length] as Reference;
    const cancels = CANCELS.map((cancel, index) => async () => {
      await tryCancel(place, of(0), { ...cancel, installation: `canceled-${index}` });
    });
    const kill = async (index: number, trial: Trial): Promise<void> => {
      const { kind } = await tryKill(place, of(index), trial);
      kinds.push(kind);
    };
    const kills = Array.from({ length: TRIALS }, (_, index) => async () => {
      await kill(index, drawTrial(of(index), `app-${index}`, place, randomFrom(SEED * 1000 + index)));
    });
    killMore = () => kill(kinds.length, surelyKilled({ installation: `more-${kinds.length}` }));
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
  it(`scenario 20: has been killed in a run that had begun, ${LEAST_EQUAL} times at least (seed ${SEED})`, async () => {
    await Promise.all(ends);
    const equal = (): number => kinds.filter((kind) => kind === 'equal').length;
    for (let more = 0; more < LEAST_EQUAL && equal() < LEAST_EQUAL; more++) await killMore();
    assert.ok(equal() >= LEAST_EQUAL, kinds.join());
  });
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
