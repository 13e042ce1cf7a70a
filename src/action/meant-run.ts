import type { ClaimRecord, Installation } from '../claim/claim.js';
import { lastRun } from '../claim/status.js';
import type { FoundRun } from '../driver/driver.js';
import { CnabError } from '../errors.js';
import type { UnfinishedRun } from './unfinished.js';

/** Names the newest run, whether it has an end or not. No run has it for its id. */
export const LAST_RUN = 'last';

export interface RunQuestion {
  /** An id, or `LAST_RUN`; undefined: nobody has named one. */
  readonly run: string | undefined;
  /** `look`: its end is wanted, or its log. `settle`: it is to be brought to its end, and its outputs are wanted too. */
  readonly to: 'look' | 'settle';
}

/** `open`: it is recorded, and more of it is to come. `elsewhere`: runs that the target alone knows, the likeliest first. */
export type MeantRun =
  | { readonly kind: 'open'; readonly run: UnfinishedRun }
  | { readonly kind: 'elsewhere'; readonly found: readonly FoundRun[] }
  | { readonly kind: 'ended'; readonly record: ClaimRecord }
  | { readonly kind: 'none' };

/**
 * Which run a command is about. One that is named is that one, recorded or not. Else it is, in this order: the newest that is
 * recorded and open; of those that only the target knows the newest, where it leaves a record and, to `look`, is newer than all
 * that is recorded; the newest that is recorded. Where nothing is recorded one that leaves no record can be looked at too.
 * `LAST_RUN` is the newest of both, open or not.
 *
 * `unfinished` as `surveyRuns` gives it; `others` asks the target and is called only where its answer counts. Rejects as it does,
 * but where `onUnasked` takes the error and a recorded run can do instead.
 */
export async function meantRun(
  { run, to }: RunQuestion,
  installation: Installation | undefined,
  unfinished: readonly UnfinishedRun[],
  others: () => Promise<readonly FoundRun[]>,
  onUnasked?: (error: CnabError) => void,
): Promise<MeantRun> {
  const open = unfinished.filter(({ lacks }) => to === 'settle' || lacks !== 'outputs');
  const recorded = (record: ClaimRecord): MeantRun => {
    const mine = open.find((one) => one.record.claim.id === record.claim.id);
    return mine === undefined ? { kind: 'ended', record } : { kind: 'open', run: mine };
  };
  if (run !== undefined && run !== LAST_RUN) {
    const record = installation?.records.find(({ claim }) => claim.id === run);
    if (record !== undefined) return recorded(record);
    const found = (await others()).filter(({ runId }) => runId === run);
    return found.length === 0 ? { kind: 'none' } : { kind: 'elsewhere', found };
  }
  const [newestOpen] = open;
  if (run === undefined && newestOpen !== undefined) return { kind: 'open', run: newestOpen };
  const last = installation === undefined ? undefined : lastRun(installation);
  const all = await others().catch((error: unknown) => {
    if (last === undefined || onUnasked === undefined || !(error instanceof CnabError)) throw error;
    onUnasked(error);
    return [];
  });
  const isNewer = ({ runId }: FoundRun): boolean => last === undefined || runId > last.claim.id;
  const counted = to === 'settle' && run === undefined ? all : all.filter(isNewer);
  const found = [
    ...counted.filter(({ stateless }) => !stateless),
    ...(to === 'look' && last === undefined ? counted.filter(({ stateless }) => stateless) : []),
  ];
  if (found.length > 0) return { kind: 'elsewhere', found };
  return last === undefined ? { kind: 'none' } : recorded(last);
}

/** What is to be said where the target could not be asked for a newer run, and a recorded one does instead. */
export function unaskedNote({ message, suggestions }: CnabError): string {
  return [`whether another machine has begun a newer run is not known: ${message}`, ...suggestions].join('; ');
}
