import type { RunState, EndReason } from '../driver/driver.js';
import { member } from '../bundle/own.js';

/** Members of the document that are no part of the state; the store writes whose run it is. */
const OURS = new Set(['claim', 'installation', 'target', 'outstanding']);

/** Something of a run is still to be had though it has a final result: outputs, or, after a lost contact, its end. */
export interface Outstanding {
  /** Milliseconds since 1970: until then, where that is known. */
  readonly until?: number;
}

/** What is noted of a run in flight, for a process that takes it up. */
export interface RunNote {
  readonly state: RunState;
  readonly outstanding?: Outstanding;
  /** There is none, or it is damaged: where the run was is not known. */
  readonly isLost?: true;
}

/** The note as it is to be kept in the run's folder. */
export function noteDocument({ state, outstanding }: RunNote): object {
  return { ...state, ...(outstanding === undefined ? {} : { outstanding }) };
}

/** Reads what another version of this program may have written: what does not fit is absent. */
export function readNote(document: object | undefined): RunNote {
  const plain = Object.entries(document ?? {}).filter(
    ([key, value]) => !OURS.has(key) && (typeof value === 'string' || typeof value === 'number'),
  );
  const stop = readStop(member(document, 'stop'));
  const outstanding = member(document, 'outstanding');
  const until = member(outstanding, 'until');
  return {
    state: {
      ...Object.fromEntries(plain),
      ...(member(document, 'keepJob') === true ? { keepJob: true } : {}),
      ...(stop === undefined ? {} : { stop }),
    },
    ...(document === undefined ? { isLost: true } : {}),
    ...(typeof outstanding === 'object' && outstanding !== null
      ? { outstanding: typeof until === 'number' ? { until } : {} }
      : {}),
  };
}

function readStop(json: unknown): EndReason | undefined {
  const [kind, signal] = [member(json, 'kind'), member(json, 'signal')];
  if (kind === 'timeout' || kind === 'cancel') return { kind };
  if (kind !== 'signal') return undefined;
  return { kind, signal: signal === 'SIGTERM' ? 'SIGTERM' : 'SIGINT' };
}
