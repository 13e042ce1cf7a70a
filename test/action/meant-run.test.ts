import assert from 'node:assert/strict';
import { LAST_RUN, meantRun, type RunQuestion } from '../../src/action/meant-run.js';
import type { UnfinishedRun } from '../../src/action/unfinished.js';
import type { ClaimRecord, Installation } from '../../src/claim/claim.js';
import type { FoundRun } from '../../src/driver/driver.js';
import { CnabError } from '../../src/errors.js';
import { APP } from './stage.js';

type Lacks = UnfinishedRun['lacks'];

/** Runs are begun at the seconds 1 to 9; ids sort by that. */
const idOf = (second: number): string => `01ARZ3NDEKTSV4RRFFQ69G000${second}`;
const claimOf = (second: number): ClaimRecord['claim'] => ({
  ...{ schemaVersion: '1.0.0', id: idOf(second), installation: 'app', revision: idOf(second) },
  ...{ created: new Date(second * 1000).toISOString(), action: 'upgrade', bundle: APP, parameters: {} },
});
const foundOf = (second: number, stateless?: true): FoundRun => ({
  ...{ runId: idOf(second), action: 'upgrade', created: second * 1000, state: {} },
  ...(stateless && { stateless }),
});

/** What is known: recorded runs, by their second, with what each lacks; and those of the target, newest first. */
interface Known {
  readonly recorded?: readonly (readonly [second: number, lacks?: Lacks])[];
  readonly others?: readonly FoundRun[] | CnabError;
}

async function meant(question: RunQuestion, { recorded, others = [] }: Known): Promise<readonly unknown[]> {
  const records = (recorded ?? []).map(([second]): ClaimRecord => ({ claim: claimOf(second), results: [] }));
  const installation: Installation | undefined = recorded === undefined ? undefined : { name: 'app', records };
  const unfinished = (recorded ?? [])
    .flatMap(([, lacks], index): UnfinishedRun[] => {
      const record = records[index];
      return lacks === undefined || record === undefined
        ? []
        : [{ record, lacks, note: { state: {} }, left: undefined }];
    })
    .toReversed();
  const ask = () => (others instanceof CnabError ? Promise.reject(others) : Promise.resolve(others));
  const told = await meantRun(question, installation, unfinished, ask, () => undefined);
  const secondOf = (id: string): number => Number(id.at(-1));
  if (told.kind === 'open') return ['open', secondOf(told.run.record.claim.id)];
  if (told.kind === 'ended') return ['ended', secondOf(told.record.claim.id)];
  return told.kind === 'none' ? ['none'] : ['elsewhere', ...told.found.map(({ runId }) => secondOf(runId))];
}

const away = new CnabError('unavailable', 'the cluster is away');

describe('the run that a command is about', () => {
  // What is known; what is meant to look (wait, logs -f), to settle (resume), by the newest to look, and to settle.
  const table: readonly (readonly [string, Known, ...(readonly (readonly unknown[])[])])[] = [
    ['nothing at all', {}, ['none'], ['none'], ['none'], ['none']],
    ['an installation without runs', { recorded: [] }, ['none'], ['none'], ['none'], ['none']],
    ['one that has ended', { recorded: [[1]] }, ['ended', 1], ['ended', 1], ['ended', 1], ['ended', 1]],
    [
      'an older one that is open',
      { recorded: [[1, 'end'], [2]] },
      ['open', 1],
      ['open', 1],
      ['ended', 2],
      ['ended', 2],
    ],
    [
      'one whose outputs can be fetched',
      { recorded: [[1, 'outputs']] },
      ['ended', 1],
      ['open', 1],
      ['ended', 1],
      ['open', 1],
    ],
    [
      'one that never began',
      { recorded: [[1, 'start']], others: away },
      ['open', 1],
      ['open', 1],
      ['open', 1],
      ['open', 1],
    ],
    [
      'one of another machine alone',
      { others: [foundOf(2), foundOf(1)] },
      ['elsewhere', 2, 1],
      ['elsewhere', 2, 1],
      ['elsewhere', 2, 1],
      ['elsewhere', 2, 1],
    ],
    [
      'a newer one of another machine',
      { recorded: [[1]], others: [foundOf(2)] },
      ['elsewhere', 2],
      ['elsewhere', 2],
      ['elsewhere', 2],
      ['elsewhere', 2],
    ],
    [
      'an older one of another machine',
      { recorded: [[2]], others: [foundOf(1)] },
      ['ended', 2],
      ['elsewhere', 1],
      ['ended', 2],
      ['ended', 2],
    ],
    [
      'a newer one of another machine, and one here that is open',
      { recorded: [[1, 'end']], others: [foundOf(2)] },
      ['open', 1],
      ['open', 1],
      ['elsewhere', 2],
      ['elsewhere', 2],
    ],
    [
      'a newer one that leaves no record',
      { recorded: [[1]], others: [foundOf(2, true)] },
      ['ended', 1],
      ['ended', 1],
      ['ended', 1],
      ['ended', 1],
    ],
    [
      'others alone, one of which leaves no record',
      { others: [foundOf(2, true), foundOf(1)] },
      ['elsewhere', 1, 2],
      ['elsewhere', 1],
      ['elsewhere', 1, 2],
      ['elsewhere', 1],
    ],
    [
      'a target that is away',
      { recorded: [[1]], others: away },
      ['ended', 1],
      ['ended', 1],
      ['ended', 1],
      ['ended', 1],
    ],
  ];
  for (const [what, known, look, settle, lookLast, settleLast] of table) {
    it(`is told by one rule where there is ${what}`, async () => {
      assert.deepEqual(
        [
          await meant({ run: undefined, to: 'look' }, known),
          await meant({ run: undefined, to: 'settle' }, known),
          await meant({ run: LAST_RUN, to: 'look' }, known),
          await meant({ run: LAST_RUN, to: 'settle' }, known),
        ],
        [look, settle, lookLast, settleLast],
      );
    });
  }

  it('is the one that is named, whatever else there is', async () => {
    const known: Known = { recorded: [[1], [3, 'end'], [4]], others: [foundOf(5), foundOf(2, true)] };
    for (const to of ['look', 'settle'] as const) {
      const told = await Promise.all([1, 2, 3, 4, 5, 6].map((second) => meant({ run: idOf(second), to }, known)));
      assert.deepEqual(told, [['ended', 1], ['elsewhere', 2], ['open', 3], ['ended', 4], ['elsewhere', 5], ['none']]);
    }
  });

  it('is not known where only the target can tell, and does not', async () => {
    for (const run of [undefined, LAST_RUN]) await assert.rejects(meant({ run, to: 'look' }, { others: away }), away);
    await assert.rejects(meant({ run: idOf(2), to: 'look' }, { recorded: [[1]], others: away }), away);
  });
});
